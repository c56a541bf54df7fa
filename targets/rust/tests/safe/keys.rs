//! Type keys that two Rust types want, or that belong to the library.

use ferrite::type_table::{self, NewTypeRequest};
use ferrite::{Any, Array, Error, Function, Object, ObjectArc, Result, String, type_index};

/// Returns the message of a TypeError.
#[allow(clippy::expect_used, reason = "a helper of tests")]
fn type_error<T>(outcome: Result<T>) -> std::string::String {
    let error = outcome.err().expect("an error");
    assert_eq!(error.kind_bytes(), b"TypeError");
    message(&error)
}

fn message(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

#[test]
fn a_second_class_of_a_key_is_refused() -> Result<()> {
    #[derive(Object)]
    #[object(key = "safe.keys.Number")]
    #[repr(C)]
    struct Number {
        low: u64,
        high: u64,
    }
    #[derive(Object)]
    #[object(key = "safe.keys.Number")]
    struct Text {
        text: String,
    }
    let number = Any::from(Number { low: 11, high: 0x4141_4141 }.into_arc()?);
    assert!(number.clone().downcast::<Text>().is_err(), "numbers are read as a string");
    assert!(number.get::<ObjectArc<Text>>().is_err());
    let refusal = type_error(Text { text: String::new("a text")? }.into_arc());
    assert_eq!(
        refusal,
        "The type key `safe.keys.Number` belongs to another class of this program or library"
    );
    assert_eq!(number.get::<ObjectArc<Number>>()?.high, 0x4141_4141);
    Ok(())
}

#[test]
fn a_class_that_changes_and_one_that_does_not_share_no_key() -> Result<()> {
    #[derive(Object)]
    #[object(key = "safe.keys.Cell", mutable)]
    struct Changing {
        text: String,
    }
    #[derive(Object)]
    #[object(key = "safe.keys.Cell")]
    struct Frozen {
        text: String,
    }
    Changing::register()?;
    assert!(type_error(Frozen::register()).contains("`safe.keys.Cell`"));
    let cell = Any::from(Changing { text: String::new("first")? }.into_arc()?);
    assert!(cell.clone().downcast::<Frozen>().is_err(), "borrows of one are ignored by the other");
    let cell = cell.get::<ObjectArc<Changing>>()?;
    cell.borrow_mut()?.text = String::new("second")?;
    assert_eq!(cell.borrow()?.text, "second");
    assert!(
        Frozen { text: String::new("third")? }
            .into_arc()
            .is_err_and(|error| error.kind_bytes() == b"TypeError")
    );
    Ok(())
}

#[test]
fn keys_of_built_in_types_are_refused() -> Result<()> {
    macro_rules! refuses {
        ($key:literal, $value:expr) => {{
            #[derive(Object)]
            #[object(key = $key)]
            #[repr(C)]
            struct Mine {
                first: i64,
                second: i64,
            }
            assert_eq!(
                type_error(Mine::register()),
                concat!("The type key `", $key, "` belongs to a built-in type")
            );
            assert!(Any::from($value).downcast::<Mine>().is_err());
            assert!(type_error(Mine { first: 1, second: 2 }.into_arc()).contains($key));
        }};
    }
    refuses!("ffi.String", String::new("a text that is not short")?);
    refuses!("ffi.Array", Array::<i64>::new()?);
    refuses!("ffi.Object", Array::<i64>::new()?);
    refuses!("ffi.Function", Function::from_typed(|| 1i64)?);
    refuses!("int", 1i64);
    Ok(())
}

#[test]
fn keys_of_the_librarys_classes_are_refused() -> Result<()> {
    #[derive(Object)]
    #[object(key = "ffi.reflection.AccessStep")]
    #[repr(C)]
    struct Step {
        kind: i64,
        key: Any,
    }
    let refusal = type_error(Step { kind: 1 << 40, key: Any::NONE }.into_arc());
    assert!(refusal.contains("`ffi.reflection.AccessStep` belongs to another class"), "{refusal}");
    Ok(())
}

fn register(key: &str, index: i32, parent: i32, depth: i32) -> Result<i32> {
    type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: index,
        type_depth: depth,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: parent,
    })
}

#[test]
fn keys_that_are_registered_without_a_layout_are_refused() -> Result<()> {
    #[derive(Object)]
    #[object(key = "safe.keys.Reserved")]
    struct Reserved {
        number: i64,
    }
    #[derive(Object)]
    #[object(key = "safe.keys.Declared")]
    struct Declared {
        number: i64,
    }
    // An index that a build without a type table of its own gives to a class of the library.
    register("safe.keys.Reserved", 121, type_index::OBJECT, 1)?;
    assert!(type_error(Reserved { number: 1 }.into_arc()).contains("built-in"));
    // Objects of zeros can be made of the type before the class has it.
    let index = register("safe.keys.Declared", -1, type_index::OBJECT, 1)?;
    Function::global("ffi._PyClassRegisterTypeAttrColumns")?.call::<()>((index, 32))?;
    assert!(type_error(Declared { number: 1 }.into_arc()).contains("declared elsewhere"));
    Ok(())
}

#[test]
fn objects_of_zeros_are_not_made_of_a_class_in_rust() -> Result<()> {
    #[derive(Object)]
    #[object(key = "safe.keys.Holder", no_copy)]
    struct Holder {
        function: Function,
    }
    // Zeros are a value of its fields, so classes may be derived. One field is not reflected.
    #[derive(Object)]
    #[object(key = "safe.keys.Half")]
    #[repr(C)]
    struct Half {
        shown: i64,
        #[object(skip)]
        hidden: i64,
    }
    Holder::register()?;
    Half::register()?;
    let make = Function::global("ffi._PyClassRegisterTypeAttrColumns")?;
    let index = type_table::key_to_index(b"safe.keys.Holder").expect("a class");
    let error = make.call::<()>((index, 32)).unwrap_err();
    assert!(message(&error).contains("`safe.keys.Holder` is final"));
    let child = register("safe.keys.Holder.Child", -1, index, 2)?;
    assert!(
        message(&make.call::<()>((child, 32)).unwrap_err())
            .contains("its parent `safe.keys.Holder` is final")
    );
    assert!(
        type_table::attr(index, b"__ffi_new__").is_none()
            && type_table::attr(child, b"__ffi_new__").is_none()
    );
    let half = type_table::key_to_index(b"safe.keys.Half").expect("a class");
    let error = make.call::<()>((half, 32)).unwrap_err();
    assert_eq!(message(&error), "The type `safe.keys.Half` is not made of fields");
    let child = register("safe.keys.Half.Child", -1, half, 2)?;
    let error = make.call::<()>((child, 32)).unwrap_err();
    assert!(message(&error).contains("its parent `safe.keys.Half` is final or larger"));
    make.call::<()>((child, 40))?;
    let holder = Holder { function: Function::from_typed(|| 5i64)? }.into_arc()?;
    assert_eq!(holder.function.call::<i64>(())?, 5);
    Ok(())
}
