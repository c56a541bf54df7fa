//! Tests of the type table as a whole.

use super::*;
use crate::abi::type_index::{FUNCTION, MODULE, NONE, STR};
use crate::abi::{
    TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo,
    TVMFFITypeMetadata, kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitSetterIsFunctionObj,
};
use crate::error::Error;
use crate::value::any::{Any, AnyView};
use crate::value::string::String;
use crate::{Function, Result};
use std::format;

fn request(key: &str) -> NewTypeRequest<'_> {
    NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: -1,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: OBJECT,
    }
}

pub(super) fn child_of(parent: i32, key: &str) -> Result<i32> {
    let type_depth = type_info(parent).unwrap().type_depth() + 1;
    get_or_alloc_index(&NewTypeRequest { parent_type_index: parent, type_depth, ..request(key) })
}

fn kind(error: Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.kind_bytes()).into_owned()
}

fn text(text: &'static str) -> TVMFFIByteArray {
    TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() }
}

fn none() -> TVMFFIAny {
    TVMFFIAny { type_index: NONE, small_str_len: 0, payload: TVMFFIAnyPayload { v_int64: 0 } }
}

pub(super) fn field(name: &'static str) -> TVMFFIFieldInfo {
    TVMFFIFieldInfo {
        name: text(name),
        doc: text("what it is"),
        metadata: text(""),
        flags: 0,
        size: 8,
        alignment: 8,
        offset: 24,
        getter: None,
        setter: core::ptr::null_mut(),
        default_value_or_factory: none(),
        field_static_type_index: -1,
    }
}

pub(super) fn add_field(type_index: i32, info: &TVMFFIFieldInfo) -> Result<()> {
    // SAFETY: the records of these tests point to statics or to what the test keeps alive.
    unsafe { register_field(type_index, info) }
}

#[test]
fn a_new_type_descends_from_its_parent() -> Result<()> {
    let parent = child_of(OBJECT, "test.Parent")?;
    let child = child_of(parent, "test.Child")?;
    assert!(parent >= DYN_OBJECT_BEGIN && child > parent);
    assert_eq!(key_to_index(b"test.Child"), Some(child));
    assert_eq!(type_key_of(child), b"test.Child");
    let entry = type_info(child).unwrap();
    let ancestors = [type_info(OBJECT).unwrap().as_ptr(), type_info(parent).unwrap().as_ptr()];
    assert_eq!(entry.ancestors(), &ancestors);
    assert_eq!(entry.type_key_hash(), type_key_hash(b"test.Child"));
    assert!(is_instance(child, parent) && is_instance(child, OBJECT) && is_instance(child, child));
    assert!(!is_instance(parent, child) && !is_instance(child, STR) && !is_instance(STR, child));
    assert!(!is_instance(NONE, OBJECT) && is_instance(STR, OBJECT) && !is_instance(OBJECT, STR));
    Ok(())
}

#[test]
fn a_known_key_gives_its_index_whatever_is_asked() -> Result<()> {
    let index = child_of(OBJECT, "test.Known")?;
    let odd = NewTypeRequest {
        type_depth: -9,
        num_child_slots: -1,
        parent_type_index: 77777,
        ..request("test.Known")
    };
    assert_eq!(get_or_alloc_index(&odd)?, index);
    assert_eq!(get_or_alloc_index(&request("ffi.Module"))?, MODULE);
    let query = NewTypeRequest { parent_type_index: -2, ..request("test.NeverRegistered") };
    assert_eq!(get_or_alloc_index(&query)?, KEY_NOT_FOUND);
    assert_eq!(key_to_index(b"test.NeverRegistered"), None);
    Ok(())
}

