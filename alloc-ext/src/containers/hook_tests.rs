//! Tests of keys whose types have `__any_hash__` and `__any_equal__` hooks: both kinds of hooks,
//! misbehaving hooks, and poor hashes.

use core::cell::RefCell;
use core::ffi::c_void;
use std::vec::Vec;

use ferrite_core::abi::type_index::{OBJECT, OBJECT_RVALUE_REF};
use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject};
use ferrite_core::call::function::Function;
use ferrite_core::error;
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::convert::OpaquePtr;

use super::table::{self, Table};
use super::{Array, DictObject, MapObject, key};

/// An object identified by a number.
#[repr(C)]
struct NumberRecord {
    header: TVMFFIObject,
    number: i64,
}

/// Number of the objects whose destructor changes [`VICTIM`].
const SPOILER: i64 = -77;

// SAFETY: repr(C), header first, nothing to destroy.
unsafe impl ObjectRecord for NumberRecord {
    unsafe fn destroy(object: *mut TVMFFIObject) {
        // SAFETY: the object is of this record, and its number is still there.
        if unsafe { (*object.cast::<NumberRecord>()).number } == SPOILER {
            spoil();
        }
    }
}

fn number_type(type_key: &str) -> Result<i32> {
    type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: type_key.as_bytes(),
        static_type_index: -1,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: OBJECT,
    })
}

fn number(type_index: i32, number: i64) -> Any {
    // SAFETY: init writes the only field.
    let object = unsafe {
        object_alloc::allocate(type_index, 0, |record: *mut NumberRecord| {
            (&raw mut (*record).number).write(number);
        })
    };
    object.expect("memory").into_any()
}

fn number_of(value: AnyView<'_>) -> i64 {
    // SAFETY: only called with objects of this test.
    value
        .object_ptr()
        .map_or(-1, |object| unsafe { (*object.as_ptr().cast::<NumberRecord>()).number })
}

/// Returns the number of an object.
///
/// # Safety
/// `cell` must contain an object of this type.
unsafe fn number_at(cell: *const TVMFFIAny) -> i64 {
    // SAFETY: the caller guarantees the cell.
    number_of(unsafe { AnyView::from_raw(cell.read()) })
}

unsafe extern "C" fn hash_by_number(key: *const TVMFFIAny) -> TVMFFIAny {
    // SAFETY: called by key lookup with a key of the type.
    Any::from(unsafe { number_at(key) }).into_raw()
}

unsafe extern "C" fn same_hash(_: *const TVMFFIAny) -> TVMFFIAny {
    Any::from(7i64).into_raw()
}

unsafe extern "C" fn equal_by_number(lhs: *const TVMFFIAny, rhs: *const TVMFFIAny) -> TVMFFIAny {
    // SAFETY: called by key lookup with two keys of the type.
    Any::from(unsafe { number_at(lhs) == number_at(rhs) }).into_raw()
}

unsafe extern "C" fn refuse_hash(_: *const TVMFFIAny) -> TVMFFIAny {
    error!(ValueError, "no hash").into_any().into_raw()
}

std::thread_local! {
    /// A dict that a hook changes.
    static VICTIM: RefCell<Option<DictObject>> = const { RefCell::new(None) };
}

fn spoil() {
    if let Some(dict) = VICTIM.take() {
        dict.clear().expect("nothing else uses it");
        for key in 0..40i64 {
            dict.insert(Any::from(key), Any::from(key)).expect("memory");
        }
        VICTIM.replace(Some(dict));
    }
}

/// Changes the dict as C++ code does: in place, whether or not it is borrowed.
fn spoil_in_place() {
    if let Some(dict) = VICTIM.take() {
        let object = dict.as_object();
        // SAFETY: the object is a Dict, and no reference into it is in use while a hook runs.
        unsafe {
            while let Some(slot) = Table::of(object).first() {
                drop(Table::of(object).remove(slot));
            }
            for key in 0..40i64 {
                table::insert(object, Any::from(key), Any::from(key)).expect("memory");
            }
        }
        VICTIM.replace(Some(dict));
    }
}

