//! The `ffi.*` global functions that concern functions, strings and shapes, and are available to
//! every build.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem;
use core::ptr::NonNull;

use crate::abi::{TVMFFIObject, TVMFFIObjectDeleterSlot, TVMFFISafeCallType, type_index};
use crate::call::function::Function;
use crate::error::Result;
use crate::names::builtins::StaticFunction;
use crate::names::global_table;
use crate::object::ObjectRef;
use crate::platform::memory::Buffer;
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::value::shape::Shape;
use crate::value::string::{Bytes, String};
use crate::{plain_bail, plain_ensure, static_function};

/// The table of the global functions in this module.
pub static FUNCTIONS: [StaticFunction; 9] = [
    static_function!("ffi.FunctionRemoveGlobal", remove_global),
    static_function!("ffi.FunctionListGlobalNamesFunctor", list_global_names),
    static_function!("ffi.String", string),
    static_function!("ffi.Bytes", bytes),
    static_function!("ffi.GetGlobalFuncMetadata", global_metadata),
    static_function!("ffi.FunctionFromExternC", function_from_extern_c),
    static_function!("ffi.GetInvalidObject", invalid_object),
    static_function!("ffi.GetKwargsObject", kwargs_object),
    static_function!(packed "ffi.Shape", shape),
];

fn remove_global(name: String) -> Result<bool> {
    global_table::remove(name.as_bytes())
}

/// Creates a function over a snapshot of the global names: for -1 it returns the number of names,
/// for `i` the name at index `i`.
fn list_global_names() -> Result<Function> {
    let mut names = Buffer::new();
    global_table::names(&mut |name| Ok(names.try_push(String::from_bytes(name)?)?))?;
    Function::from_typed(move |index: i64| -> Result<Any> {
        let Ok(at) = usize::try_from(index) else { return Ok(Any::from(names.len() as i64)) };
        match names.get(at) {
            Some(name) => Ok(name.clone().into_any()),
            None => plain_bail!(INDEX_ERROR, "Index {} out of bounds {}", &index, names.len()),
        }
    })
}

fn string(text: String) -> String {
    text
}

fn bytes(content: Bytes) -> Bytes {
    content
}

fn global_metadata(name: String) -> Result<String> {
    match global_table::metadata(name.as_bytes())? {
        Some(metadata) => Ok(metadata),
        None => plain_bail!(RUNTIME_ERROR, "Global Function is not found: {}", name.as_bytes()),
    }
}

fn function_from_extern_c(
    context: *mut c_void,
    safe_call: *mut c_void,
    deleter: *mut c_void,
) -> Result<Function> {
    plain_ensure!(
        !safe_call.is_null(),
        VALUE_ERROR,
        "The safe_call of a function must not be null"
    );
    // SAFETY: the caller of this function guarantees that the addresses are a safe call and a
    // deleter (null for none, by the niche of Option) that fit the context.
    unsafe {
        let safe_call = mem::transmute::<*mut c_void, TVMFFISafeCallType>(safe_call);
        let deleter =
            mem::transmute::<*mut c_void, Option<unsafe extern "C" fn(*mut c_void)>>(deleter);
        Function::from_extern_c(context, safe_call, deleter)
    }
}

