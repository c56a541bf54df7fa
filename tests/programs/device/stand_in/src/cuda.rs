//! Functions of libcuda, as in a fictitious driver for CUDA 12.4 with GPUs of capability 9.0.
//!
//! Pointer arguments come from the library under test, and are valid as specified in libcuda's
//! headers.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::faults::{self, Fault, Outcome, complain};
use crate::image;
use crate::kernels::{MAX_PARAMETERS, Type};
use crate::machine::{self, machine};
use crate::pool::PoolProperties;
use crate::queue::{Geometry, Place};

/// `CUresult`.
type Status = c_int;
/// `CUcontext`, `CUstream`, `CUmodule`, `CUfunction`, `CUevent` and `CUdeviceptr`.
type Handle = u64;

const DRIVER_VERSION: c_int = 12040;

std::thread_local! {
    static CURRENT: Cell<Handle> = const { Cell::new(0) };
}

/// Returns the current context of the calling thread.
pub fn current_context() -> Handle {
    CURRENT.get()
}

fn code(fault: Fault) -> Status {
    match fault {
        Fault::InvalidValue => 1,
        Fault::OutOfMemory => 2,
        Fault::NotInitialized => 3,
        Fault::NoDevice => 100,
        Fault::InvalidDevice => 101,
        Fault::InvalidImage => 200,
        Fault::InvalidContext => 201,
        Fault::InvalidHandle => 400,
        Fault::NotFound => 500,
        Fault::IllegalAddress => 700,
        Fault::TooLargeLaunch => 701,
        Fault::NotRecordable => 900,
        Fault::SpoiledRecording => 901,
        Fault::Requested(code) => code,
    }
}

fn status(outcome: Outcome<()>) -> Status {
    outcome.err().map_or(0, code)
}

/// Runs a driver call, unless a test requested that it fails.
fn call(name: &'static str, body: impl FnOnce() -> Outcome<()>) -> Status {
    status(faults::enter(name).and_then(|()| body()))
}

/// Runs a call that releases a resource. It releases the resource even if a test requested that it
/// fails, like drivers that report an earlier error.
fn release(name: &'static str, body: impl FnOnce() -> Outcome<()>) -> Status {
    let entered = faults::enter(name);
    status(body().and(entered))
}