unsafe extern "C" fn equal_and_spoil(_: *const TVMFFIAny, _: *const TVMFFIAny) -> TVMFFIAny {
    spoil_in_place();
    Any::from(true).into_raw()
}

unsafe extern "C" fn hash_and_spoil(_: *const TVMFFIAny) -> TVMFFIAny {
    spoil();
    Any::from(7i64).into_raw()
}

unsafe extern "C" fn hash_and_spoil_in_place(_: *const TVMFFIAny) -> TVMFFIAny {
    spoil_in_place();
    Any::from(7i64).into_raw()
}

std::thread_local! {
    /// Error messages of operations that a hook tried on [`VICTIM`].
    static REFUSED: RefCell<Vec<std::string::String>> = const { RefCell::new(Vec::new()) };
}

/// Tries to use the victim while it is being searched.
unsafe extern "C" fn equal_and_use(lhs: *const TVMFFIAny, rhs: *const TVMFFIAny) -> TVMFFIAny {
    if let Some(dict) = VICTIM.take() {
        let read = dict.get(AnyView::from(1000i64)).map(drop);
        let changes = [read, dict.insert(Any::from(5i64), Any::NONE), dict.clear()];
        let errors = changes.into_iter().filter_map(Result::err);
        REFUSED.with_borrow_mut(|all| all.extend(errors.map(|error| std::format!("{error}"))));
        VICTIM.replace(Some(dict));
    }
    // SAFETY: called by key lookup with two keys of the type.
    unsafe { equal_by_number(lhs, rhs) }
}

fn register(type_index: i32, hash: *mut c_void, equal: *mut c_void) -> Result<()> {
    // SAFETY: the functions have the signatures of these attributes.
    unsafe {
        let (hash, equal) = (OpaquePtr::new(hash), OpaquePtr::new(equal));
        type_table::register_attr_unchecked(type_index, b"__any_hash__", AnyView::from(&hash))?;
        type_table::register_attr_unchecked(type_index, b"__any_equal__", AnyView::from(&equal))
    }
}

#[test]
fn pointer_hooks_decide() -> Result<()> {
    let index = number_type("test.containers.Pointer")?;
    register(index, hash_by_number as *mut c_void, equal_by_number as *mut c_void)?;
    assert_eq!(key::hash(&number(index, 3).view())?, key::hash(&number(index, 3).view())?);
    let mut map = MapObject::with_capacity(0)?;
    for round in 0..3 {
        for value in 0..40i64 {
            map.insert(number(index, value), Any::from(value + round))?;
        }
    }
    assert_eq!(map.len(), 40);
    assert_eq!(map.at(number(index, 5).view())?.get::<i64>()?, 7);
    assert!(!map.contains(number(index, 99).view())?);
    Ok(())
}

#[test]
fn function_hooks_decide() -> Result<()> {
    let index = number_type("test.containers.Function")?;
    let hash = Function::from_packed(|args| Ok(Any::from(number_of(args[0]))))?;
    let equal =
        Function::from_packed(|args| Ok(Any::from(number_of(args[0]) == number_of(args[1]))))?;
    type_table::register_attr(index, b"__any_hash__", AnyView::from(&hash))?;
    type_table::register_attr(index, b"__any_equal__", AnyView::from(&equal))?;
    let dict = DictObject::with_capacity(0)?;
    for value in 0..30i64 {
        dict.insert(number(index, value % 10), Any::from(value))?;
    }
    assert_eq!(dict.len(), 10);
    assert_eq!(dict.at(number(index, 4).view())?.get::<i64>()?, 24);
    Ok(())
}

#[test]
fn errors_of_hooks_are_passed_on_and_change_nothing() -> Result<()> {
    let index = number_type("test.containers.Refusing")?;
    register(index, refuse_hash as *mut c_void, equal_by_number as *mut c_void)?;
    let dict = DictObject::with_capacity(0)?;
    // Small tables do not hash.
    for value in 0..4i64 {
        dict.insert(number(index, value), Any::from(value))?;
    }
    let error = dict.insert(Any::from(9i64), Any::NONE).expect_err("its growth hashes");
    assert_eq!((error.kind_bytes(), error.message_bytes()), (&b"ValueError"[..], &b"no hash"[..]));
    assert_eq!(
        dict.iter().map(|entry| entry?.1.get::<i64>()).collect::<Result<Vec<_>>>()?,
        [0, 1, 2, 3]
    );
    Ok(())
}

