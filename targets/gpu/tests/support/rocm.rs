//! The driver of the ROCm tests: the real one if an AMD GPU is found, otherwise the stand-in. Also
//! fixtures and tensors for the tests.
use core::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_alloc_ext::env::stream;
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, Bytes, Function, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::{Layout, Payload};
use ferrite_gpu::rocm::Rocm;

pub use super::calls::*;
pub use super::stand_in;
use super::stand_in::{Library, Live, StandIn};

pub const HERE: DLDevice = DLDevice { device_type: 10, device_id: 0 };
pub const SECOND: DLDevice = DLDevice { device_type: 10, device_id: 1 };
pub const PINNED: DLDevice = DLDevice { device_type: 11, device_id: 0 };

/// Module from TVM's compiler, for gfx1100.
pub const FIXTURE: &[u8] = include_bytes!("../../../../tests/programs/device/payloads/hip.bin");

/// Names of the driver's functions.
pub mod names {
    use core::ffi::CStr;

    pub const ALLOCATE_FROM_POOL: &CStr = c"hipMallocFromPoolAsync";
    pub const FREE_TO_POOL: &CStr = c"hipFreeAsync";
    pub const CREATE_POOL: &CStr = c"hipMemPoolCreate";
    pub const TRIM_POOL: &CStr = c"hipMemPoolTrimTo";
    pub const ALLOCATE: &CStr = c"hipMalloc";
    pub const FREE: &CStr = c"hipFree";
    pub const SYNCHRONIZE_DEVICE: &CStr = c"hipDeviceSynchronize";
    pub const SYNCHRONIZE_STREAM: &CStr = c"hipStreamSynchronize";
    pub const CREATE_EVENT: &CStr = c"hipEventCreateWithFlags";
    pub const RECORD_EVENT: &CStr = c"hipEventRecord";
    pub const WAIT_FOR_EVENT: &CStr = c"hipStreamWaitEvent";
    pub const DESTROY_EVENT: &CStr = c"hipEventDestroy";
}

/// Part of the error of a command that cannot be recorded.
pub const NOT_RECORDED: &str = "hipMalloc failed";

/// File names of the driver library.
pub const NAMES: [&CStr; 4] =
    [c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5", c"libamdhip64.so"];

/// Opens the driver of this machine if it has a device.
pub fn open_real() -> Option<Library> {
    let library = NAMES.iter().find_map(|name| Library::open(name))?;
    let mut count = 0;
    // SAFETY: the types are those of HIP.
    let has_device = unsafe {
        library.function::<extern "C" fn(u32) -> c_int>(c"hipInit")(0) == 0
            && library.function::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"hipGetDeviceCount")(
                &mut count,
            ) == 0
            && count > 0
    };
    if !has_device {
        library.close();
    }
    has_device.then_some(library)
}

/// Makes the stand-in the driver of this process, with this many devices. No driver may be open
/// yet.
pub fn open_stand_in(devices: c_int) -> StandIn {
    let path = ferrite_tests::stand_in("hip", "libamdhip64.so.7").expect("the stand-in builds");
    let stand_in = StandIn::open(&path);
    stand_in.reset(devices);
    stand_in
}

/// Returns the stand-in; `None` if the tests run on a GPU.
fn driver() -> Option<StandIn> {
    static DRIVER: OnceLock<Option<StandIn>> = OnceLock::new();
    *DRIVER.get_or_init(|| {
        if std::env::var_os("FERRITE_TEST_DRIVER").is_none_or(|value| value != "stand-in")
            && open_real().is_some()
        {
            eprintln!("ROCm tests run on the GPU of this machine");
            return None;
        }
        eprintln!("ROCm tests run on the stand-in: no AMD GPU was found");
        Some(open_stand_in(2))
    })
}

/// Guard of a running test: excludes other tests, and checks at its end that nothing leaked.
pub struct Session {
    /// The stand-in; `None` on a GPU.
    pub stand_in: Option<StandIn>,
    live: Live,
    _running: MutexGuard<'static, ()>,
}

