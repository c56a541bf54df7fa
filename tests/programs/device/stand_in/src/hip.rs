//! Functions of libamdhip64, as in a fictitious driver of ROCm 6.3 with GPUs of architecture
//! gfx1100. HIP has a current device for each thread in place of contexts.
//!
//! Pointer arguments come from the library under test, and are valid as specified in HIP's headers.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::faults::{self, Fault, Outcome, complain};
use crate::image;
use crate::kernels::{Kernel, MAX_PARAMETERS};
use crate::machine::{self, Locked, machine};
use crate::pool::PoolProperties;
use crate::queue::{Geometry, Place};

/// `hipError_t`.
type Status = c_int;
/// `hipStream_t`, `hipModule_t`, `hipFunction_t`, `hipEvent_t`, `hipGraph_t`, `hipGraphExec_t`,
/// `hipMemPool_t`, and device addresses.
type Handle = u64;

const VERSION: c_int = 60342134;

std::thread_local! {
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
    static LAST_ERROR: Cell<Status> = const { Cell::new(0) };
}

/// `hipEventDisableTiming`.
const EVENT_WITHOUT_TIME: c_uint = 2;

fn code(fault: Fault) -> Status {
    match fault {
        Fault::InvalidValue => 1,
        Fault::OutOfMemory => 2,
        Fault::NotInitialized => 3,
        Fault::TooLargeLaunch => 9,
        Fault::NoDevice => 100,
        Fault::InvalidDevice => 101,
        Fault::InvalidImage => 200,
        Fault::InvalidContext => 201,
        Fault::InvalidHandle => 400,
        Fault::NotFound => 500,
        Fault::IllegalAddress => 700,
        Fault::NotRecordable => 900,
        Fault::SpoiledRecording => 901,
        Fault::Requested(code) => code,
    }
}