#[test]
fn a_key_that_is_taken_over_outlives_the_copy_of_the_value() -> Result<()> {
    let index = number_type("test.containers.Spoiler")?;
    register(index, same_hash as *mut c_void, equal_by_number as *mut c_void)?;
    let dict = DictObject::with_capacity(0)?;
    let witness = Array::from_slice(&[1i64])?;
    dict.insert(number(index, SPOILER), Any::new(witness.clone().into_untyped()))?;
    VICTIM.replace(Some(dict.clone()));
    // SAFETY: the object belongs to the variable, and dies with the reference that takes it over.
    let mut object = unsafe { number(index, SPOILER).into_raw().payload.v_obj };
    let payload = TVMFFIAnyPayload { v_ptr: (&raw mut object).cast() };
    // SAFETY: a reference to a variable that owns its object.
    let key = unsafe {
        AnyView::from_raw(TVMFFIAny { type_index: OBJECT_RVALUE_REF, small_str_len: 0, payload })
    };
    let value = dict.get(key)?;
    VICTIM.take();
    assert!(object.is_null());
    assert_eq!(value.expect("the key was there").get::<Array<i64>>()?.get(0)?, 1);
    assert_eq!(dict.len(), 40);
    Ok(())
}

#[test]
fn poor_hashes_only_cost_time() -> Result<()> {
    let index = number_type("test.containers.Poor")?;
    register(index, same_hash as *mut c_void, equal_by_number as *mut c_void)?;
    let dict = DictObject::with_capacity(0)?;
    let count = if cfg!(miri) { 40 } else { 300 };
    for value in 0..count {
        dict.insert(number(index, value), Any::from(value))?;
        dict.insert(Any::from(value), Any::from(-value))?;
    }
    for value in 0..count {
        assert_eq!(dict.at(number(index, value).view())?.get::<i64>()?, value);
        assert_eq!(dict.at(AnyView::from(value))?.get::<i64>()?, -value);
        if value % 3 == 0 {
            dict.remove(number(index, value).view())?;
        }
    }
    let left: Vec<i64> = dict.iter().filter_map(|entry| entry.ok()?.1.get().ok()).collect();
    let expected =
        (0..count).flat_map(|value| [value, -value]).filter(|value| *value <= 0 || value % 3 != 0);
    assert_eq!(
        left,
        expected.filter(|value| *value != 0).fold(std::vec![0], |mut all, value| {
            all.push(value);
            all
        })
    );
    Ok(())
}

#[test]
fn hooks_that_change_the_dict_are_noticed() -> Result<()> {
    let index = number_type("test.containers.Spoiling")?;
    register(index, same_hash as *mut c_void, equal_and_spoil as *mut c_void)?;
    for entries in [1, 8] {
        let dict = DictObject::with_capacity(0)?;
        for other in 1..entries {
            dict.insert(Any::from(other * 1000), Any::NONE)?;
        }
        dict.insert(number(index, 1), Any::NONE)?;
        VICTIM.replace(Some(dict.clone()));
        let error = dict.insert(number(index, 2), Any::NONE).expect_err("changed meanwhile");
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        VICTIM.replace(None);
        assert_eq!(dict.len(), 40);
    }
    Ok(())
}