#[test]
fn bad_requests_change_nothing() {
    let good = request("test.Bad");
    let bad = [
        NewTypeRequest { parent_type_index: 1_000_000, ..good },
        NewTypeRequest { parent_type_index: i32::MAX, ..good },
        NewTypeRequest { parent_type_index: -1, type_depth: 0, ..good },
        NewTypeRequest { parent_type_index: -1, ..good },
        NewTypeRequest { parent_type_index: i32::MIN, ..good },
        NewTypeRequest { type_depth: 2, ..good },
        NewTypeRequest { type_depth: i32::MIN, ..good },
        NewTypeRequest { num_child_slots: -1, ..good },
        NewTypeRequest { num_child_slots: i32::MAX, ..good },
        NewTypeRequest { num_child_slots: slots::END_OF_INDICES - 1, ..good },
        NewTypeRequest { static_type_index: 70, ..good },
        NewTypeRequest { static_type_index: 5, ..good },
        NewTypeRequest { static_type_index: 20, ..good },
        NewTypeRequest { static_type_index: i32::MAX, ..good },
        NewTypeRequest { parent_type_index: STR, type_depth: 2, ..good },
    ];
    for (at, request) in bad.iter().enumerate() {
        assert_eq!(kind(get_or_alloc_index(request).unwrap_err()), "InternalError", "request {at}");
        assert_eq!(key_to_index(b"test.Bad"), None, "request {at}");
    }
    let error = get_or_alloc_index(&bad[14]).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Check failed: Reach maximum number of sub-classes of the parent of `test.Bad`"
    );
    let error = get_or_alloc_index(&bad[10]).unwrap_err();
    assert_eq!(error.message_bytes(), b"Check failed: type `test.Bad` cannot have the index 70: it is taken, too high, or not above its parent's");
}

#[test]
fn reserved_places_are_used_before_others() -> Result<()> {
    let parent =
        get_or_alloc_index(&NewTypeRequest { num_child_slots: 2, ..request("test.Reserving") })?;
    let other = child_of(OBJECT, "test.AfterReserving")?;
    assert!(other > parent + 2);
    assert_eq!(child_of(parent, "test.Reserved1")?, parent + 1);
    assert_eq!(child_of(parent, "test.Reserved2")?, parent + 2);
    assert!(child_of(parent, "test.Overflown")? > other);
    Ok(())
}

#[test]
fn a_full_type_that_cannot_overflow_refuses_children() -> Result<()> {
    let parent = get_or_alloc_index(&NewTypeRequest {
        num_child_slots: 2,
        child_slots_can_overflow: false,
        ..request("test.Sealed")
    })?;
    let wide = NewTypeRequest {
        type_depth: 2,
        parent_type_index: parent,
        num_child_slots: 2,
        ..request("test.Wide")
    };
    assert_eq!(kind(get_or_alloc_index(&wide).unwrap_err()), "InternalError");
    let child = get_or_alloc_index(&NewTypeRequest { num_child_slots: 1, ..wide })?;
    assert_eq!(child, parent + 1);
    assert_eq!(child_of(child, "test.GrandChild")?, parent + 2);
    // The child inherits that it cannot overflow.
    assert_eq!(kind(child_of(child, "test.TooMany").unwrap_err()), "InternalError");
    assert_eq!(kind(child_of(parent, "test.TooMany").unwrap_err()), "InternalError");
    Ok(())
}

#[test]
fn free_static_indices_may_be_taken_once() -> Result<()> {
    let index =
        get_or_alloc_index(&NewTypeRequest { static_type_index: 100, ..request("test.Static") })?;
    assert_eq!((index, type_key_of(100)), (100, &b"test.Static"[..]));
    let again = NewTypeRequest { static_type_index: 100, ..request("test.OtherStatic") };
    assert_eq!(kind(get_or_alloc_index(&again).unwrap_err()), "InternalError");
    assert!(is_instance(100, OBJECT) && !is_instance(100, STR));
    Ok(())
}