fn put<T>(place: *mut T, value: T) -> Outcome<()> {
    if place.is_null() {
        return Err(complain(
            Fault::InvalidValue,
            "a result is to be written to a null pointer".into(),
        ));
    }
    // SAFETY: the library passes a valid result pointer.
    unsafe { place.write(value) };
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: c_uint) -> Status {
    call("cuInit", || {
        let mut machine = machine();
        if flags != 0 {
            return Err(complain(Fault::InvalidValue, format!("cuInit with flags {flags}")));
        }
        if machine.devices == 0 {
            return Err(Fault::NoDevice);
        }
        machine.is_initialized = true;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Status {
    call("cuDriverGetVersion", || put(version, DRIVER_VERSION))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: *mut c_int) -> Status {
    call("cuDeviceGetCount", || put(count, machine().devices as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Status {
    call("cuDeviceGet", || put(device, machine().device(ordinal)? as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> Status {
    call("cuDeviceGetAttribute", || {
        machine().device(device)?;
        let found = match attribute {
            1 => machine::MAX_THREADS,
            2..=4 => machine::MAX_BLOCK[attribute as usize - 2],
            8 => machine::SHARED_BYTES,
            10 => 32,
            12 => 65536,
            13 => 1_980_000,
            16 => 132,
            38 => 50 << 20,
            75 => 9,
            76 => 0,
            97 => machine::MAX_SHARED_BYTES,
            115 => 1,
            _ => {
                return Err(complain(
                    Fault::InvalidValue,
                    format!("the device attribute {attribute}"),
                ));
            }
        };
        put(value, found as c_int)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) -> Status {
    call("cuDeviceGetName", || {
        machine().device(device)?;
        let text = c"Stand-in for a GPU";
        let bytes = text.to_bytes_with_nul();
        if usize::try_from(len).is_ok_and(|len| len >= bytes.len()) {
            // SAFETY: the library passes a buffer of this size.
            unsafe { name.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len()) };
            return Ok(());
        }
        Err(complain(Fault::InvalidValue, "a name of a device needs more bytes".into()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> Status {
    call("cuDeviceTotalMem_v2", || {
        let machine = machine();
        machine.device(device)?;
        put(bytes, machine.memory.limit as usize)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) -> Status {
    call("cuDevicePrimaryCtxRetain", || {
        let mut machine = machine();
        let device = machine.device(device)?;
        put(context, machine.retain_primary(device))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> Status {
    release("cuDevicePrimaryCtxRelease_v2", || {
        let mut machine = machine();
        let device = machine.device(device)?;
        machine.release_primary(device)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: Handle) -> Status {
    call("cuCtxSetCurrent", || {
        if context != 0 {
            machine().context(context)?;
        }
        CURRENT.set(context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetCurrent(context: *mut Handle) -> Status {
    call("cuCtxGetCurrent", || put(context, CURRENT.get()))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetDevice(device: *mut c_int) -> Status {
    call("cuCtxGetDevice", || put(device, machine().context(CURRENT.get())?.device as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSynchronize() -> Status {
    release("cuCtxSynchronize", || machine().synchronize_context(CURRENT.get()))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAlloc_v2(address: *mut Handle, bytes: usize) -> Status {
    call("cuMemAlloc_v2", || {
        let allocated = machine().allocate(CURRENT.get(), bytes as u64)?;
        put(address, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: Handle) -> Status {
    release("cuMemFree_v2", || machine().free(CURRENT.get(), address, false))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemPoolCreate(
    pool: *mut Handle,
    properties: *const PoolProperties,
) -> Status {
    call("cuMemPoolCreate", || {
        // SAFETY: the library passes a record.
        let device = unsafe { &*properties }.device()?;
        let mut machine = machine();
        let device = machine.device(device)?;
        put(pool, machine.create_pool(device)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolDestroy(pool: Handle) -> Status {
    release("cuMemPoolDestroy", || machine().destroy_pool(pool))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemPoolSetAttribute(
    pool: Handle,
    attribute: c_int,
    value: *const u64,
) -> Status {
    call("cuMemPoolSetAttribute", || machine().set_pool_attribute(pool, attribute, value))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolTrimTo(pool: Handle, bytes: usize) -> Status {
    release("cuMemPoolTrimTo", || machine().trim_pool(pool, bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAllocFromPoolAsync(
    address: *mut Handle,
    bytes: usize,
    pool: Handle,
    stream: Handle,
) -> Status {
    call("cuMemAllocFromPoolAsync", || {
        let allocated = machine().allocate_pooled(CURRENT.get(), pool, stream, bytes as u64)?;
        put(address, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeAsync(address: Handle, stream: Handle) -> Status {
    release("cuMemFreeAsync", || machine().free_pooled(CURRENT.get(), address, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAllocHost_v2(pointer: *mut *mut u8, bytes: usize) -> Status {
    call("cuMemAllocHost_v2", || {
        let allocated = machine().allocate_pinned(CURRENT.get(), bytes as u64)?;
        put(pointer, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(pointer: *mut u8) -> Status {
    release("cuMemFreeHost", || machine().free(CURRENT.get(), pointer.addr() as u64, true))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    call("cuMemGetInfo_v2", || {
        let machine = machine();
        let device = machine.context(CURRENT.get())?.device;
        put(free, (machine.memory.limit - machine.memory.used(device)) as usize)?;
        put(total, machine.memory.limit as usize)
    })
}

fn copy(from: Place, to: Place, bytes: usize, stream: Handle, is_peer: bool) -> Outcome<()> {
    machine().copy(CURRENT.get(), stream, from, to, bytes as u64, is_peer)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoDAsync_v2(
    to: Handle,
    from: *mut u8,
    bytes: usize,
    stream: Handle,
) -> Status {
    call("cuMemcpyHtoDAsync_v2", || {
        copy(Place::Host(from), Place::Device(to), bytes, stream, false)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut u8,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    call("cuMemcpyDtoHAsync_v2", || {
        copy(Place::Device(from), Place::Host(to), bytes, stream, false)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoDAsync_v2(
    to: Handle,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    call("cuMemcpyDtoDAsync_v2", || {
        copy(Place::Device(from), Place::Device(to), bytes, stream, false)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyPeerAsync(
    to: Handle,
    to_context: Handle,
    from: Handle,
    from_context: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    call("cuMemcpyPeerAsync", || {
        for (address, context) in [(to, to_context), (from, from_context)] {
            let machine = machine();
            let device = machine.context(context)?.device;
            if machine
                .memory
                .pointer(address, bytes as u64)
                .is_none_or(|(_, owner)| owner != device)
            {
                let text = format!(
                    "a copy between devices at {address:#x}, which is not on the device that is named"
                );
                return Err(complain(Fault::InvalidValue, text));
            }
        }
        copy(Place::Device(from), Place::Device(to), bytes, stream, true)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> Status {
    call("cuStreamCreate", || {
        if flags > 1 {
            return Err(complain(Fault::InvalidValue, format!("a stream with flags {flags}")));
        }
        let created = machine().create_stream(CURRENT.get(), flags == 0)?;
        put(stream, created)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(stream: Handle) -> Status {
    release("cuStreamDestroy_v2", || machine().destroy_stream(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(stream: Handle) -> Status {
    call("cuStreamSynchronize", || machine().synchronize_stream(CURRENT.get(), stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> Status {
    call("cuStreamWaitEvent", || {
        if flags != 0 {
            return Err(complain(Fault::InvalidValue, format!("a wait with flags {flags}")));
        }
        machine().wait_event(CURRENT.get(), stream, event)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamIsCapturing(stream: Handle, status: *mut c_int) -> Status {
    call("cuStreamIsCapturing", || {
        let is_recording = machine().is_recording(CURRENT.get(), stream)?;
        put(status, is_recording.into())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> Status {
    call("cuStreamBeginCapture_v2", || {
        if !(0..=2).contains(&mode) {
            return Err(complain(Fault::InvalidValue, format!("a recording with mode {mode}")));
        }
        machine().begin_recording(CURRENT.get(), stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> Status {
    release("cuStreamEndCapture", || {
        put(graph, 0)?;
        let recorded = machine().end_recording(CURRENT.get(), stream)?;
        put(graph, recorded)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut Handle,
    graph: Handle,
    flags: u64,
) -> Status {
    call("cuGraphInstantiateWithFlags", || {
        if flags != 0 {
            return Err(complain(Fault::InvalidValue, format!("a graph with flags {flags}")));
        }
        let made = machine().instantiate_graph(graph)?;
        put(executable, made)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphDestroy(graph: Handle) -> Status {
    release("cuGraphDestroy", || machine().destroy_graph(graph, false))
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphLaunch(executable: Handle, stream: Handle) -> Status {
    call("cuGraphLaunch", || machine().launch_graph(CURRENT.get(), executable, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphExecDestroy(executable: Handle) -> Status {
    release("cuGraphExecDestroy", || machine().destroy_graph(executable, true))
}

/// `CU_EVENT_DISABLE_TIMING`.
const EVENT_WITHOUT_TIME: c_uint = 2;

#[unsafe(no_mangle)]
extern "C" fn cuEventCreate(event: *mut Handle, flags: c_uint) -> Status {
    call("cuEventCreate", || {
        if flags > 7 {
            return Err(complain(Fault::InvalidValue, format!("an event with flags {flags}")));
        }
        let created = machine().create_event(CURRENT.get(), flags & EVENT_WITHOUT_TIME == 0)?;
        put(event, created)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: Handle, stream: Handle) -> Status {
    call("cuEventRecord", || machine().record_event(CURRENT.get(), event, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventSynchronize(event: Handle) -> Status {
    call("cuEventSynchronize", || machine().synchronize_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status {
    call("cuEventElapsedTime", || {
        let time = machine().elapsed(start, end)?;
        put(milliseconds, time)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(event: Handle) -> Status {
    release("cuEventDestroy_v2", || machine().destroy_event(event))
}

/// Options of `cuModuleLoadDataEx`: the log of errors and its size.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut Handle,
    image: *const c_void,
    count: c_uint,
    options: *const c_int,
    values: *const *mut c_void,
) -> Status {
    call("cuModuleLoadDataEx", || {
        // SAFETY: the library passes `count` options and values.
        let value = |wanted| unsafe {
            (0..count as usize)
                .find(|index| options.add(*index).read() == wanted)
                .map(|index| values.add(index).read())
        };
        let log = value(ERROR_LOG).zip(value(ERROR_LOG_SIZE));
        machine().context(CURRENT.get())?;
        // SAFETY: the library passes a complete image.
        let kernels = unsafe { image::kernels(image) }.map_err(|(fault, text)| {
            if let Some((buffer, bytes)) = log {
                let len = text.len().min(bytes.addr().saturating_sub(1));
                // SAFETY: the buffer has the size that the library passes.
                unsafe {
                    buffer.cast::<u8>().copy_from(text.as_ptr(), len);
                    buffer.cast::<u8>().add(len).write(0);
                }
            }
            fault
        })?;
        let loaded = machine().load_module(CURRENT.get(), kernels)?;
        put(module, loaded)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Status {
    call("cuModuleGetFunction", || {
        // SAFETY: the library passes a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Fault::NotFound)?;
        let found = machine().find_function(module, name)?;
        put(function, found)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: Handle) -> Status {
    release("cuModuleUnload", || machine().unload_module(CURRENT.get(), module))
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> Status {
    call("cuFuncSetAttribute", || match attribute {
        8 => machine().allow_dynamic_shared(function, value),
        14 => machine().allow_large_clusters(function, value != 0),
        _ => Err(complain(Fault::InvalidValue, format!("the function attribute {attribute}"))),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncGetParamInfo(
    function: Handle,
    index: usize,
    offset: *mut usize,
    bytes: *mut usize,
) -> Status {
    call("cuFuncGetParamInfo", || {
        let parameters = machine().function(function)?.kernel.parameters;
        let parameter = parameters.get(index).ok_or(Fault::InvalidValue)?;
        let before = parameters
            .iter()
            .take(index)
            .fold(0usize, |at, one| at.next_multiple_of(one.bytes()) + one.bytes());
        put(offset, before.next_multiple_of(parameter.bytes()))?;
        if bytes.is_null() { Ok(()) } else { put(bytes, parameter.bytes()) }
    })
}

/// `CUlaunchAttribute`.
#[repr(C)]
struct LaunchAttribute {
    id: c_int,
    padding: c_int,
    value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    dynamic_shared_bytes: c_uint,
    stream: Handle,
    attributes: *const LaunchAttribute,
    attribute_count: c_uint,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernelEx(
    config: *const LaunchConfig,
    function: Handle,
    parameters: *const *const c_void,
    extra: *const *const c_void,
) -> Status {
    call("cuLaunchKernelEx", || {
        if config.is_null() || !extra.is_null() {
            return Err(complain(
                Fault::InvalidValue,
                "a launch without a record, or with `extra`".into(),
            ));
        }
        // SAFETY: the library passes a record with that many attributes.
        let config = unsafe { &*config };
        let mut geometry = Geometry {
            grid: config.grid,
            block: config.block,
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            ..Geometry::default()
        };
        for index in 0..config.attribute_count as usize {
            // SAFETY: as above.
            apply(unsafe { &*config.attributes.add(index) }, &mut geometry)?;
        }
        let kernel = machine().function(function)?.kernel;
        let mut arguments = [0; MAX_PARAMETERS];
        for (index, (parameter, argument)) in
            kernel.parameters.iter().zip(&mut arguments).enumerate()
        {
            // SAFETY: the library passes a pointer for each parameter.
            *argument = unsafe { read(parameters.add(index).read(), *parameter) }?;
        }
        machine().launch(CURRENT.get(), config.stream, function, geometry, arguments)
    })
}

fn apply(attribute: &LaunchAttribute, geometry: &mut Geometry) -> Outcome<()> {
    let [x, y, z, ..] = attribute.value;
    let flag = |place: &mut u32| match (x, *place) {
        (1, 0) => {
            *place = 1;
            Ok(())
        }
        _ => Err(complain(
            Fault::InvalidValue,
            format!("the launch attribute {} of {x}", attribute.id),
        )),
    };
    let extents = |place: &mut [u32; 3]| match *place {
        [0, 0, 0] => {
            *place = [x, y, z];
            Ok(())
        }
        _ => Err(complain(
            Fault::InvalidValue,
            format!("the launch attribute {} comes twice", attribute.id),
        )),
    };
    match attribute.id {
        2 => flag(&mut geometry.is_cooperative),
        4 => extents(&mut geometry.cluster),
        6 => flag(&mut geometry.is_programmatic),
        11 => extents(&mut geometry.preferred_cluster),
        id => Err(complain(Fault::InvalidValue, format!("the launch attribute {id}"))),
    }
}

/// Reads an argument. For a tensor map, returns its first 8 bytes.
///
/// # Safety
/// The pointer must be null or point to an argument of that type.
unsafe fn read(argument: *const c_void, parameter: Type) -> Outcome<u64> {
    let is_aligned = parameter != Type::TensorMap || argument.addr().is_multiple_of(64);
    if argument.is_null() || !is_aligned {
        let text = format!("a launch with an argument of type {parameter:?} at {argument:p}");
        return Err(complain(Fault::InvalidValue, text));
    }
    // SAFETY: the caller's promise.
    unsafe {
        Ok(match parameter.bytes() {
            4 => u64::from(argument.cast::<u32>().read_unaligned()),
            _ => argument.cast::<u64>().read_unaligned(),
        })
    }
}

/// Writes a map whose first 8 bytes are the address, so that a kernel can identify it.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuTensorMapEncodeTiled(
    map: *mut u64,
    data_type: c_int,
    rank: c_uint,
    address: Handle,
    extents: *const u64,
    strides: *const u64,
    box_extents: *const u32,
    element_strides: *const u32,
    interleave: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
) -> Status {
    call("cuTensorMapEncodeTiled", || {
        let rank = rank as usize;
        let is_known = (1..=5).contains(&rank)
            && (0..=15).contains(&data_type)
            && (0..=2).contains(&interleave)
            && (0..=6).contains(&swizzle)
            && (0..=3).contains(&promotion)
            && (0..=1).contains(&fill);
        if !is_known || !map.addr().is_multiple_of(64) || !address.is_multiple_of(16) {
            return Err(complain(
                Fault::InvalidValue,
                "a tensor map with impossible numbers".into(),
            ));
        }
        // SAFETY: the library passes arrays of `rank` numbers, or one fewer for strides.
        let is_valid = unsafe {
            (0..rank).all(|axis| {
                (1..=1 << 32).contains(&extents.add(axis).read())
                    && (1..=256).contains(&box_extents.add(axis).read())
                    && (1..=8).contains(&element_strides.add(axis).read())
            }) && (1..rank).all(|axis| strides.add(axis - 1).read().is_multiple_of(16))
        };
        if !is_valid {
            return Err(Fault::InvalidValue);
        }
        // SAFETY: a map has 128 bytes.
        unsafe {
            map.write_bytes(0x5a, 16);
            map.write(address);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(error: Status, name: *mut *const c_char) -> Status {
    let text = match error {
        0 => c"CUDA_SUCCESS",
        1 => c"CUDA_ERROR_INVALID_VALUE",
        2 => c"CUDA_ERROR_OUT_OF_MEMORY",
        3 => c"CUDA_ERROR_NOT_INITIALIZED",
        4 => c"CUDA_ERROR_DEINITIALIZED",
        100 => c"CUDA_ERROR_NO_DEVICE",
        101 => c"CUDA_ERROR_INVALID_DEVICE",
        200 => c"CUDA_ERROR_INVALID_IMAGE",
        201 => c"CUDA_ERROR_INVALID_CONTEXT",
        218 => c"CUDA_ERROR_INVALID_PTX",
        400 => c"CUDA_ERROR_INVALID_HANDLE",
        500 => c"CUDA_ERROR_NOT_FOUND",
        700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        701 => c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        900 => c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        901 => c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
        999 => c"CUDA_ERROR_UNKNOWN",
        _ => return code(Fault::InvalidValue),
    };
    status(put(name, text.as_ptr()))
}

/// Returns an error. NVRTC of CUDA 12.9 requests private function tables from a driver, without
/// checking that this function exists.
#[unsafe(no_mangle)]
extern "C" fn cuGetExportTable(table: *mut *const c_void, _id: *const c_void) -> Status {
    call("cuGetExportTable", || put(table, std::ptr::null()).and(Err(Fault::NotFound)))
}
