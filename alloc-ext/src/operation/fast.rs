//! Speed-optimised calls of operations: each has a safe call of its own, and uses arguments in place that need no conversion.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::serve_in_place;
use ferrite_core::store_forwarding;

use super::types::{NOTHING, Types};
use super::{Argument, Operation, call_converted};

/// An operation as a type, so that its parts are constants where they are inlined.
pub(crate) trait Known {
    const OPERATION: &'static Operation;
}

/// Checks the arguments of an operation and runs it, in place if all arguments are accepted so.
///
/// # Errors
/// As [`call_converted`].
///
/// # Safety
/// As [`call_converted`].
#[inline(always)]
unsafe fn call<const OWNING: bool>(
    operation: &'static Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    // SAFETY: accepted arguments are of the operation's types; the caller vouches for the result.
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

/// Runs an operation on copies of arguments of its types.
///
/// # Errors
/// Those of the operation.
///
/// # Safety
/// As [`call_converted`]; the arguments are of the operation's types.
#[inline(never)]
unsafe fn call_owning(operation: &Operation, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
    let mut owned = NOTHING;
    for (owned, arg) in owned.iter_mut().zip(args) {
        // SAFETY: arguments are accepted in forms that owned values have; both types are transparent over a cell.
        owned.clone_from(unsafe { &*core::ptr::from_ref(arg).cast::<Any>() });
    }
    // SAFETY: the caller vouches for the arguments and the result.
    unsafe { operation.run_owned(&owned, result) }
}

/// Returns `true` if all arguments can be used in place. A plain loop, which disappears where the types are known.
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
    /// A copy of the argument.
    ///
    /// # Errors
    /// Those of [`AnyView::to_owned`].
    #[inline(always)]
    pub(crate) fn to_owned(self) -> Result<Any> {
        store_forwarding::view(self.view()).to_owned()
    }

    /// The argument as an owned value that is only borrowed, after a check of its cell: for operations that would not notice
    /// that its object is null, for example.
    ///
    /// # Errors
    /// Those of [`AnyView::to_owned`].
    pub(crate) fn whole(self) -> Result<&'a Any> {
        if !self.view().has_owned_form() {
            self.view().to_owned()?;
        }
        Ok(self.borrow())
    }
}

/// The safe call of an operation, with a body for this very operation.
///
/// # Safety
/// The arguments are those of a safe call.
#[inline(always)]
pub(crate) unsafe fn hot<K: Known>(args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the caller vouches for the arguments; a body that succeeds leaves its result in the cell.
    unsafe { serve_in_place(args, count, result, |args, result| call::<false>(K::OPERATION, args, result)) }
}

/// The safe call of an operation.
///
/// # Safety
/// The arguments are those of a safe call.
#[inline(always)]
pub(crate) unsafe fn plain<K: Known>(args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: passed on.
    unsafe { serve::<false>(K::OPERATION, args, count, result) }
}

/// The safe call of an operation that keeps its arguments alive.
///
/// # Safety
/// The arguments are those of a safe call.
#[inline(always)]
pub(crate) unsafe fn owning<K: Known>(args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: passed on.
    unsafe { serve::<true>(K::OPERATION, args, count, result) }
}

/// The body that all operations share which are not hot.
///
/// # Safety
/// The last three arguments are those of a safe call.
#[inline(never)]
unsafe fn serve<const OWNING: bool>(
    operation: &'static Operation,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller vouches for the arguments; a body that succeeds leaves its result in the cell.
    unsafe { serve_in_place(args, count, result, |args, result| call::<OWNING>(operation, args, result)) }
}

/// Makes the static function of the constant `OPERATION`.
macro_rules! static_operation {
    ($serve:ident, $function:ty, $operands:ty) => {{
        use core::ffi::{c_int, c_void};
        use ferrite_core::abi::TVMFFIAny;
        use ferrite_core::typed::{Callee, TypedFn};
        const CALLEE: &Callee<'static> =
            &Callee { name: OPERATION.name, signature: <$function as TypedFn<$operands>>::SIGNATURE };
        struct This;
        impl $crate::operation::Known for This {
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
        ferrite_core::builtins::StaticFunction::new(CALLEE, call)
    }};
}
pub(crate) use static_operation;
