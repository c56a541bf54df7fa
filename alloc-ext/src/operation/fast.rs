//! Dispatch for speed-optimised builds: each operation has its own safe-call function, and
//! arguments that need no conversion are used in place.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::call::function::serve_in_place;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::store_forwarding;

use super::Argument;
use super::descriptor::{Operation, call_converted};
use super::types::{NO_ARGUMENTS, Types};

/// An operation as a type, so that its types and body are constants in inlined code.
pub(crate) trait StaticOperation {
    const OPERATION: &'static Operation;
}

/// Checks the arguments of an operation and runs it, on the arguments in place if none needs
/// conversion.
///
/// # Errors
/// Errors of [`call_converted`].
///
/// # Safety
/// Same requirements as [`call_converted`].
#[inline(always)]
unsafe fn call<const OWNING: bool>(
    operation: &'static Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    // SAFETY: accepted arguments have the operation's types; the caller guarantees the result cell.
    unsafe {
        if !accepts(&operation.types, args) {
            call_converted(operation, args, result)
        } else if OWNING {
            call_owning(operation, args, result)
        } else {
            operation.run(args, result)
        }
    }
}

/// Runs an operation on owned copies of its arguments, in a body that operations share.
///
/// # Errors
/// Errors of the operation.
///
/// # Safety
/// Same as [`call_converted`]; the arguments must have the operation's types.
#[inline(never)]
unsafe fn call_owning(
    operation: &Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { own_and_run(operation, args, result) }
}

/// Runs an operation on owned copies of its arguments.
///
/// # Errors
/// Errors of the operation.
///
/// # Safety
/// Same requirements as [`call_owning`].
#[inline(always)]
unsafe fn own_and_run(
    operation: &Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    let mut owned = NO_ARGUMENTS;
    for (owned, arg) in owned.iter_mut().zip(args) {
        // SAFETY: accepted arguments have the representation of owned values; both types are
        // transparent over a cell.
        owned.clone_from(unsafe { &*core::ptr::from_ref(arg).cast::<Any>() });
    }
    // SAFETY: the caller guarantees arguments and result cell.
    unsafe { operation.run_owned(&owned, result) }
}

/// Returns `true` if all arguments can be used without conversion. A plain loop, which is unrolled
/// if the types are constants.
#[inline(always)]
fn accepts(types: &Types, args: &[AnyView<'_>]) -> bool {
    if args.len() != types.params().len() {
        return false;
    }
    for (param, arg) in types.params().iter().zip(args) {
        if !param.accepts(arg) {
            return false;
        }
    }
    true
}

impl<'a> Argument<'a> {
    /// Returns an owned copy of the argument.
    ///
    /// # Errors
    /// Errors of [`AnyView::to_owned`].
    #[inline(always)]
    pub(crate) fn to_owned(self) -> Result<Any> {
        store_forwarding::view(self.view()).to_owned()
    }

    /// Borrows the argument as an [`Any`] after validating its cell. For operations that do not
    /// detect an invalid cell, for example with a null object pointer.
    ///
    /// # Errors
    /// Errors of [`AnyView::to_owned`].
    pub(crate) fn whole(self) -> Result<&'a Any> {
        if !self.view().has_owned_form() {
            self.view().to_owned()?;
        }
        Ok(self.borrow())
    }
}

/// Safe-call function of a `hot` operation, with a body specialised for the operation.
///
/// # Safety
/// The arguments must be those of a safe call.
#[inline(always)]
pub(crate) unsafe fn hot<K: StaticOperation>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the arguments; a body that succeeds leaves its result in the
    // cell.
    unsafe {
        serve_in_place(args, count, result, |args, result| {
            call::<false>(K::OPERATION, args, result)
        })
    }
}

/// Safe-call function of a `hot owning` operation, with a specialised body that owns its arguments.
///
/// # Safety
/// The arguments must be those of a safe call.
#[inline(always)]
pub(crate) unsafe fn hot_owning<K: StaticOperation>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the arguments, accepted ones have the operation's types, and a
    // body that succeeds leaves its result in the cell.
    unsafe {
        serve_in_place(args, count, result, |args, result| {
            if accepts(&K::OPERATION.types, args) {
                own_and_run(K::OPERATION, args, result)
            } else {
                call_converted(K::OPERATION, args, result)
            }
        })
    }
}

/// Safe-call function of an operation that uses the shared body.
///
/// # Safety
/// The arguments must be those of a safe call.
#[inline(always)]
pub(crate) unsafe fn plain<K: StaticOperation>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { serve::<false>(K::OPERATION, args, count, result) }
}

/// Safe-call function of an `owning` operation, which owns its arguments while it runs.
///
/// # Safety
/// The arguments must be those of a safe call.
#[inline(always)]
pub(crate) unsafe fn owning<K: StaticOperation>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { serve::<true>(K::OPERATION, args, count, result) }
}

/// Shared body of the safe-call functions of all operations that are not `hot`.
///
/// # Safety
/// `args`, `count` and `result` must be those of a safe call.
#[inline(never)]
unsafe fn serve<const OWNING: bool>(
    operation: &'static Operation,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the arguments; a body that succeeds leaves its result in the
    // cell.
    unsafe {
        serve_in_place(args, count, result, |args, result| call::<OWNING>(operation, args, result))
    }
}

/// Creates the static function for the constant `OPERATION`, which must be in scope.
macro_rules! static_operation {
    ($serve:ident, $name:literal, $function:ty, $operands:ty) => {{
        use core::ffi::{c_int, c_void};
        use ferrite_core::abi::TVMFFIAny;
        use ferrite_core::call::typed::{Callee, TypedFn};
        const CALLEE: &Callee<'static> =
            &Callee::new(OPERATION.name, <$function as TypedFn<$operands>>::SIGNATURE);
        struct This;
        impl $crate::operation::StaticOperation for This {
            const OPERATION: &'static Operation = OPERATION;
        }
        unsafe extern "C" fn call(
            _: *mut c_void,
            args: *const TVMFFIAny,
            count: i32,
            result: *mut TVMFFIAny,
        ) -> c_int {
            // SAFETY: a function's safe call gets arguments by the safe call convention.
            unsafe { $crate::operation::$serve::<This>(args, count, result) }
        }
        // SAFETY: the function above is such a safe call.
        unsafe { ferrite_core::names::builtins::StaticFunction::new(CALLEE, call) }
    }};
}
pub(crate) use static_operation;
