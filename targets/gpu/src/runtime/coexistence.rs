//! Coexistence with `libtvm_runtime`, which registers the same function names. The functions here
//! serve the devices that the other runtime lacks, and forward all other calls to it.

use ferrite_alloc_ext::device;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{AnyView, Function};

use super::enabled;

/// Returns the function to use when another runtime registers the name of a default: it dispatches
/// by device type. Returns `None` if the registered function is used as it is.
///
/// # Errors
/// MemoryError.
pub(crate) fn wrap(
    default: &'static StaticFunction,
    registered: &Function,
) -> Result<Option<Function>> {
    let Some(device_of) = device_of_call(default.name()) else { return Ok(None) };
    let (own, other) = (default.to_function()?, registered.clone());
    let serve = move |args: &[AnyView<'_>]| match device_of(args) {
        Some(device_type) if is_ours(device_type)? => own.call_packed(args),
        _ => other.call_packed(args),
    };
    Function::from_packed(serve).map(Some)
}

/// Returns `true` if a device type has a back end here and none in the other runtime.
fn is_ours(device_type: i32) -> Result<bool> {
    Ok(device::find(device_type).is_some() && !is_theirs(device_type)?)
}

/// Returns `true` if the other runtime has a back end for a device type: it registers
/// `device_api.KIND` for each.
pub(super) fn is_theirs(device_type: i32) -> Result<bool> {
    let Some(name) = ferrite_core::value::device::type_name(device_type) else { return Ok(false) };
    let mut api = Buffer::try_with_capacity(32)?;
    api.try_extend_from_slice(b"device_api.")?;
    api.try_extend_from_slice(name.as_bytes())?;
    Ok(global_table::get(&api)?.is_some())
}

/// Extracts the device type from the arguments of a call.
type DeviceOfCall = fn(&[AnyView<'_>]) -> Option<i32>;

/// Returns the extractor for a function, by name; `None` if its arguments specify no device.
fn device_of_call(name: &str) -> Option<DeviceOfCall> {
    Some(match name {
        "__tvm_set_device" | "runtime.GetDeviceAttr" | "runtime.TVMSetStream" => {
            |args| number(args.first()?)
        }
        "runtime.TVMTensorAllocWithScope" => |args| device_type(args.get(2)?),
        "runtime.TVMTensorCopyFromBytes"
        | "runtime.TVMTensorCopyToBytes"
        | "runtime.TVMTensorCreateView"
        | "runtime.TVMTensorIsStorageShared" => |args| tensor(args.first()?),
        "runtime.RuntimeEnabled" => |args| enabled::device_type(args.first()?.bytes_of_string()?),
        "runtime.TVMTensorCopyFromTo" => |args| {
            let (from, to) = (tensor(args.first()?)?, tensor(args.get(1)?)?);
            Some(if device::is_main_memory(from) { to } else { from })
        },
        _ if name.starts_with("runtime.Device_") => |args| device_type(args.first()?),
        _ => return None,
    })
}

fn number(value: &AnyView<'_>) -> Option<i32> {
    value.try_get::<i32>().ok()?
}

fn device_type(value: &AnyView<'_>) -> Option<i32> {
    value.try_get::<DLDevice>().ok()?.map(|device| device.device_type)
}

fn tensor(value: &AnyView<'_>) -> Option<i32> {
    TensorRef::from_view(value).map(|tensor| tensor.device().device_type)
}
