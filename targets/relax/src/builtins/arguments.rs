//! Argument checks and conversions shared by builtins, and the contexts of their error messages.

use ferrite_core::abi::DLDataType;
use ferrite_core::abi::type_index;
use ferrite_core::error::message::SHORT;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
#[cfg(feature = "all-builtins")]
use ferrite_core::tensor::TensorView;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, AnyView, ObjectRef, String, plain_ensure, plain_error};

/// Checks that a call has at least `least` arguments.
///
/// # Errors
/// TypeError for fewer arguments. Upstream does not check, and reads out of bounds.
pub(super) fn expect(args: &[AnyView<'_>], least: usize, name: &'static str) -> Result<()> {
    plain_ensure!(
        args.len() >= least,
        TYPE_ERROR,
        "`{}` expects at least {} arguments, but got {}",
        name,
        least,
        args.len();
        "{} arguments, not {}",
        least,
        args.len()
    );
    Ok(())
}

/// Returns the error context of a check, the prefix of its message; empty if there is none.
pub(super) fn context(context: &Option<String>) -> &[u8] {
    context.as_ref().map_or(b"", String::as_bytes)
}

/// Returns a tensor argument (a tensor object or a `DLTensor*`), borrowed.
///
/// # Errors
/// TypeError for any other argument.
#[cfg(feature = "all-builtins")]
pub(super) fn tensor<'a>(arg: &AnyView<'a>) -> Result<TensorView<'a>> {
    TensorView::from_value(arg).ok_or_else(|| no_tensor(arg))
}

/// Returns the error of an argument that is not a tensor.
#[cold]
#[cfg(feature = "all-builtins")]
fn no_tensor(arg: &AnyView<'_>) -> Error {
    let refused = arg.get_in_place::<TensorView<'_>>();
    refused.err().unwrap_or_else(|| plain_error!(TYPE_ERROR, "No tensor"))
}

/// Returns the object in an argument, borrowed: its reference count does not change. Returns `None`
/// for other values.
#[inline(always)]
#[cfg(feature = "all-builtins")]
pub(super) fn object<'a>(arg: &'a AnyView<'_>) -> Option<&'a ObjectRef> {
    // SAFETY: a view has the form of an owned value, which is borrowed here as long as the view is.
    unsafe { &*core::ptr::from_ref(arg).cast::<Any>() }.as_object()
}

/// Returns the object in an argument, borrowed: its reference count does not change.
///
/// # Errors
/// TypeError if the argument is not an object of this class.
#[inline(always)]
pub(super) fn borrowed<'a, T: ObjectClass + AnyCompatible>(arg: &'a AnyView<'_>) -> Result<&'a T> {
    // SAFETY: a view has the form of an owned value, which is borrowed here as long as the view is.
    let value = unsafe { &*core::ptr::from_ref(arg).cast::<Any>() };
    match value.as_object().and_then(ObjectRef::as_class::<T>) {
        Some(object) => Ok(object),
        None => Err(wrong_class::<T>(arg)),
    }
}

/// Returns the TypeError for an argument of another class.
#[cold]
fn wrong_class<T: AnyCompatible>(arg: &AnyView<'_>) -> Error {
    if SHORT {
        return wrong_type();
    }
    match arg.get::<T>() {
        Err(error) => error,
        Ok(_) => {
            plain_error!(TYPE_ERROR, "An argument is of a class derived from the one expected")
        }
    }
}

#[cold]
fn wrong_type() -> Error {
    plain_error!(TYPE_ERROR, "An argument is of another type"; "wrong type")
}

/// Returns a data type argument, given as a data type, or as a string in builds with all builtins.
///
/// # Errors
/// TypeError for any other argument.
#[inline(always)]
pub(super) fn data_type(arg: &AnyView<'_>) -> Result<DLDataType> {
    if arg.type_index() != type_index::DATA_TYPE {
        // Executables hold data types, not their strings, which take code to read.
        return if cfg!(feature = "all-builtins") { arg.get() } else { Err(wrong_type()) };
    }
    // SAFETY: the payload of a data type is one.
    Ok(unsafe { arg.as_raw().payload.v_dtype })
}