impl Session {
    /// Begins a test, with device 0 as the current one and the default stream.
    pub fn begin() -> Session {
        static RUNNING: Mutex<()> = Mutex::new(());
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let stand_in = driver();
        ferrite_gpu::install();
        ferrite_gpu::functions::install();
        let live = stand_in.map(|stand_in| stand_in.live()).unwrap_or_default();
        Rocm.set_device(0).expect("device 0");
        set_stream(core::ptr::null_mut());
        Session { stand_in, live, _running: running }
    }

    /// Begins a test that queries the stand-in. Returns `None` on a GPU, and prints that the test
    /// does not run.
    pub fn on_stand_in(test: &str) -> Option<(Session, StandIn)> {
        let session = Session::begin();
        if session.stand_in.is_none() {
            println!("not run on a GPU: {test}");
        }
        let stand_in = session.stand_in?;
        Some((session, stand_in))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let (Some(stand_in), false) = (self.stand_in, std::thread::panicking()) {
            stand_in.fail(0, 0);
            assert_eq!(stand_in.complaint(), None);
            assert_eq!(stand_in.live(), self.live, "objects that live after the test, and before");
        }
    }
}

pub fn load(bytes: &[u8]) -> Result<Module> {
    DeviceModule::<Rocm>::load(Bytes::new(bytes)?)
}

/// Returns a kernel of the fixture.
pub fn kernel(name: &str) -> Result<Function> {
    function(&load(FIXTURE)?, name)
}

/// Returns the kernel that adds one.
pub fn adding_kernel() -> Result<Function> {
    kernel("add_one_kernel")
}

/// Begins a test that queries the stand-in, as `Session::on_stand_in` does.
pub fn begin_on_stand_in(test: &str) -> Option<(Session, StandIn)> {
    Session::on_stand_in(test)
}

/// Waits for the device, and checks that no command failed.
pub fn wait_for_all(driver: StandIn) {
    // SAFETY: the type is that of the driver.
    let status =
        unsafe { driver.function::<extern "C" fn() -> c_int>(names::SYNCHRONIZE_DEVICE)() };
    assert_eq!(status, 0, "a command failed");
}

/// Returns the code object of the fixture.
pub fn code_object() -> Result<Vec<u8>> {
    Ok(Payload::read(&Layout::HIP, Bytes::new(FIXTURE)?)?.code().to_vec())
}

/// Returns the code object of the fixture with one name replaced by another of the same length.
pub fn code_object_with(from: &str, to: &str) -> Result<Vec<u8>> {
    assert_eq!(from.len(), to.len());
    let mut code = code_object()?;
    for at in 0..code.len() - from.len() {
        if code[at..].starts_with(from.as_bytes()) {
            code[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    Ok(code)
}

/// Sets the calling thread's stream on device 0.
pub fn set_stream(handle: *mut c_void) {
    // SAFETY: the tests keep their streams while they are set.
    unsafe { stream::set(stream::DeviceKey::new(10, 0), handle) }.expect("a stream");
}

/// Waits for the calling thread's stream on a device.
pub fn wait_on(device: DLDevice) -> Result<()> {
    let current = stream::get(stream::DeviceKey::new(10, device.device_id));
    // SAFETY: the stream is that of the device.
    unsafe { Rocm.synchronize(device.device_id, current) }
}

pub fn wait() -> Result<()> {
    wait_on(HERE)
}

/// Returns a result. If it is an error of a copy or its wait, waits again first, since main memory
/// must stay valid until the copy is complete.
fn settled<T>(device: DLDevice, result: Result<T>) -> Result<T> {
    if result.is_err() {
        let _ = wait_on(device);
    }
    result
}

/// Returns a tensor on a device with these values.
pub fn on(device: DLDevice, values: &[f32]) -> Result<Tensor> {
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, F32, device)?);
    settled(device, copy(&host, &there).and_then(|()| wait_on(device)))?;
    Ok(there)
}

pub fn values_of(tensor: &Tensor) -> Result<Vec<f32>> {
    let mut values = vec![0f32; tensor.shape().iter().product::<i64>() as usize];
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let (target, bytes) = (
        Any::from(unsafe { OpaquePtr::new(values.as_mut_ptr().cast()) }),
        (values.len() * 4) as i64,
    );
    let copied = global("runtime.TVMTensorCopyToBytes")?.call_packed(&[
        tensor.into(),
        target.view(),
        bytes.into(),
    ]);
    settled(tensor.device(), copied)?;
    Ok(values)
}
