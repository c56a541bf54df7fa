//! Native hooks: C functions in attribute columns that return a value or an error object.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, type_index};
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result, kind};
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::plain_bail;
use ferrite_core::platform::text::Writer;
use ferrite_core::platform::unwind;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, Described, OpaquePtr};

/// Native hook, or function in the table of a visitor or mutator. Borrows both arguments. Returns
/// an owned result, or an error object.
///
/// # Upstream
/// `FStructuralVisitABI` in `extra/structural_visit.h`, and its counterparts for mutators.
pub type NativeHook =
    unsafe extern "C" fn(walker: *mut TVMFFIObject, value: TVMFFIAny) -> TVMFFIAny;

/// Registers a native hook for a type, unless the type already has one.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// Pointers in the column must be native hooks, and this one must accept the values that the
/// column's hooks get.
pub unsafe fn install(type_index: i32, column: &str, hook: NativeHook) -> Result<()> {
    if !type_table::attr(type_index, column.as_bytes()).is_none() {
        return Ok(());
    }
    // SAFETY: the caller guarantees that the column has such hooks, and the function is part of the
    // program.
    unsafe {
        let hook = OpaquePtr::new(hook as *mut c_void);
        type_table::register_attr_unchecked(type_index, column.as_bytes(), AnyView::from(&hook))
    }
}

/// Runs `body` and returns its result or error as a cell. A panic becomes an InternalError.
///
/// # Upstream
/// `ExpectedUnsafe::MoveToTVMFFIAny` in `expected.h`.
pub fn serve(body: impl FnOnce() -> Result<Any>) -> TVMFFIAny {
    unwind::catch(body).unwrap_or_else(Error::into_any).into_raw()
}

/// Calls a native hook with a visitor or mutator and a value.
///
/// # Errors
/// Errors of the hook.
///
/// # Safety
/// `hook` must accept visitors or mutators of class `W`.
pub unsafe fn call_native<W: ObjectClass>(
    hook: NativeHook,
    walker: &W,
    value: AnyView<'_>,
) -> Result<Any> {
    // SAFETY: the caller guarantees the hook; both arguments are alive.
    let raw = unsafe { hook(walker.as_object().as_ptr(), *value.as_raw()) };
    // SAFETY: a hook returns an owned value.
    without_error(unsafe { Any::from_raw(raw) })
}

/// Calls a hook found in an attribute column: a native hook or a function object.
///
/// # Errors
/// Errors of the hook; TypeError if `hook` is neither.
///
/// # Safety
/// `hook` must come from a column whose pointers are native hooks that accept visitors or mutators
/// of class `W`.
pub unsafe fn call_hook<W: ObjectClass + AnyCompatible>(
    column: &str,
    hook: AnyView<'_>,
    walker: &W,
    value: AnyView<'_>,
) -> Result<Any> {
    match hook.type_index() {
        type_index::OPAQUE_PTR => {
            let hook = hook.get::<*mut c_void>()?;
            // SAFETY: pointers in the column are native hooks (ABI), and not null.
            let hook = unsafe { core::mem::transmute::<*mut c_void, NativeHook>(hook) };
            // SAFETY: as above.
            unsafe { call_native(hook, walker, value) }
        }
        type_index::FUNCTION => call_function(&hook.get()?, &[AnyView::from(walker), value]),
        _ => {
            plain_bail!(TYPE_ERROR, "{} must be an opaque function pointer or ffi.Function", column)
        }
    }
}

/// Calls a function that may either raise or return an error.
///
/// # Errors
/// The error that the function raised or returned.
///
/// # Upstream
/// `Function::CallExpected` in `function.h`.
pub fn call_function(function: &Function, args: &[AnyView<'_>]) -> Result<Any> {
    without_error(function.call_packed(args)?)
}

/// Converts an error object returned as a result into an error. Returns all other results.
///
/// # Errors
/// The error object, if `result` is one.
pub fn without_error(result: Any) -> Result<Any> {
    if result.type_index() == type_index::ERROR { Err(result.get()?) } else { Ok(result) }
}

/// Creates the TypeError for a callback or hook that did not return a `T`.
#[cold]
pub fn wrong_result<T: Described>(result: &Any) -> Error {
    unexpected_result(&|out| T::TYPE.write_name(out), result)
}

/// Creates the TypeError for a callback or hook that returned a wrong type. `expected` writes the
/// expected type.
#[cold]
pub fn unexpected_result(expected: &dyn Fn(&mut Writer<'_>), result: &Any) -> Error {
    Error::from_parts(ferrite_core::__error_site!(), kind::TYPE_ERROR, &|out| {
        out.put(b"CallExpected: result type mismatch, expected ");
        expected(out);
        out.put(b", but got ");
        out.put_lossy(type_table::type_key_of(result.type_index()));
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::ListObject;
    use ferrite_core::error;

    unsafe extern "C" fn refuse(_: *mut TVMFFIObject, _: TVMFFIAny) -> TVMFFIAny {
        serve(|| plain_bail!(VALUE_ERROR, "no"))
    }

    #[test]
    fn errors_come_back_as_errors() -> Result<()> {
        let walker = ListObject::with_capacity(0)?;
        // SAFETY: the hook uses neither argument.
        let outcome = unsafe { call_native(refuse, &walker, AnyView::NONE) };
        assert_eq!(outcome.map(drop).unwrap_err().message_bytes(), b"no");
        let returns = Function::from_packed(|_| Ok(error!(TypeError, "returned").into_any()))?;
        assert_eq!(
            call_function(&returns, &[]).map(drop).unwrap_err().message_bytes(),
            b"returned"
        );
        Ok(())
    }

    #[test]
    fn hooks_are_pointers_or_functions() -> Result<()> {
        let walker = ListObject::with_capacity(0)?;
        // SAFETY: the function is a native hook.
        let pointer = unsafe { OpaquePtr::new(refuse as *mut c_void) };
        let hook = AnyView::from(&pointer);
        // SAFETY: the hook uses neither argument.
        let outcome = unsafe { call_hook("__s_visit__", hook, &walker, AnyView::NONE) };
        assert_eq!(outcome.map(drop).unwrap_err().message_bytes(), b"no");
        // SAFETY: an int is not called.
        let outcome =
            unsafe { call_hook("__s_visit__", AnyView::from(1i64), &walker, AnyView::NONE) };
        assert_eq!(
            outcome.map(drop).unwrap_err().message_bytes(),
            b"__s_visit__ must be an opaque function pointer or ffi.Function"
        );
        Ok(())
    }
}
