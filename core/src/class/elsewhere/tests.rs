//! Tests of classes whose keys C++ code, or Rust code of another binary, has registered.

use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::abi::type_index::{ANY, FLOAT, INT, OBJECT};
use crate::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIObject, TVMFFITypeMetadata};
use crate::class::register::{BORROWS, MUTABLE};
use crate::class::{
    Class, ClassOptions, Field, KeyBinding, LayoutFallback as _, LayoutProbe, Object, ObjectArc,
    claim_for_zeros,
};
use crate::error::Result;
use crate::names::type_table::{self, NewTypeRequest};
use crate::object::ObjectRef;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::value::any::Any;
use crate::value::string::String;

const HEADER: usize = size_of::<TVMFFIObject>();

/// Defines a class as `derive(Object)` does:
/// `class!(Name, "key", MUTABLE, hides, { field: Type, ... })`.
macro_rules! class {
    ($name:ident, $key:literal, $mutable:literal, $hides:literal, { $($field:ident: $ty:ty),* }) => {
        #[repr(C)]
        struct $name { $($field: $ty),* }

        class!(@ $name, None, $key, $mutable, $hides, { $($field: $ty),* });
    };
    (@ $name:ident, $parent:expr, $key:literal, $mutable:literal, $hides:literal, { $($field:ident: $ty:ty),* }) => {

        // SAFETY: the description is that of the struct.
        unsafe impl Object for $name {
            const TYPE_KEY: &'static str = $key;
            const MUTABLE: bool = $mutable;
            const HAS_EMPTY: bool = false;
            const COPIES: bool = false;

            fn class() -> &'static Class {
                static CLASS: Class = Class::new::<$name>(ClassOptions {
                    doc: "",
                    parent: $parent,
                    structural: 0,
                    is_final: true,
                    child_slots: 0,
                    creator: None,
                    copy: None,
                    hides_fields: $hides,
                    fields: &[$(
                        // SAFETY: the field is there.
                        unsafe {
                            Field::new::<$ty, { HEADER + offset_of!($name, $field) }>(stringify!($field), "")
                        }
                        .with_layout(LayoutProbe::<$ty>::LAYOUT)
                    ),*],
                    methods: &[],
                });
                &CLASS
            }

            fn empty(_: u8) -> Result<Self> {
                Err(crate::error!(TypeError, "no value"))
            }

            fn shallow_copy(&self) -> Option<Self> {
                None
            }
        }
    };
    ($name:ident, $key:literal, { $($fields:tt)* }) => { class!($name, $key, false, false, { $($fields)* }); };
}

/// A field as another language registers it.
#[derive(Clone, Copy)]
struct There {
    name: &'static str,
    /// Offset, size and alignment.
    layout: [usize; 3],
    static_type: i32,
    schema: &'static str,
    flags: i64,
}

const fn there(name: &'static str, at: usize, static_type: i32, schema: &'static str) -> There {
    There { name, layout: [HEADER + at, 8, 8], static_type, schema, flags: 0 }
}