#[test]
fn fields_are_copied_and_found() -> Result<()> {
    let index = child_of(OBJECT, "test.Fields")?;
    let default = Any::from(String::new("a default beyond seven bytes")?);
    let mut last = field("f4");
    last.flags = i64::from(kTVMFFIFieldFlagBitMaskHasDefault);
    last.default_value_or_factory = *default.as_raw();
    let before = type_info(index).unwrap().fields();
    for name in ["f0", "f1", "f2", "f3"] {
        add_field(index, &field(name))?;
    }
    add_field(index, &last)?;
    drop(default);
    assert!(before.is_empty());
    let fields = type_info(index).unwrap().fields();
    // SAFETY: strings of registered fields live forever.
    let names = fields.iter().map(|field| unsafe { field.name.as_slice() });
    assert!(names.eq([b"f0", b"f1", b"f2", b"f3", b"f4"]));
    assert!(fields[0].metadata.data.is_null() && fields[0].metadata.size == 0);
    assert_eq!(fields[0].default_value_or_factory.type_index, NONE);
    // SAFETY: the table keeps the default.
    let kept = unsafe { AnyView::from_raw(fields[4].default_value_or_factory) };
    assert_eq!(kept.get::<String>()?.as_bytes(), b"a default beyond seven bytes");
    Ok(())
}

#[test]
fn each_field_has_its_own_texts_or_the_same_ones() -> Result<()> {
    let index = child_of(OBJECT, "test.FieldTexts")?;
    let docs = ["one", "one", "two", "", "one", "on"];
    for (name, doc) in ["f0", "f1", "f2", "f3", "f4", "f5"].into_iter().zip(docs) {
        add_field(index, &TVMFFIFieldInfo { doc: text(doc), ..field(name) })?;
    }
    let fields = type_info(index).unwrap().fields();
    for (field, doc) in fields.iter().zip(docs) {
        // SAFETY: strings of registered fields live forever, and non-empty ones end with a zero.
        unsafe {
            assert_eq!(field.doc.as_slice(), doc.as_bytes());
            assert!(doc.is_empty() || *field.doc.data.add(doc.len()) == 0);
        }
    }
    assert_eq!(fields.len(), docs.len());
    // Hosts keep the same text once where it follows itself.
    assert_eq!(fields[0].doc.data == fields[1].doc.data, cfg!(feature = "speed"));
    assert!(fields[1].doc.data != fields[4].doc.data);
    Ok(())
}

#[test]
fn bad_fields_are_refused() -> Result<()> {
    let index = child_of(OBJECT, "test.BadFields")?;
    add_field(index, &field("x"))?;
    let error = add_field(index, &field("x")).unwrap_err();
    assert_eq!(error.message_bytes(), b"Type `test.BadFields`: Duplicate field name `x`");
    for unknown in [-1, 50, 1_000_000, i32::MIN, i32::MAX] {
        let error = add_field(unknown, &field("x")).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            format!("Check failed: Cannot find type info for type_index={unknown}").as_bytes()
        );
    }
    let null = TVMFFIByteArray { data: core::ptr::null(), size: 3 };
    assert_eq!(
        kind(add_field(index, &TVMFFIFieldInfo { name: null, ..field("") }).unwrap_err()),
        "ValueError"
    );
    assert_eq!(
        kind(add_field(index, &TVMFFIFieldInfo { doc: null, ..field("y") }).unwrap_err()),
        "ValueError"
    );
    assert_eq!(kind(add_field(index, &field("")).unwrap_err()), "ValueError");
    let not_a_function = Any::from(String::new("longer than seven bytes")?);
    let mut odd = field("y");
    odd.flags = i64::from(kTVMFFIFieldFlagBitSetterIsFunctionObj);
    odd.setter = not_a_function.view().object_ptr().unwrap().as_ptr().cast();
    assert_eq!(kind(add_field(index, &odd).unwrap_err()), "TypeError");
    assert_eq!(type_info(index).unwrap().fields().len(), 1);
    Ok(())
}

