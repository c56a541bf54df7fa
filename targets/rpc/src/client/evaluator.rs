//! Measurements of functions on the server, and of this process: `runtime.RPCTimeEvaluator`.
#![forbid(unsafe_code)]

use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Function, String, bail};

use super::module::{RemoteModule, TIME_EVALUATOR, server_function};
use crate::functions::{self, HostTiming};

/// Implements `runtime.RPCTimeEvaluator` for modules of sessions, and for those of this process and
/// global functions.
pub(super) fn any_time_evaluator(args: &[AnyView<'_>]) -> Result<Any> {
    match args.first().and_then(RemoteModule::of_view) {
        Some(_) => time_evaluator(args),
        None => functions::time_evaluator(HostTiming::new(local_function), args),
    }
}

/// Finds a function of a module, or a global function if the module is None.
fn local_function(module: AnyView<'_>, name: &String) -> Result<Option<Function>> {
    match module.is_none() {
        true => global_table::get(name.as_bytes()),
        false => module.get::<Module>()?.get_function(name, true),
    }
}

/// Measures a function on the server, with the arguments of `runtime.RPCTimeEvaluator`: a module of
/// a session, the name of its function, the type and the id of the device as this process knows it,
/// and options.
fn time_evaluator(args: &[AnyView<'_>]) -> Result<Any> {
    let [module, name, device_type, device_id, options @ ..] = args else {
        bail!(TypeError, "runtime.RPCTimeEvaluator takes 12 arguments, got {}", args.len());
    };
    let device = DLDevice { device_type: device_type.get()?, device_id: device_id.get()? };
    evaluate(module, name, device, options)
}

/// Implements `ferrite.rpc.TimeEvaluator`: (module of a session, name of its function, device as
/// this process knows it, options of `runtime.RPCTimeEvaluator`).
pub(super) fn device_time_evaluator(args: &[AnyView<'_>]) -> Result<Any> {
    let [module, name, device, options @ ..] = args else {
        bail!(TypeError, "ferrite.rpc.TimeEvaluator takes 11 arguments, got {}", args.len());
    };
    evaluate(module, name, device.get()?, options)
}

fn evaluate(
    module: &AnyView<'_>,
    name: &AnyView<'_>,
    device: DLDevice,
    options: &[AnyView<'_>],
) -> Result<Any> {
    let module: Module = module.get()?;
    let remote = RemoteModule::of(&module)?;
    let device = remote.session().strip_mask(device)?;
    let target = if remote.handle() == 0 { AnyView::NONE } else { AnyView::from(&module) };
    let mut arguments: Buffer<AnyView<'_>> = Buffer::new();
    let (device_type, device_id) = (i64::from(device.device_type), i64::from(device.device_id));
    arguments.try_extend_from_slice(&[target, *name, device_type.into(), device_id.into()])?;
    arguments.try_extend_from_slice(options)?;
    server_function(remote.session(), TIME_EVALUATOR)?.call_packed(&arguments)
}
