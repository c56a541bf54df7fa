//! Functions of a model that are native code in its library: exec_mode `compiled`.

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, plain_bail, stack};

use super::frame::CallFrame;
use super::pools::Pools;
use super::{Entry, pointer_view};
use crate::executable::FunctionInfo;

/// Prefix of the native functions' names in the library.
pub(super) const PREFIX: &[u8] = b"__vmtir__";

/// Runs a native function. The code receives (machine, registers, constants, functions), where the last three are value
/// lists without bounds checks. The arguments are in the first registers, and the result is in the register after them.
///
/// # Errors
/// InternalError for a wrong number of arguments; ValueError if calls are nested too deep; errors of the code; MemoryError.
pub(super) fn run(
    entry: &Entry<'_>,
    pools: &Pools,
    info: &FunctionInfo,
    code: &Function,
    args: &[AnyView<'_>],
) -> Result<Any> {
    if args.len() != info.arguments {
        plain_bail!(
            INTERNAL_ERROR,
            "Function {} expects {} arguments",
            entry.0.executable().name(info),
            info.arguments
        );
    }
    stack::nest(|| call(entry, pools, info, code, args))
}

fn call(
    entry: &Entry<'_>,
    pools: &Pools,
    info: &FunctionInfo,
    code: &Function,
    args: &[AnyView<'_>],
) -> Result<Any> {
    let frame = CallFrame::begin(entry, info, args)?;
    let machine = core::ptr::from_ref(entry.0).cast_mut();
    code.call_packed(&[
        pointer_view(machine.cast()),
        pointer_view(frame.registers.cast()),
        pointer_view(pools.constants().cast()),
        pointer_view(pools.functions().cast()),
    ])?;
    frame.check_copies()?;
    // SAFETY: the frame has a register behind the arguments, as was checked when the executable was loaded.
    Ok(core::mem::take(unsafe { &mut *frame.registers.add(info.arguments) }))
}
