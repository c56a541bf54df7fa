//! Global functions through which compiled code and TVM's Python package use devices:
//! `__tvm_set_device` and `runtime.*`.
//!
//! They are [`defaults`](ferrite_core::names::defaults): a runtime that registers the same names
//! receives all calls except those for devices that it lacks.

mod coexistence;
mod enabled;
mod view;
#[cfg(feature = "std")]
pub(crate) mod workspaces;

use core::ffi::c_void;
use core::ptr;

use ferrite_alloc_ext::device::{self, Attribute, Device, Graph, Region, stream};
use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::global_table;
use ferrite_core::tensor::{TensorRef, TensorView};
use ferrite_core::value::device::kind;
use ferrite_core::{
    Any, Function, Shape, String, Tensor, plain_bail, plain_ensure, static_function,
};

pub(crate) use coexistence::wrap;

/// Name of the function that host code calls before the first kernel.
pub const SET_DEVICE: &str = "__tvm_set_device";

/// Table entry of `__tvm_set_device`.
pub const SET_DEVICE_FUNCTION: StaticFunction = static_function!("__tvm_set_device", set_device);

/// Table entries of `runtime.*`.
///
/// # Upstream
/// `src/runtime/device_api.cc` and `src/runtime/tensor.cc` of Apache TVM, linked into
/// `libtvm_runtime`.
pub const FUNCTIONS: &[StaticFunction] = &[
    static_function!("runtime.GetDeviceAttr", device_attribute),
    static_function!("runtime.Device_StreamCreate", create_stream),
    static_function!("runtime.Device_StreamFree", free_stream),
    static_function!("runtime.Device_SetStream", set_stream),
    static_function!("runtime.Device_StreamSync", synchronize),
    static_function!("runtime.Device_StreamSyncFromTo", order_streams),
    static_function!("runtime.TVMSetStream", set_stream_pointer),
    static_function!("runtime.TVMTensorAllocWithScope", allocate_tensor),
    static_function!("runtime.TVMTensorCopyFromBytes", copy_from_bytes),
    static_function!("runtime.TVMTensorCopyToBytes", copy_to_bytes),
    static_function!("runtime.TVMTensorCopyFromTo", copy_tensor),
    static_function!("runtime.TVMTensorCreateView", view::create_view),
    static_function!("runtime.TVMTensorIsStorageShared", view::is_storage_shared),
    static_function!("runtime.RuntimeEnabled", enabled::is_enabled),
];

/// Variant of `__tvm_set_device` for device modules. It serves devices with a back end here even if
/// another runtime registered the global function.
static OWN_SET_DEVICE: StaticFunction = static_function!(SET_DEVICE, set_own_device);

/// Returns the function `__tvm_set_device` of device modules. It forwards devices without a back
/// end here to the global function.
///
/// # Errors
/// MemoryError.
pub(crate) fn set_device_function() -> Result<Function> {
    OWN_SET_DEVICE.to_function()
}

fn set_own_device(device_type: i32, device_id: i32) -> Result<()> {
    if device::find(device_type).is_none()
        && let Some(global) = global_table::get(SET_DEVICE.as_bytes())?
    {
        return global.call_packed(&[device_type.into(), device_id.into()]).map(drop);
    }
    set_device(device_type, device_id)
}

fn set_device(device_type: i32, device_id: i32) -> Result<()> {
    if device_type == kind::CPU {
        return Ok(());
    }
    device::get(device_type)?.set_device(device_id)
}

/// Implements `runtime.GetDeviceAttr`. Attribute 0 (whether the device exists) is 0 for devices
/// without a back end.
fn device_attribute(device_type: i32, device_id: i32, attribute: i64) -> Result<Any> {
    let Some(attribute) = Attribute::from_number(attribute) else {
        plain_bail!(VALUE_ERROR, "There is no device attribute {}", &attribute);
    };
    match (device_type, attribute) {
        (kind::CPU, Attribute::Exists) => Ok(1i64.into()),
        (kind::CPU, _) => Ok(Any::NONE),
        (_, Attribute::Exists) if device::find(device_type).is_none() => Ok(0i64.into()),
        _ => device::get(device_type)?.attribute(device_id, attribute),
    }
}

/// Converts a stream, which these functions pass as an integer, to a handle; 0 is the default
/// stream.
fn handle(stream: i64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(stream as usize)
}

fn create_stream(device: DLDevice) -> Result<i64> {
    if device.device_type == kind::CPU {
        return Ok(0);
    }
    let stream = device::get(device.device_type)?.create_stream(device.device_id)?;
    Ok(stream.expose_provenance() as i64)
}

fn free_stream(device: DLDevice, stream: i64) -> Result<()> {
    if device.device_type == kind::CPU {
        return Ok(());
    }
    // SAFETY: the caller who passes a stream guarantees it.
    unsafe { device::get(device.device_type)?.free_stream(device.device_id, handle(stream)) }
}

fn set_stream(device: DLDevice, stream: i64) -> Result<()> {
    set_stream_pointer(device.device_type, device.device_id, handle(stream))
}

fn set_stream_pointer(device_type: i32, device_id: i32, stream: *mut c_void) -> Result<()> {
    // SAFETY: the caller who passes a stream guarantees it.
    unsafe { stream::set_current(Device::new(device_type, device_id), stream) }.map(drop)
}