const NUMBER: There = there("number", 0, INT, r#"{\"type\":\"int\"}"#);
const RATIO: There = there("ratio", 8, FLOAT, r#"{\"type\":\"float\"}"#);

fn text(text: &str) -> TVMFFIByteArray {
    TVMFFIByteArray::from_slice(text.as_bytes())
}

/// Registers a class as a program in C does. Returns its type index.
fn define(key: &str, fields: &[There], total_size: usize) -> Result<i32> {
    define_as(key, 1, OBJECT, fields, total_size)
}

/// Registers a class with a parent.
fn define_as(
    key: &str,
    depth: i32,
    parent: i32,
    fields: &[There],
    total_size: usize,
) -> Result<i32> {
    let index = declare(key.as_bytes(), depth, parent)?;
    for field in fields {
        let [offset, size, alignment] = field.layout.map(|number| number as i64);
        let metadata = std::format!("{{\"other\": 1, \"type_schema\": \"{}\"}}", field.schema);
        let info = TVMFFIFieldInfo {
            name: text(field.name),
            doc: text(""),
            metadata: text(if field.schema.is_empty() { "" } else { &metadata }),
            flags: field.flags,
            size,
            alignment,
            offset,
            getter: None,
            setter: core::ptr::null_mut(),
            default_value_or_factory: TVMFFIAny::NONE,
            field_static_type_index: field.static_type,
        };
        // SAFETY: the strings outlive the call.
        unsafe { type_table::register_field(index, &info)? };
    }
    let metadata = TVMFFITypeMetadata {
        doc: text(""),
        creator: None,
        total_size: total_size as i32,
        structural_eq_hash_kind: 0,
    };
    // SAFETY: there is no doc.
    unsafe { type_table::register_metadata(index, &metadata)? };
    Ok(index)
}

/// Returns the message of the error, which has the kind TypeError.
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
fn refusal<T: Object>() -> std::string::String {
    let error = T::register().err().unwrap();
    assert_eq!(error.kind_bytes(), b"TypeError");
    // It stays refused.
    assert!(T::register().is_err() && Any::from(1i64).downcast::<T>().is_err());
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

/// Asserts that `class` refuses a class with these fields elsewhere, for a reason.
macro_rules! refuses {
    ($key:literal, $fields:expr, $size:expr, [$($class:tt)*], $reason:literal) => {{
        class!(Here, $key, $($class)*);
        define($key, &$fields, $size)?;
        let refusal = refusal::<Here>();
        assert!(refusal.contains($reason) && refusal.contains($key), "{refusal}");
    }};
}

/// The object of a class in C++.
#[repr(C)]
struct PointRecord {
    header: TVMFFIObject,
    number: i64,
    ratio: f64,
    name: Option<ObjectRef>,
    tag: Any,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for PointRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the object has no other reference.
        unsafe {
            let this = this.cast::<PointRecord>();
            (&raw mut (*this).name).drop_in_place();
            (&raw mut (*this).tag).drop_in_place();
        }
    }
}

/// Registers a type without members, as C++ code does for a class that it only uses.
fn declare(type_key: &[u8], type_depth: i32, parent_type_index: i32) -> Result<i32> {
    type_table::get_or_alloc_index(&NewTypeRequest {
        type_key,
        static_type_index: -1,
        type_depth,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index,
    })
}

#[test]
fn objects_of_another_language_are_read_but_not_created() -> Result<()> {
    class!(Point, "test.elsewhere.Point", { number: i64, ratio: f64, name: Option<ObjectRef>, tag: Any });
    // SAFETY: `MUTABLE` says the same.
    unsafe impl crate::class::Frozen for Point {}
    let fields = [
        NUMBER,
        // Registered by a release without schemas.
        There { schema: "", ..RATIO },
        // Not declared optional, and null all the same.
        there("name", 16, OBJECT, r#"{\"type\": \"ffi.Object\"}"#),
        There { layout: [HEADER + 24, 16, 8], ..there("tag", 24, ANY, r#"{\"type\":\"Any\"}"#) },
    ];
    let index = define("test.elsewhere.Point", &fields, size_of::<PointRecord>())?;
    let tag = Any::from(String::new("a text that is not short")?);
    let init = |record: *mut PointRecord| {
        // SAFETY: the object is new.
        unsafe {
            (&raw mut (*record).number).write(7);
            (&raw mut (*record).ratio).write(0.5);
            (&raw mut (*record).name).write(None);
            (&raw mut (*record).tag).write(tag);
        }
    };
    // SAFETY: `init` writes every field beside the header.
    let object = unsafe { object_alloc::allocate::<PointRecord>(index, 0, init)? };
    let mut point: ObjectArc<Point> = object.downcast().ok().unwrap();
    assert_eq!((point.number, point.ratio, point.name.is_none()), (7, 0.5, true));
    assert_eq!(point.tag.get::<String>()?, "a text that is not short");
    assert!(point.get_mut().is_none());
    let error = Point { number: 1, ratio: 1.0, name: None, tag: Any::NONE }.into_arc().unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Objects of class `test.elsewhere.Point` are created by the language that defines it: call its constructor"
    );
    Ok(())
}

#[test]
fn other_layouts_are_refused() -> Result<()> {
    refuses!("test.elsewhere.A1", [NUMBER], HEADER + 16, [{ number: i64 }], "another size: 40 there, 32 here");
    refuses!(
        "test.elsewhere.A2",
        [NUMBER],
        HEADER + 16,
        [{ number: i64, ratio: f64 }],
        "number of fields: 1 there, 2 here"
    );
    refuses!(
        "test.elsewhere.A3",
        [NUMBER, RATIO],
        HEADER + 16,
        [{ ratio: f64, number: i64 }],
        "another offset: 32 there, 24 here"
    );
    refuses!("test.elsewhere.A4", [NUMBER], HEADER + 8, [{ count: i64 }], "`count` of class");
    let small = There { layout: [HEADER, 4, 4], ..NUMBER };
    refuses!("test.elsewhere.A5", [small], HEADER + 8, [{ number: i64 }], "another size: 4 there, 8 here");
    let packed = There { layout: [HEADER, 8, 1], ..NUMBER };
    refuses!("test.elsewhere.A6", [packed], HEADER + 8, [{ number: i64 }], "another alignment: 1 there, 8 here");
    Ok(())
}

#[test]
fn other_types_are_refused() -> Result<()> {
    refuses!("test.elsewhere.B1", [NUMBER], HEADER + 8, [{ number: f64 }], "another type");
    let unnamed = There { schema: "", ..NUMBER };
    refuses!("test.elsewhere.B2", [unnamed], HEADER + 8, [{ number: f64 }], "another type");
    let reference = there("number", 0, ANY, r#"{\"type\":\"ffi.Tensor\"}"#);
    refuses!("test.elsewhere.B3", [reference], HEADER + 8, [{ number: Option<ObjectRef> }], "another type");
    refuses!("test.elsewhere.B4", [NUMBER], HEADER + 8, [{ number: Option<ObjectRef> }], "another type");
    let unnamed = There { schema: "", ..reference };
    refuses!("test.elsewhere.B5", [unnamed], HEADER + 8, [{ number: Option<ObjectRef> }], "another type");
    Ok(())
}

/// A type that calls itself a number in safe code, and is not one.
#[derive(Clone)]
struct Liar(std::boxed::Box<i64>);

impl crate::value::convert::Described for Liar {
    const TYPE: &'static crate::value::convert::TypeText =
        &crate::value::convert::TypeText::of("int", "int");

    fn accepts(_: &crate::AnyView<'_>) -> bool {
        true
    }
}

impl<'a> crate::value::convert::FromView<'a> for Liar {
    fn from_view(view: &'a crate::AnyView<'a>) -> Result<Option<Self>> {
        view.get().map(|number| Some(Liar(std::boxed::Box::new(number))))
    }

    fn is_exact(_: &'a crate::AnyView<'a>) -> Result<bool> {
        Ok(true)
    }
}

impl crate::value::convert::IntoAny for Liar {
    fn try_into_any(self) -> Result<Any> {
        Ok(Any::from(*self.0))
    }
}

#[test]
fn what_reflection_cannot_verify_is_refused() -> Result<()> {
    refuses!("test.elsewhere.C1", [NUMBER], HEADER + 8, [false, true, { number: i64 }], "`skip`");
    refuses!("test.elsewhere.C2", [NUMBER], HEADER + 8, [{ number: Liar }], "no representation");
    let name = there("name", 0, OBJECT, r#"{\"type\":\"ffi.Object\"}"#);
    refuses!("test.elsewhere.C3", [name], HEADER + 8, [{ name: ObjectRef }], "make it an `Option`");
    Ok(())
}

#[test]
fn a_declared_class_is_defined_unless_objects_of_it_can_be_made() -> Result<()> {
    class!(Declared, "test.elsewhere.C4", { number: i64 });
    let index = declare(b"test.elsewhere.C4", 1, OBJECT)?;
    let make = crate::Function::from_typed(|| 1)?;
    type_table::register_attr(index, b"__ffi_new__", (&make).into())?;
    assert!(refusal::<Declared>().contains("declared elsewhere without a size"));
    class!(Used, "test.elsewhere.C5", { number: i64 });
    declare(b"test.elsewhere.C5", 1, OBJECT)?;
    assert!(Used { number: 4 }.into_arc().is_ok());
    Ok(())
}

#[test]
fn a_type_that_gets_objects_while_a_class_takes_its_key_is_refused() -> Result<()> {
    class!(Base, "test.elsewhere.RaceBase", { number: i64 });
    #[repr(C)]
    struct Late {
        base: Base,
        text: String,
    }
    class!(@ Late, Some(base), "test.elsewhere.Late", false, false, { text: String });

    /// Does what another thread may do before the type is claimed: it asks for objects of zeros.
    fn base() -> &'static Class {
        let zeros = || {
            let index = declare(b"test.elsewhere.Late", 2, Base::class().registered_index()?)?;
            claim_for_zeros(index, HEADER as i32 + 8)
        };
        if Base::class().is_registered() && IS_ASKED.swap(true, Ordering::Relaxed) {
            assert_eq!(zeros().ok().flatten(), Some(HEADER as i32 + 8));
        }
        Base::class()
    }
    static IS_ASKED: AtomicBool = AtomicBool::new(false);

    assert!(refusal::<Late>().contains("declared elsewhere without a size"));
    Ok(())
}

#[test]
fn a_type_of_a_class_gets_no_other_objects() -> Result<()> {
    class!(First, "test.elsewhere.First", { number: i64 });
    let index = declare(b"test.elsewhere.First", 1, OBJECT)?;
    First::register()?;
    assert_eq!(claim_for_zeros(index, HEADER as i32 + 8)?, None);
    // A class of another binary has no binding in this one.
    class!(Second, "test.elsewhere.Second", { number: i64 });
    let index = declare(b"test.elsewhere.Second", 1, OBJECT)?;
    type_table::register_attr(index, b"__ferrite_maker__", crate::AnyView::from(0x1000i64))?;
    assert!(refusal::<Second>().contains("declared elsewhere without a size"));
    Ok(())
}

#[test]
fn objects_of_zeros_have_the_size_of_the_class() -> Result<()> {
    class!(Short, "test.elsewhere.Short", { number: i64 });
    let index = declare(b"test.elsewhere.Short", 1, OBJECT)?;
    assert_eq!(claim_for_zeros(index, HEADER as i32)?, Some(HEADER as i32));
    assert_eq!(claim_for_zeros(index, HEADER as i32 + 8)?, Some(HEADER as i32), "it is set once");
    define("test.elsewhere.Short", &[NUMBER], HEADER + 8)?;
    assert!(refusal::<Short>().contains("another size of objects"));
    Ok(())
}

#[test]
fn another_parent_is_refused() -> Result<()> {
    class!(Child, "test.elsewhere.Child", { number: i64 });
    declare(b"test.elsewhere.Child", 2, define("test.elsewhere.Parent", &[], HEADER)?)?;
    assert!(refusal::<Child>().contains("another parent"));
    Ok(())
}

#[test]
fn a_parent_of_another_language_is_refused() -> Result<()> {
    class!(Base, "test.elsewhere.Base", { number: i64 });
    #[repr(C)]
    struct Derived {
        base: Base,
        ratio: f64,
    }
    class!(@ Derived, Some(Base::class), "test.elsewhere.Derived", false, false, { ratio: f64 });
    define("test.elsewhere.Base", &[NUMBER], HEADER + 8)?;
    let error = Derived { base: Base { number: 1 }, ratio: 1.0 }.into_arc();
    let error = error.err().unwrap();
    assert!(
        error.message_bytes().starts_with(b"The class `test.elsewhere.Derived` cannot be derived")
    );
    assert!(type_table::key_to_index(b"test.elsewhere.Derived").is_none());
    Ok(())
}

#[test]
fn a_class_that_another_binary_in_rust_derives_from_another_language_is_only_read() -> Result<()> {
    class!(Base, "test.elsewhere.BaseOfBoth", { number: i64 });
    #[repr(C)]
    struct Derived {
        base: Base,
        ratio: f64,
    }
    class!(@ Derived, Some(Base::class), "test.elsewhere.DerivedThere", false, false, { ratio: f64 });
    let base = define("test.elsewhere.BaseOfBoth", &[NUMBER], HEADER + 8)?;
    define_as(
        "test.elsewhere.DerivedThere",
        2,
        base,
        &[There { flags: BORROWS, ..RATIO }],
        HEADER + 16,
    )?;
    Derived::register()?;
    let error = Derived { base: Base { number: 1 }, ratio: 1.0 }.into_arc().err().unwrap();
    assert_eq!(error.kind_bytes(), b"TypeError");
    Ok(())
}

#[test]
fn what_changes_without_a_borrow_is_refused() -> Result<()> {
    let writable = There { flags: 1, ..NUMBER };
    refuses!("test.elsewhere.D1", [writable], HEADER + 8, [{ number: i64 }], "can change without a borrow");
    refuses!("test.elsewhere.D2", [writable], HEADER + 8, [true, false, { number: i64 }], "can change");
    refuses!("test.elsewhere.D3", [NUMBER], HEADER + 8, [true, false, { number: i64 }], "can change");
    // The class of another binary in Rust.
    let frozen = There { flags: BORROWS, ..NUMBER };
    refuses!("test.elsewhere.D4", [frozen], HEADER + 8, [true, false, { number: i64 }], "a mutable class");
    let mutable = There { flags: BORROWS | MUTABLE, ..NUMBER };
    refuses!("test.elsewhere.D5", [mutable], HEADER + 8, [{ number: i64 }], "a mutable class");
    Ok(())
}

#[test]
fn classes_of_another_binary_in_rust_are_shared() -> Result<()> {
    class!(Shared, "test.elsewhere.Shared", true, false, { number: i64, name: String });
    // SAFETY: `MUTABLE` says the same.
    unsafe impl crate::class::Mutable for Shared {}
    let flags = BORROWS | MUTABLE;
    let name = there("name", 8, ANY, r#"{\"type\":\"ffi.String\"}"#);
    let name = There { layout: [HEADER + 8, 16, 8], flags, ..name };
    define("test.elsewhere.Shared", &[There { flags, ..NUMBER }, name], HEADER + 24)?;
    let mut shared = Shared { number: 1, name: String::EMPTY }.into_arc()?;
    shared.borrow_mut()?.number = 2;
    assert_eq!((shared.borrow()?.number, shared.borrow()?.name.as_bytes().len()), (2, 0));
    assert!(shared.get_mut().is_some());
    Ok(())
}

#[test]
fn classes_in_rust_have_no_keys_of_the_library() -> Result<()> {
    static BINDING: KeyBinding = KeyBinding::new();
    let key = b"test.elsewhere.Reserved";
    let index =
        define("test.elsewhere.Reserved", &[There { flags: BORROWS, ..NUMBER }], HEADER + 8)?;
    assert!(BINDING.bind_reserved(index, key).is_err());
    let empty = define("test.elsewhere.Empty", &[], HEADER)?;
    assert!(BINDING.bind_reserved(empty, b"test.elsewhere.Empty").is_err());
    let foreign = define("test.elsewhere.Foreign", &[NUMBER], HEADER + 8)?;
    BINDING.bind_on_first_use(foreign, b"test.elsewhere.Foreign")?;
    static LATE: KeyBinding = KeyBinding::new();
    let zeros = declare(b"test.elsewhere.Zeros", 1, OBJECT)?;
    claim_for_zeros(zeros, HEADER as i32)?;
    assert!(LATE.bind_on_first_use(zeros, b"test.elsewhere.Zeros").is_err() && LATE.index() < 0);
    Ok(())
}

#[test]
fn the_classes_of_references_are_verified() -> Result<()> {
    class!(Wrong, "test.elsewhere.Item", { number: f64 });
    class!(Node, "test.elsewhere.Node", { next: Option<ObjectArc<Node>>, item: Option<ObjectArc<Wrong>> });
    let node = |name, at, key| There { schema: key, ..there(name, at, ANY, "") };
    let fields = [
        node("next", 0, r#"{\"type\":\"Optional\",\"args\":[{\"type\":\"test.elsewhere.Node\"}]}"#),
        node("item", 8, r#"{\"type\":\"test.elsewhere.Item\"}"#),
    ];
    define("test.elsewhere.Node", &fields, HEADER + 16)?;
    assert!(refusal::<Node>().contains("`test.elsewhere.Item`, to which a field of class"));
    define("test.elsewhere.Item", &[NUMBER], HEADER + 8)?;
    assert!(refusal::<Node>().contains("The field `number` of class `test.elsewhere.Item`"));
    // A class that was refused does not keep the key from the right one.
    class!(Item, "test.elsewhere.Item", { number: i64 });
    class!(Right, "test.elsewhere.Node", { next: Option<ObjectArc<Right>>, item: Option<ObjectArc<Item>> });
    Right::register()?;
    Item::register()?;
    assert!(refusal::<Node>().contains("belongs to another class"));
    assert!(refusal::<Wrong>().contains("belongs to another class"));
    Ok(())
}
