//! Functions of a model that are native code in its library: exec_mode `compiled`.

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::stack;
use ferrite_core::{Any, AnyView, Function, plain_bail, plain_error};

use super::frame::CallFrame;
use super::pools::Pools;
use super::{UseGuard, pointer_view};
use crate::compiled::{limit, set_machine, take_failures};
use crate::executable::FunctionInfo;

/// Prefix of the native functions' names in the library.
pub(super) const PREFIX: &[u8] = b"__vmtir__";

/// Runs a native function. The code receives (machine, registers, constants, functions), where the
/// last three are value lists. The arguments are in the first registers, and the result is in the
/// register after them.
///
/// # Errors
/// InternalError for a wrong number of arguments, and if the code accesses values that the lists do
/// not have; ValueError if calls are nested too deep; errors of the code; MemoryError, also for the
/// copy of a result that the code stores.
pub(super) fn run(
    entry: &UseGuard<'_>,
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
    entry: &UseGuard<'_>,
    pools: &Pools,
    info: &FunctionInfo,
    code: &Function,
    args: &[AnyView<'_>],
) -> Result<Any> {
    let frame = CallFrame::begin(entry, info, args)?;
    // SAFETY: the frame has so many registers.
    unsafe {
        limit(frame.registers, info.registers);
        set_machine(frame.registers, entry.0);
    }
    let machine = core::ptr::from_ref(entry.0).cast_mut();
    let [constants, functions] = pools.native_lists();
    let lists = [frame.registers, constants, functions];
    let [registers, constants, functions] = lists.map(|list| pointer_view(list.cast()));
    let status = code.call_packed(&[pointer_view(machine.cast()), registers, constants, functions]);
    // SAFETY: these are the starts of lists.
    if unsafe { take_failures(lists) } {
        let error = entry.take_result_error();
        return Err(error.unwrap_or_else(|| out_of_range(entry, info)));
    }
    status?;
    frame.check_copies()?;
    // SAFETY: the frame has a register behind the arguments, as was checked when the executable was
    // loaded.
    Ok(core::mem::take(unsafe { &mut *frame.registers.add(info.arguments) }))
}

#[cold]
fn out_of_range(entry: &UseGuard<'_>, info: &FunctionInfo) -> Error {
    plain_error!(
        INTERNAL_ERROR,
        "The code of {} accesses registers, constants or functions that the executable does not have",
        entry.0.executable().name(info)
    )
}