#[test]
fn functions_given_to_a_type_live_on() -> Result<()> {
    let index = child_of(OBJECT, "test.Methods")?;
    let function = Function::from_typed(|| 5i64)?;
    let view = AnyView::from(&function);
    let mut with_setter = field("x");
    with_setter.flags = i64::from(kTVMFFIFieldFlagBitSetterIsFunctionObj);
    with_setter.setter = view.object_ptr().unwrap().as_ptr().cast();
    add_field(index, &with_setter)?;
    let info = TVMFFIMethodInfo {
        name: text("five"),
        doc: text(""),
        metadata: text(""),
        flags: 4,
        method: *view.as_raw(),
    };
    for _ in 0..6 {
        // SAFETY: the record points to statics and to a live function.
        unsafe { register_method(index, &info)? };
    }
    drop(function);
    let methods = type_info(index).unwrap().methods();
    assert_eq!((methods.len(), methods[5].flags, methods[5].method.type_index), (6, 4, FUNCTION));
    // SAFETY: the table keeps the function.
    let kept = unsafe { AnyView::from_raw(methods[5].method) }.get::<Function>()?;
    assert_eq!(kept.call_packed(&[])?.get::<i64>()?, 5);
    Ok(())
}

#[test]
fn metadata_is_given_once() -> Result<()> {
    let index = child_of(OBJECT, "test.Metadata")?;
    let metadata = TVMFFITypeMetadata {
        doc: text("a type"),
        creator: None,
        total_size: 32,
        structural_eq_hash_kind: 1,
    };
    // SAFETY: the docs are static.
    let register = |metadata: &TVMFFITypeMetadata| unsafe { register_metadata(index, metadata) };
    assert!(type_info(index).unwrap().metadata().is_none());
    register(&metadata)?;
    register(&metadata)?;
    let error = register(&TVMFFITypeMetadata { total_size: 40, ..metadata }).unwrap_err();
    assert_eq!(error.kind_bytes(), b"RuntimeError");
    assert!(error.message_bytes().starts_with(b"Overriding test.Metadata: it has other metadata"));
    let kept = type_info(index).unwrap().metadata().unwrap();
    assert_eq!((kept.total_size, kept.structural_eq_hash_kind), (32, 1));
    // SAFETY: the doc of registered metadata lives forever.
    assert_eq!(unsafe { kept.doc.as_slice() }, b"a type");
    Ok(())
}

#[test]
fn attributes_have_a_column_that_stays() -> Result<()> {
    let name = b"__test_attr__";
    assert!(attr_column(name).is_none());
    register_attr(NONE, name, AnyView::NONE)?;
    let column = attr_column(name).unwrap();
    // SAFETY: a column's record lives forever; no other thread writes this one.
    let record = || unsafe { column.as_ptr().read() };
    assert_eq!((record().size, record().begin_index), (0, 0));
    register_attr(STR, name, 5i64.into())?;
    assert_eq!((record().size, record().begin_index), (STR + 1, 0));
    let far = (0..300).try_fold(0, |_, at| child_of(OBJECT, &format!("test.Attr{at}")))?;
    let value = String::new("a value beyond seven bytes")?;
    register_attr(far, name, (&value).into())?;
    drop(value);
    assert_eq!(attr_column(name).unwrap().as_ptr(), column.as_ptr());
    assert_eq!(record().size, far + 1);
    assert_eq!(attr(STR, name).get::<i64>()?, 5);
    assert_eq!(attr(far, name).get::<String>()?.as_bytes(), b"a value beyond seven bytes");
    for without in [-1, NONE, FUNCTION, far + 1, i32::MIN, i32::MAX] {
        assert!(attr(without, name).is_none());
    }
    let error = register_attr(STR, name, 6i64.into()).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Type `ffi.String`: TypeAttr `__test_attr__` is already registered"
    );
    assert_eq!(kind(register_attr(-5, name, 6i64.into()).unwrap_err()), "InternalError");
    assert_eq!(kind(register_attr(i32::MAX, name, 6i64.into()).unwrap_err()), "InternalError");
    assert!(attr_column(b"__test_unknown__").is_none());
    Ok(())
}

#[cfg(feature = "speed")]
#[test]
fn columns_of_the_library_are_there_from_the_start() -> Result<()> {
    let name = b"__s_visit__";
    let column = attr_column(name).unwrap();
    assert!(column.get(STR).is_none() && column.get(i32::MAX).is_none());
    register_attr(STR, name, 3i64.into())?;
    assert_eq!(attr_column(name).unwrap().as_ptr(), column.as_ptr());
    assert_eq!(column.get(STR).get::<i64>()?, 3);
    Ok(())
}

