//! The safe calls of operations where speed counts: each has one of its own.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::serve_in_place;

use super::{NOTHING, Operands, Operation, Types, Verb, call_converted};

/// An operation as a type, so that its parts are constants where they are used in line.
pub(crate) trait Known {
    const OPERATION: &'static Operation;
}

/// Checks the arguments of an operation and runs it, on arguments as they lie if all may be used so.
///
/// # Errors
/// As [`call_converted`].
///
/// # Safety
/// As [`call_converted`].
#[inline(always)]
unsafe fn call(operation: &'static Operation, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
    if !accepts(&operation.types, args) {
        // SAFETY: passed on.
        return unsafe { call_converted(operation, args, result) };
    }
    if is_done_first(operation.verb) {
        // SAFETY: they are what the operation takes; the caller vouches for the result.
        return unsafe { (operation.family.run)(operation.verb, Operands(args.as_ptr()), result) };
    }
    // SAFETY: passed on.
    unsafe { call_held(operation, args, result) }
}

/// Runs an operation on arguments of its types, and holds them meanwhile.
///
/// # Errors
/// Those of the operation.
///
/// # Safety
/// As [`call_converted`]; the arguments are what the operation takes.
#[inline(never)]
unsafe fn call_held(operation: &Operation, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
    let operands = Operands(args.as_ptr());
    let mut held = NOTHING;
    for (index, held) in held.iter_mut().enumerate().take(args.len()) {
        // SAFETY: the operation has as many arguments.
        held.clone_from(unsafe { operands.any(index) });
    }
    // SAFETY: both forms of values are transparent over a cell; the caller vouches for the rest.
    unsafe { (operation.family.run)(operation.verb, Operands(held.as_ptr().cast()), result) }
}

/// Whether an operation is done with its arguments before code of users runs, but for the hooks of a [`Key`](super::Key). That
/// code may give up the caller's references: deleters where several elements go, and what modules do.
const fn is_done_first(verb: Verb) -> bool {
    use Verb::*;
    !matches!(
        verb,
        EraseRange
            | ReplaceSlice
            | Clear
            | ImplementsFunction
            | GetMetadata
            | GetDoc
            | GetFunction
            | GetPropertyMask
            | InspectSource
            | GetKind
            | GetWriteFormats
            | LoadFromFile
            | WriteToFile
            | ImportModule
            | ClearImports
            | GlobalsAdd
            | GlobalsRemove
    )
}

/// Whether all arguments may be used as they lie. A plain loop, which disappears where the types are known.
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

impl<'a> Operands<'a> {
    /// As [`any`](Self::any), where nothing else finds out that a cell is broken: that its object is null, for example.
    ///
    /// # Errors
    /// Those of [`AnyView::to_owned`].
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn whole_any(&self, index: usize) -> Result<&'a Any> {
        // SAFETY: passed on.
        unsafe {
            let value = self.value(index);
            if !value.has_owned_form() {
                value.to_owned()?;
            }
            Ok(self.any(index))
        }
    }
}

/// The safe call of an operation.
///
/// # Safety
/// The arguments are those of a safe call.
#[inline(always)]
pub(crate) unsafe fn serve<K: Known>(args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: passed on.
    unsafe { serve_any(K::OPERATION, args, count, result) }
}

/// # Safety
/// As [`serve`].
#[inline(never)]
unsafe fn serve_any(
    operation: &'static Operation,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller vouches for the arguments; a body that succeeds leaves its answer in the cell.
    unsafe { serve_in_place(args, count, result, |args, result| call(operation, args, result)) }
}

/// As [`serve`], with a body for this very operation.
///
/// # Safety
/// As [`serve`].
#[inline(always)]
pub(crate) unsafe fn serve_hot<K: Known>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: as in `serve_any`.
    unsafe { serve_in_place(args, count, result, |args, result| call(K::OPERATION, args, result)) }
}

/// Makes a static function of the constant `OPERATION`.
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