#[test]
fn hooks_may_read_the_dict_that_is_searched_and_not_change_it() -> Result<()> {
    let index = number_type("test.containers.Using")?;
    register(index, same_hash as *mut c_void, equal_and_use as *mut c_void)?;
    for entries in [2, 8] {
        let dict = DictObject::with_capacity(0)?;
        for other in 1..entries {
            dict.insert(Any::from(other * 1000), Any::NONE)?;
        }
        dict.insert(number(index, 1), Any::from(1i64))?;
        VICTIM.replace(Some(dict.clone()));
        // Each of these compares keys once, and works.
        assert_eq!(dict.at(number(index, 1).view())?.get::<i64>()?, 1);
        dict.insert(number(index, 1), Any::from(2i64))?;
        dict.insert(number(index, 2), Any::from(3i64))?;
        assert_eq!(dict.remove(number(index, 1).view())?.expect("an entry").get::<i64>()?, 2);
        VICTIM.replace(None);
        assert_eq!(dict.len(), entries as usize);
        let refused = REFUSED.take();
        assert!(
            refused.len() >= 8 && refused.len().is_multiple_of(2),
            "the reads are not refused: {refused:?}"
        );
        assert!(
            refused
                .iter()
                .all(|message| message.starts_with("RuntimeError: ")
                    && message.contains("`ffi.Dict`"))
        );
    }
    Ok(())
}

#[test]
fn hash_hooks_that_change_a_growing_dict_are_noticed() -> Result<()> {
    let index = number_type("test.containers.SpoilingGrowth")?;
    register(index, hash_and_spoil_in_place as *mut c_void, equal_by_number as *mut c_void)?;
    let dict = DictObject::with_capacity(0)?;
    for other in 0..3i64 {
        dict.insert(Any::from(other * 1000), Any::NONE)?;
    }
    dict.insert(number(index, 1), Any::NONE)?;
    VICTIM.replace(Some(dict.clone()));
    let error = dict.insert(Any::from(9i64), Any::NONE).expect_err("changed meanwhile");
    assert_eq!(error.kind_bytes(), b"RuntimeError");
    VICTIM.replace(None);
    let keys: Result<Vec<i64>> = dict.iter().map(|entry| entry?.0.get()).collect();
    assert!(keys?.into_iter().eq(0..40));
    Ok(())
}

#[test]
fn a_new_key_whose_hash_hook_changes_the_dict_goes_into_what_it_left() -> Result<()> {
    let index = number_type("test.containers.SpoilingKey")?;
    register(index, hash_and_spoil as *mut c_void, equal_by_number as *mut c_void)?;
    for entries in [4, 8] {
        let dict = DictObject::with_capacity(0)?;
        for other in 0..entries {
            dict.insert(Any::from(other * 1000), Any::NONE)?;
        }
        VICTIM.replace(Some(dict.clone()));
        dict.insert(number(index, 1), Any::from(-1i64))?;
        VICTIM.replace(None);
        let values: Result<Vec<i64>> = dict.iter().map(|entry| entry?.1.get()).collect();
        assert!(values?.into_iter().eq((0..40).chain([-1])));
        assert!(dict.contains(number(index, 1).view())?);
    }
    Ok(())
}

#[cfg(all(target_pointer_width = "64", not(miri)))]
unsafe extern "C" fn old_hash(key: *const TVMFFIAny) -> i64 {
    // SAFETY: called by key lookup with a key of the type.
    unsafe { number_at(key) }.wrapping_mul(-7)
}

#[cfg(all(target_pointer_width = "64", not(miri)))]
unsafe extern "C" fn old_equal(lhs: *const TVMFFIAny, rhs: *const TVMFFIAny) -> bool {
    // SAFETY: called by key lookup with two keys of the type.
    unsafe { number_at(lhs) == number_at(rhs) }
}

/// Clients built before 0.1.15 registered hooks that return plain numbers.
#[test]
#[cfg(all(target_pointer_width = "64", not(miri)))]
fn pointer_hooks_of_the_older_signature_decide() -> Result<()> {
    let index = number_type("test.containers.OldPointer")?;
    register(index, old_hash as *mut c_void, old_equal as *mut c_void)?;
    let dict = DictObject::with_capacity(0)?;
    for value in 0..300i64 {
        dict.insert(number(index, value % 100), Any::from(value))?;
    }
    assert_eq!(dict.len(), 100);
    assert_eq!(dict.at(number(index, 42).view())?.get::<i64>()?, 242);
    assert!(!dict.contains(number(index, 100).view())?);
    Ok(())
}