#[test]
fn built_in_types_can_grow_too() -> Result<()> {
    add_field(MODULE, &field("test_extra"))?;
    let fields = type_info(MODULE).unwrap().fields();
    // SAFETY: strings of registered fields live forever.
    let names = fields.iter().map(|field| unsafe { field.name.as_slice() });
    // Builds without std have no field of modules.
    let expected = [&b"imports_"[..], &b"test_extra"[..]];
    assert!(names.eq(expected.into_iter().skip(usize::from(cfg!(not(feature = "std"))))));
    Ok(())
}

#[test]
fn keys_are_listed_by_index() -> Result<()> {
    let index = child_of(OBJECT, "test.Listed")?;
    let mut last = -1;
    let mut seen = false;
    for_each_key(|key| -> Result<()> {
        assert!(key_to_index(key).unwrap() > last);
        last = key_to_index(key).unwrap();
        seen |= last == index;
        Ok(())
    })?;
    assert!(seen);
    let mut first = None;
    let stopped = for_each_key(|key| {
        first = Some(key);
        Err(())
    });
    assert_eq!((first, stopped), (Some(&b"None"[..]), Err(())));
    Ok(())
}

#[cfg(feature = "std")]
#[test]
fn the_imports_field_of_modules_is_read_and_set() -> Result<()> {
    let imports = &type_info(MODULE).unwrap().fields()[0];
    let mut place: *mut crate::abi::TVMFFIObject = core::ptr::null_mut();
    let field = (&raw mut place).cast::<core::ffi::c_void>();
    let mut value = none();
    // SAFETY: the field is a null reference, the cells are valid.
    unsafe {
        assert_eq!(imports.getter.unwrap()(field, &mut value), 0);
        assert_eq!(value.type_index, NONE);
        let setter = core::mem::transmute::<*mut core::ffi::c_void, crate::abi::TVMFFIFieldSetter>(
            imports.setter,
        );
        assert_eq!(setter(field, &value), -1);
    }
    assert_eq!(
        crate::error::raised_error::take().unwrap().message_bytes(),
        b"Cannot convert from type `None` to `Array<Any>`"
    );
    Ok(())
}

#[test]
fn threads_register_and_read_at_once() {
    let (threads, rounds) = if cfg!(feature = "std") && !cfg!(miri) { (8, 300) } else { (4, 6) };
    let shared = child_of(OBJECT, "test.Shared").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for round in 0..rounds {
                    // All threads register the same key, and one of their own.
                    let same = child_of(shared, &format!("test.Race{round}")).unwrap();
                    let own = child_of(same, &format!("test.Race{thread}.{round}")).unwrap();
                    assert_eq!(key_to_index(format!("test.Race{round}").as_bytes()), Some(same));
                    assert!(is_instance(own, same) && is_instance(own, shared));
                    let name = format!("f{thread}.{round}");
                    let info = TVMFFIFieldInfo {
                        name: TVMFFIByteArray { data: name.as_ptr().cast(), size: name.len() },
                        ..field("")
                    };
                    add_field(shared, &info).unwrap();
                    let fields = type_info(shared).unwrap().fields();
                    let has = |name: &[u8]| {
                        // SAFETY: strings of registered fields live forever.
                        fields.iter().any(|field| unsafe { field.name.as_slice() } == name)
                    };
                    assert!(has(name.as_bytes()));
                    register_attr(own, b"__test_race__", i64::from(own).into()).unwrap();
                    let losers =
                        register_attr(same, b"__test_race_once__", i64::from(thread).into());
                    assert!(losers.is_ok() || kind(losers.unwrap_err()) == "RuntimeError");
                    assert_eq!(attr(own, b"__test_race__").get::<i64>().unwrap(), i64::from(own));
                }
            });
        }
    });
    assert_eq!(type_info(shared).unwrap().fields().len(), threads as usize * rounds);
}