fn synchronize(device: DLDevice, stream: i64) -> Result<()> {
    // SAFETY: the caller who passes a stream guarantees it.
    unsafe { stream::synchronize(device.into(), handle(stream)) }
}

fn order_streams(device: DLDevice, before: i64, after: i64) -> Result<()> {
    if device.device_type == kind::CPU {
        return Ok(());
    }
    let backend = device::get(device.device_type)?;
    // SAFETY: as in `free_stream`.
    unsafe { backend.order_streams(device.device_id, handle(before), handle(after)) }
}

/// Creates a tensor. Rejects memory scopes other than `global`: they are texture layouts, which no
/// back end here supports.
fn allocate_tensor(
    shape: Shape,
    dtype: DLDataType,
    device: DLDevice,
    scope: Option<String>,
) -> Result<Tensor> {
    if let Some(scope) = scope {
        let is_global = matches!(scope.as_bytes(), b"" | b"global");
        plain_ensure!(is_global, RUNTIME_ERROR, "There is no memory of scope {}", scope.as_bytes());
    }
    device::empty(shape.as_slice(), dtype, device)
}

/// Returns the device that performs a copy: the first device, or the second if the first is main
/// memory.
fn device_of_copy(one: DLDevice, other: DLDevice) -> Device {
    Device::from(if device::is_main_memory(one.device_type) { other } else { one })
}

const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Returns the region of a contiguous tensor, which must have exactly `bytes` bytes.
///
/// # Errors
/// ValueError for another tensor.
fn region_of(tensor: TensorView<'_>, bytes: usize) -> Result<Region> {
    let reader = tensor.as_tensor_ref();
    check_bytes(reader, bytes)?;
    Ok(Region {
        device: reader.device(),
        data: reader.data_ptr(),
        offset: reader.byte_offset() as usize,
    })
}

fn check_bytes(tensor: TensorRef<'_>, bytes: usize) -> Result<()> {
    plain_ensure!(tensor.is_contiguous(), VALUE_ERROR, "Copies need contiguous tensors");
    let size = tensor.size_bytes();
    plain_ensure!(
        size == Some(bytes),
        VALUE_ERROR,
        "The tensor has {} bytes, not {}",
        size.unwrap_or(usize::MAX),
        bytes
    );
    Ok(())
}

/// Copies from main memory to a tensor, and waits for the copy.
fn copy_from_bytes(tensor: TensorView<'_>, data: *mut c_void, bytes: usize) -> Result<()> {
    let _guard = tensor.write_guard()?;
    // SAFETY: the arguments of a call are valid until it returns; the caller who passes a pointer
    // guarantees its bytes.
    unsafe {
        let to = region_of(tensor, bytes)?;
        copy_and_wait(Region { device: CPU, data, offset: 0 }, to, bytes)
    }
}

/// Copies from a tensor to main memory, and waits for the copy.
fn copy_to_bytes(tensor: TensorView<'_>, data: *mut c_void, bytes: usize) -> Result<()> {
    let _guard = tensor.read_guard()?;
    // SAFETY: as in `copy_from_bytes`.
    unsafe {
        let from = region_of(tensor, bytes)?;
        copy_and_wait(from, Region { device: CPU, data, offset: 0 }, bytes)
    }
}

/// Copies between regions, and waits for the copy.
///
/// # Safety
/// Both regions must have `bytes` bytes.
unsafe fn copy_and_wait(from: Region, to: Region, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    plain_ensure!(
        !from.data.is_null() && !to.data.is_null(),
        VALUE_ERROR,
        "A copy needs memory, not null"
    );
    let device = device_of_copy(from.device, to.device);
    // SAFETY: the caller guarantees the regions; the stream belongs to the device.
    unsafe { device::copy(from, to, bytes, stream::current(device))? };
    let is_written = device::is_main_memory(to.device.device_type);
    if is_written || device.can_wait() { device.synchronize() } else { Ok(()) }
}

/// Copies between tensors on the stream of the copying device. Waits for a copy that uses main
/// memory, which is borrowed until then. A copy within a device is queued, as is a recorded copy,
/// which uses the memory when the graph is launched. A recording of a model, which safe code
/// launches, refuses copies that use main memory.
fn copy_tensor(from: TensorView<'_>, to: TensorView<'_>) -> Result<()> {
    let _guards = from.copy_guards(to)?;
    // SAFETY: the arguments of a call are valid until it returns.
    let (from, target, to): (DLTensor, _, DLTensor) = unsafe { (*from.as_ptr(), to, *to.as_ptr()) };
    let device = device_of_copy(from.device, to.device);
    if device::is_main_memory(from.device.device_type)
        != device::is_main_memory(to.device.device_type)
    {
        Graph::check_main_memory_allowed(device)?;
    }
    // SAFETY: both tensors are valid, and borrowed until the copy is complete; the stream belongs
    // to the device.
    unsafe { device::copy_tensor(&from, &to, stream::current(device))? };
    let is_in_use = device::uses_main_memory_later(from.device.device_type, to.device.device_type);
    if is_in_use && !Graph::is_recording(device)? {
        device::finish_copy(device, target)
    } else {
        Ok(())
    }
}
