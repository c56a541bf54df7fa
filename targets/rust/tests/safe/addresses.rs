//! Addresses that the library or a driver follows. Most programs of this kind no longer compile:
//! `mistakes/address_*.rs`.

use core::ffi::c_void;

use ferrite::convert::OpaquePtr;
use ferrite::{Any, AnyView, Function, Object, ObjectArc, ObjectClass, Result, type_table};

#[test]
fn addresses_are_read_and_null_is_passed() -> Result<()> {
    let is_null = Function::from_typed(|address: *mut c_void| address.is_null())?;
    assert!(is_null.call::<bool>((OpaquePtr::NULL,))?);
    assert!(is_null.call::<bool>((Any::NONE,))?);
    assert!(is_null.call::<bool>((5,)).is_err());
    assert!(OpaquePtr::try_from(Any::NONE)?.as_ptr().is_null());
    let make = Function::global("ffi.FunctionFromExternC")?;
    let error =
        make.call::<Function>((OpaquePtr::NULL, OpaquePtr::NULL, OpaquePtr::NULL)).unwrap_err();
    assert_eq!(error.kind().as_str(), "ValueError");
    Ok(())
}

#[test]
fn the_setter_of_an_address_needs_the_address_of_a_field() -> Result<()> {
    // The third argument is the address of a function, of which the setter is made.
    let setter: Function = Function::global("ffi.MakeFieldSetter")?.call((1, 0, 8))?;
    for address in [Any::NONE, Any::from(16)] {
        assert!(setter.call::<()>((address, 5)).is_err());
    }
    Ok(())
}

/// A class without hooks.
#[derive(Object)]
#[object(key = "safe.addresses.Hooked")]
struct Hooked {
    value: i64,
}

#[test]
fn a_hook_is_a_function_not_an_address() -> Result<()> {
    Hooked::register()?;
    let index = ObjectArc::<Hooked>::type_index();
    // A function of the library gives an address: that of its hook for containers.
    let address = type_table::attr(ferrite::type_index::ARRAY, b"__s_visit__");
    for name in ["__any_hash__", "__s_visit__"] {
        let error = type_table::register_attr(index, name.as_bytes(), address).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "TypeError: The attribute `{name}` is an address, which only unsafe code registers"
            )
        );
        assert!(type_table::attr(index, name.as_bytes()).is_none());
    }
    let hash = Function::from_typed(|object: ObjectArc<Hooked>| object.value)?;
    type_table::register_attr(index, b"__any_hash__", AnyView::from(&hash))?;
    assert!(!type_table::attr(index, b"__any_hash__").is_none());
    Ok(())
}