fn shape(args: &[AnyView<'_>]) -> Result<Any> {
    Shape::from_args(args).map(Shape::into_any)
}

/// An immortal object without content, aligned as objects are: 32-bit x86 aligns a `u64` to 4 bytes
/// only.
#[repr(align(8))]
struct Singleton(UnsafeCell<TVMFFIObject>);

// SAFETY: only the counts of the object are written, atomically; its other fields are constant.
unsafe impl Sync for Singleton {}

impl Singleton {
    const fn new() -> Self {
        Singleton(UnsafeCell::new(TVMFFIObject {
            // A strong count that is never released to zero.
            combined_ref_count: 0x1_4000_0000,
            type_index: type_index::OBJECT,
            padding: 0,
            deleter: TVMFFIObjectDeleterSlot { ensure_align: 0 },
        }))
    }

    fn reference(&'static self) -> ObjectRef {
        // SAFETY: the static is an initialised, immortal object, and its address is not null.
        unsafe { ObjectRef::borrow_raw(NonNull::new_unchecked(self.0.get())) }
    }
}

/// Returns the sentinel object for a missing value, such as an absent key.
///
/// # Upstream
/// `ffi.GetInvalidObject`.
pub fn invalid_object() -> ObjectRef {
    static INVALID: Singleton = Singleton::new();
    INVALID.reference()
}

/// Returns the sentinel object that separates positional from keyword arguments.
///
/// # Upstream
/// `ffi.GetKwargsObject`.
pub fn kwargs_object() -> ObjectRef {
    static KWARGS: Singleton = Singleton::new();
    KWARGS.reference()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::TVMFFIAny;
    use crate::value::convert::OpaquePtr;
    use core::ffi::c_int;

    fn call(name: &str, args: &[AnyView<'_>]) -> Result<Any> {
        FUNCTIONS
            .iter()
            .find(|function| function.name() == name)
            .unwrap()
            .to_function()?
            .call_packed(args)
    }

    fn text(text: &str) -> String {
        String::new(text).unwrap()
    }

    #[test]
    fn strings_and_bytes_are_not_mixed() -> Result<()> {
        let name = text("ab");
        assert_eq!(call("ffi.String", &[(&name).into()])?.get::<String>()?.as_bytes(), b"ab");
        let error = call("ffi.Bytes", &[(&name).into()]).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Mismatched type on argument #0 when calling: `ffi.Bytes(0: bytes) -> bytes`. \
              Expected `bytes` but got `ffi.SmallStr`"
        );
        Ok(())
    }

    #[test]
    fn names_are_listed_by_a_function() -> Result<()> {
        let names = call("ffi.FunctionListGlobalNamesFunctor", &[])?.get::<Function>()?;
        let count = names.call_packed(&[(-1i64).into()])?.get::<i64>()?;
        let error = names.call_packed(&[count.into()]).unwrap_err();
        assert_eq!(error.kind_bytes(), b"IndexError");
        let error = names.call_packed(&[]).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Mismatched number of arguments when calling: `(0: int) -> Any`. Expected 1 but got 0 arguments"
        );
        Ok(())
    }

    #[test]
    fn an_unknown_function_has_no_metadata() {
        let name = text("nope");
        let error = call("ffi.GetGlobalFuncMetadata", &[(&name).into()]).unwrap_err();
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"RuntimeError"[..], &b"Global Function is not found: nope"[..])
        );
    }

    #[test]
    fn removing_what_is_not_there_is_false() -> Result<()> {
        let name = text("nope");
        assert!(!call("ffi.FunctionRemoveGlobal", &[(&name).into()])?.get::<bool>()?);
        Ok(())
    }

    #[test]
    fn functions_are_made_of_addresses() -> Result<()> {
        unsafe extern "C" fn seven(
            _: *mut c_void,
            _: *const TVMFFIAny,
            _: i32,
            result: *mut TVMFFIAny,
        ) -> c_int {
            // SAFETY: the caller gives a valid result cell.
            unsafe { result.write(Any::from(7i64).into_raw()) };
            0
        }
        // SAFETY: the function has the signature of a safe call.
        let address = unsafe { OpaquePtr::new(seven as *mut c_void) };
        let null = OpaquePtr::NULL;
        let made =
            call("ffi.FunctionFromExternC", &[(&null).into(), (&address).into(), (&null).into()])?;
        assert_eq!(made.get::<Function>()?.call_packed(&[])?.get::<i64>()?, 7);
        let error =
            call("ffi.FunctionFromExternC", &[(&null).into(), (&null).into(), (&null).into()])
                .unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        Ok(())
    }

    #[test]
    fn singletons_are_apart_and_stay() -> Result<()> {
        let invalid = call("ffi.GetInvalidObject", &[])?.get::<ObjectRef>()?;
        assert!(invalid.ptr_eq(&invalid_object()));
        assert!(!invalid.ptr_eq(&kwargs_object()));
        Ok(())
    }

    #[test]
    fn shapes_are_made_of_integers() -> Result<()> {
        let made = call("ffi.Shape", &[2i64.into(), 3i64.into()])?;
        assert_eq!(made.get::<Shape>()?.as_slice(), &[2, 3]);
        let error = call("ffi.Shape", &[AnyView::NONE]).unwrap_err();
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"ValueError"[..], &b"Expect shape to take list of int arguments"[..])
        );
        Ok(())
    }
}