fn status(outcome: Outcome<()>) -> Status {
    let status = outcome.err().map_or(0, code);
    if status != 0 {
        LAST_ERROR.set(status);
    }
    status
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

/// Locks the machine, and returns the context of a device.
fn on(device: c_int) -> Outcome<(Locked, u64)> {
    let mut machine = machine();
    let device = machine.device(device)?;
    let context = machine.implicit_primary(device);
    Ok((machine, context))
}

/// Locks the machine, and returns the context of the current device.
fn here() -> Outcome<(Locked, u64)> {
    on(DEVICE.get())
}

#[unsafe(no_mangle)]
extern "C" fn hipInit(flags: c_uint) -> Status {
    call("hipInit", || {
        let mut machine = machine();
        if flags != 0 {
            return Err(complain(Fault::InvalidValue, format!("hipInit with flags {flags}")));
        }
        if machine.devices == 0 {
            return Err(Fault::NoDevice);
        }
        machine.is_initialized = true;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> Status {
    call("hipRuntimeGetVersion", || put(version, VERSION))
}

#[unsafe(no_mangle)]
extern "C" fn hipDriverGetVersion(version: *mut c_int) -> Status {
    call("hipDriverGetVersion", || put(version, VERSION))
}

#[unsafe(no_mangle)]
extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Status {
    call("hipGetDeviceCount", || match machine().devices {
        0 => Err(Fault::NoDevice),
        devices => put(count, devices as c_int),
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipSetDevice(device: c_int) -> Status {
    call("hipSetDevice", || {
        machine().device(device)?;
        DEVICE.set(device);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipGetDevice(device: *mut c_int) -> Status {
    call("hipGetDevice", || put(device, DEVICE.get()))
}

#[unsafe(no_mangle)]
extern "C" fn hipDeviceSynchronize() -> Status {
    release("hipDeviceSynchronize", || {
        let (mut machine, context) = here()?;
        machine.synchronize_context(context)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> Status {
    call("hipDeviceGetAttribute", || {
        machine().device(device)?;
        let found = match attribute {
            5 => 2_500_000,
            19 => 6 << 20,
            23 => 11,
            26..=28 => machine::MAX_BLOCK[attribute as usize - 26],
            56 => machine::MAX_THREADS,
            61 => 0,
            63 => 48,
            71 => 65536,
            74 => machine::SHARED_BYTES,
            87 => 32,
            // Memory pools.
            88 => 1,
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
unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, len: c_int, device: c_int) -> Status {
    call("hipDeviceGetName", || {
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

/// Writes `hipDeviceProp_tR0600` (1472 bytes), of which only the name of the architecture, at
/// offset 1160, has content.
#[unsafe(no_mangle)]
unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut u8, device: c_int) -> Status {
    call("hipGetDevicePropertiesR0600", || {
        machine().device(device)?;
        let name = c"gfx1100";
        // SAFETY: the library passes a record.
        unsafe {
            properties.write_bytes(0xa5, 1472);
            properties.add(1160).copy_from(name.as_ptr().cast(), name.count_bytes() + 1);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: c_int) -> Status {
    call("hipDeviceTotalMem", || {
        let machine = machine();
        machine.device(device)?;
        put(bytes, machine.memory.limit as usize)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Status {
    call("hipMemGetInfo", || {
        let (machine, context) = here()?;
        let device = machine.context(context)?.device;
        put(free, (machine.memory.limit - machine.memory.used(device)) as usize)?;
        put(total, machine.memory.limit as usize)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMalloc(address: *mut Handle, bytes: usize) -> Status {
    call("hipMalloc", || {
        let (mut machine, context) = here()?;
        let allocated = machine.allocate(context, bytes as u64)?;
        put(address, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipFree(address: Handle) -> Status {
    release("hipFree", || {
        let (mut machine, context) = here()?;
        machine.free(context, address, false)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipMemPoolCreate(
    pool: *mut Handle,
    properties: *const PoolProperties,
) -> Status {
    call("hipMemPoolCreate", || {
        // SAFETY: the library passes a record.
        let device = unsafe { &*properties }.device()?;
        let mut machine = machine();
        let device = machine.device(device)?;
        put(pool, machine.create_pool(device)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemPoolDestroy(pool: Handle) -> Status {
    release("hipMemPoolDestroy", || machine().destroy_pool(pool))
}

#[unsafe(no_mangle)]
extern "C" fn hipMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *const u64) -> Status {
    call("hipMemPoolSetAttribute", || machine().set_pool_attribute(pool, attribute, value))
}

#[unsafe(no_mangle)]
extern "C" fn hipMemPoolTrimTo(pool: Handle, bytes: usize) -> Status {
    release("hipMemPoolTrimTo", || machine().trim_pool(pool, bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn hipMallocFromPoolAsync(
    address: *mut Handle,
    bytes: usize,
    pool: Handle,
    stream: Handle,
) -> Status {
    call("hipMallocFromPoolAsync", || {
        let (mut machine, context) = here()?;
        let allocated = machine.allocate_pooled(context, pool, stream, bytes as u64)?;
        put(address, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipFreeAsync(address: Handle, stream: Handle) -> Status {
    release("hipFreeAsync", || {
        let (mut machine, context) = here()?;
        machine.free_pooled(context, address, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipHostMalloc(pointer: *mut *mut u8, bytes: usize, flags: c_uint) -> Status {
    call("hipHostMalloc", || {
        if flags != 0 {
            return Err(complain(Fault::InvalidValue, format!("pinned memory with flags {flags}")));
        }
        let (mut machine, context) = here()?;
        let allocated = machine.allocate_pinned(context, bytes as u64)?;
        put(pointer, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipHostFree(pointer: *mut u8) -> Status {
    release("hipHostFree", || {
        let (mut machine, context) = here()?;
        machine.free(context, pointer.addr() as u64, true)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpyAsync(
    to: *mut u8,
    from: *mut u8,
    bytes: usize,
    direction: c_int,
    stream: Handle,
) -> Status {
    call("hipMemcpyAsync", || {
        let device = |pointer: *mut u8| Place::Device(pointer.addr() as u64);
        let (from, to) = match direction {
            1 => (Place::Host(from), device(to)),
            2 => (device(from), Place::Host(to)),
            3 => (device(from), device(to)),
            _ => {
                return Err(complain(
                    Fault::InvalidValue,
                    format!("a copy in direction {direction}"),
                ));
            }
        };
        let (mut machine, context) = here()?;
        machine.copy(context, stream, from, to, bytes as u64, false)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpyPeerAsync(
    to: Handle,
    to_device: c_int,
    from: Handle,
    from_device: c_int,
    bytes: usize,
    stream: Handle,
) -> Status {
    call("hipMemcpyPeerAsync", || {
        let (mut machine, context) = here()?;
        for (address, device) in [(to, to_device), (from, from_device)] {
            let device = machine.device(device)?;
            if machine
                .memory
                .pointer(address, bytes as u64)
                .is_none_or(|(_, owner)| owner != device)
            {
                let text = format!(
                    "a copy between devices at {address:#x}, which is not on device {device}"
                );
                return Err(complain(Fault::InvalidValue, text));
            }
        }
        machine.copy(context, stream, Place::Device(from), Place::Device(to), bytes as u64, true)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamCreateWithFlags(stream: *mut Handle, flags: c_uint) -> Status {
    call("hipStreamCreateWithFlags", || {
        if flags > 1 {
            return Err(complain(Fault::InvalidValue, format!("a stream with flags {flags}")));
        }
        let (mut machine, context) = here()?;
        let created = machine.create_stream(context, flags == 0)?;
        put(stream, created)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamIsCapturing(stream: Handle, status: *mut c_int) -> Status {
    call("hipStreamIsCapturing", || {
        let (machine, context) = here()?;
        let is_recording = machine.is_recording(context, stream)?;
        put(status, is_recording.into())
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamBeginCapture(stream: Handle, mode: c_int) -> Status {
    call("hipStreamBeginCapture", || {
        if !(0..=2).contains(&mode) {
            return Err(complain(Fault::InvalidValue, format!("a recording with mode {mode}")));
        }
        let (mut machine, context) = here()?;
        machine.begin_recording(context, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamEndCapture(stream: Handle, graph: *mut Handle) -> Status {
    release("hipStreamEndCapture", || {
        put(graph, 0)?;
        let (mut machine, context) = here()?;
        let recorded = machine.end_recording(context, stream)?;
        put(graph, recorded)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipGraphInstantiate(
    executable: *mut Handle,
    graph: Handle,
    _error_node: *mut Handle,
    log: *mut c_char,
    log_bytes: usize,
) -> Status {
    call("hipGraphInstantiate", || {
        if log.is_null() != (log_bytes == 0) {
            return Err(complain(Fault::InvalidValue, "a log without a size".into()));
        }
        let made = machine().instantiate_graph(graph)?;
        put(executable, made)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipGraphDestroy(graph: Handle) -> Status {
    release("hipGraphDestroy", || machine().destroy_graph(graph, false))
}

#[unsafe(no_mangle)]
extern "C" fn hipGraphLaunch(executable: Handle, stream: Handle) -> Status {
    call("hipGraphLaunch", || {
        let (mut machine, context) = here()?;
        machine.launch_graph(context, executable, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipGraphExecDestroy(executable: Handle) -> Status {
    release("hipGraphExecDestroy", || machine().destroy_graph(executable, true))
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamDestroy(stream: Handle) -> Status {
    release("hipStreamDestroy", || machine().destroy_stream(stream))
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamSynchronize(stream: Handle) -> Status {
    call("hipStreamSynchronize", || {
        let (mut machine, context) = here()?;
        machine.synchronize_stream(context, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> Status {
    call("hipStreamWaitEvent", || {
        if flags != 0 {
            return Err(complain(Fault::InvalidValue, format!("a wait with flags {flags}")));
        }
        let (mut machine, context) = here()?;
        machine.wait_event(context, stream, event)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventCreateWithFlags(event: *mut Handle, flags: c_uint) -> Status {
    call("hipEventCreateWithFlags", || {
        if !matches!(flags, 0 | EVENT_WITHOUT_TIME) {
            return Err(complain(Fault::InvalidValue, format!("an event with flags {flags}")));
        }
        let (mut machine, context) = here()?;
        let created = machine.create_event(context, flags != EVENT_WITHOUT_TIME)?;
        put(event, created)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventRecord(event: Handle, stream: Handle) -> Status {
    call("hipEventRecord", || {
        let (mut machine, context) = here()?;
        machine.record_event(context, event, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventSynchronize(event: Handle) -> Status {
    call("hipEventSynchronize", || machine().synchronize_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn hipEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status {
    call("hipEventElapsedTime", || {
        let time = machine().elapsed(start, end)?;
        put(milliseconds, time)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventDestroy(event: Handle) -> Status {
    release("hipEventDestroy", || machine().destroy_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn hipModuleLoadData(module: *mut Handle, image: *const c_void) -> Status {
    call("hipModuleLoadData", || {
        let (mut machine, context) = here()?;
        if !image.addr().is_multiple_of(8) {
            return Err(complain(Fault::InvalidValue, "a code object that is not aligned".into()));
        }
        // SAFETY: the library passes a complete image.
        let kernels = unsafe { image::kernels(image) }.map_err(|(fault, _)| fault)?;
        let loaded = machine.load_module(context, kernels)?;
        put(module, loaded)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipModuleUnload(module: Handle) -> Status {
    release("hipModuleUnload", || {
        let (mut machine, context) = here()?;
        machine.unload_module(context, module)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Status {
    call("hipModuleGetFunction", || {
        // SAFETY: the library passes a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Fault::NotFound)?;
        let found = machine().find_function(module, name)?;
        put(function, found)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared_bytes: c_uint,
    stream: Handle,
    parameters: *const *const c_void,
    extra: *const *const c_void,
) -> Status {
    call("hipModuleLaunchKernel", || {
        let (mut machine, context) = here()?;
        let kernel = machine.function(function)?.kernel;
        if !parameters.is_null() {
            return Err(complain(
                Fault::InvalidValue,
                "a launch with parameters beside `extra`".into(),
            ));
        }
        // SAFETY: the library passes a list that ends in 3, with a buffer of the size in it.
        let arguments = unsafe { unpack(kernel, buffer(extra)?) }?;
        let geometry = Geometry {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared_bytes,
            ..Geometry::default()
        };
        machine.launch(context, stream, function, geometry, arguments)
    })
}

/// Returns the argument buffer and its size from the list `extra`.
///
/// # Safety
/// The list must be null or end in 3; its pointers must be valid.
unsafe fn buffer(extra: *const *const c_void) -> Outcome<(*const u8, usize)> {
    let malformed =
        |text: &str| complain(Fault::InvalidValue, format!("a launch whose `extra` {text}"));
    if extra.is_null() {
        return Err(malformed("is null"));
    }
    // SAFETY: the caller's promise.
    unsafe {
        if [0, 2, 4].map(|index| extra.add(index).read().addr()) != [1, 2, 3] {
            return Err(malformed("has unknown tags"));
        }
        let (buffer, bytes) =
            (extra.add(1).read().cast::<u8>(), extra.add(3).read().cast::<usize>());
        if buffer.is_null() || bytes.is_null() || !buffer.addr().is_multiple_of(8) {
            return Err(malformed("has a null or unaligned buffer"));
        }
        Ok((buffer, bytes.read()))
    }
}

/// Reads the arguments of a kernel, each aligned to its size.
///
/// # Safety
/// The buffer must have `bytes` bytes.
unsafe fn unpack(
    kernel: &Kernel,
    (buffer, bytes): (*const u8, usize),
) -> Outcome<[u64; MAX_PARAMETERS]> {
    let mut arguments = [0; MAX_PARAMETERS];
    let mut used = 0usize;
    for (parameter, argument) in kernel.parameters.iter().zip(&mut arguments) {
        let start = used.next_multiple_of(parameter.bytes());
        used = start + parameter.bytes();
        if used > bytes {
            break;
        }
        // SAFETY: the argument is in the buffer.
        *argument = unsafe {
            match parameter.bytes() {
                4 => u64::from(buffer.add(start).cast::<u32>().read_unaligned()),
                _ => buffer.add(start).cast::<u64>().read_unaligned(),
            }
        };
    }
    if used != bytes {
        let text = format!("{} takes {used} bytes of arguments or more, not {bytes}", kernel.name);
        return Err(complain(Fault::InvalidValue, text));
    }
    Ok(arguments)
}

/// Returns and clears the last error of this thread. Never fails, and is not included in the
/// counts.
#[unsafe(no_mangle)]
extern "C" fn hipGetLastError() -> Status {
    LAST_ERROR.replace(0)
}

#[unsafe(no_mangle)]
extern "C" fn hipGetErrorString(error: Status) -> *const c_char {
    let text = match error {
        0 => c"no error",
        1 => c"invalid argument",
        2 => c"out of memory",
        3 => c"initialization error",
        4 => c"driver shutting down",
        9 => c"invalid configuration argument",
        100 => c"no ROCm-capable device is detected",
        101 => c"invalid device ordinal",
        200 => c"device kernel image is invalid",
        201 => c"invalid device context",
        209 => c"no kernel image is available for execution on the device",
        400 => c"invalid resource handle",
        500 => c"named symbol not found",
        900 => c"operation not permitted when stream is capturing",
        901 => c"operation failed due to a previous error during capture",
        700 => c"an illegal memory access was encountered",
        _ => c"unknown error",
    };
    text.as_ptr()
}
