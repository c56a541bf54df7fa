//! The driver of the CUDA tests: the real one if a GPU is found, otherwise the stand-in. Also
//! fixtures and tensors for the tests.
use core::ffi::{c_int, c_void};
use core::ops::Deref;
use core::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ferrite_alloc_ext::device::{self, Attribute, Backend as _};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, Bytes, Function, String, Tensor};
use ferrite_gpu::cuda::Cuda;
use ferrite_gpu::module::DeviceModule;

pub use super::calls::*;
pub use super::stand_in;
use super::stand_in::{Library, Live, StandIn};

pub const HERE: DLDevice = DLDevice { device_type: 2, device_id: 0 };
pub const PINNED: DLDevice = DLDevice { device_type: 3, device_id: 0 };

// Modules from TVM's compiler with source, PTX and machine code.
pub const SOURCE_MODULE: &[u8] =
    include_bytes!("../../../../tests/programs/device/payloads/cuda.bin");
pub const PTX_MODULE: &[u8] =
    include_bytes!("../../../../tests/programs/device/payloads/cuda_ptx.bin");
pub const CUBIN_MODULE: &[u8] =
    include_bytes!("../../../../tests/programs/device/cuda/module_cubin.bin");

/// Names of the driver's functions.
pub mod names {
    use core::ffi::CStr;

    pub const ALLOCATE_FROM_POOL: &CStr = c"cuMemAllocFromPoolAsync";
    pub const FREE_TO_POOL: &CStr = c"cuMemFreeAsync";
    pub const CREATE_POOL: &CStr = c"cuMemPoolCreate";
    pub const TRIM_POOL: &CStr = c"cuMemPoolTrimTo";
    pub const ALLOCATE: &CStr = c"cuMemAlloc_v2";
    pub const FREE: &CStr = c"cuMemFree_v2";
    pub const SYNCHRONIZE_DEVICE: &CStr = c"cuCtxSynchronize";
    pub const SYNCHRONIZE_STREAM: &CStr = c"cuStreamSynchronize";
    pub const CREATE_EVENT: &CStr = c"cuEventCreate";
    pub const RECORD_EVENT: &CStr = c"cuEventRecord";
    pub const WAIT_FOR_EVENT: &CStr = c"cuStreamWaitEvent";
    pub const DESTROY_EVENT: &CStr = c"cuEventDestroy_v2";
}

/// Part of the error of a command that cannot be recorded.
pub const NOT_RECORDED: &str = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";

/// The driver under test. The control functions are available only if it is the stand-in.
pub struct Driver {
    library: StandIn,
    /// Whether the driver is the stand-in.
    pub is_stand_in: bool,
}

impl Deref for Driver {
    type Target = StandIn;

    fn deref(&self) -> &StandIn {
        &self.library
    }
}

impl Driver {
    /// Opens the real driver if it has a device, otherwise the stand-in, which is cuBLASLt, too.
    /// `FERRITE_TEST_DRIVER=stand-in` forces the stand-in.
    pub fn open() -> Driver {
        let is_wanted =
            std::env::var_os("FERRITE_TEST_DRIVER").is_none_or(|value| value != "stand-in");
        if is_wanted && let Some(library) = open_real() {
            eprintln!("CUDA tests run on the real driver of this machine");
            return Driver { library: StandIn(library), is_stand_in: false };
        }
        let path = ferrite_tests::stand_in("cuda", "libcuda.so.1").expect("the stand-in builds");
        eprintln!("CUDA tests run on the stand-in: no GPU was found");
        // SAFETY: the tests of a program wait for the first one to open the driver.
        unsafe { std::env::set_var("FERRITE_CUBLASLT", &path) };
        let library = StandIn::open(&path);
        library.reset(2);
        Driver { library, is_stand_in: true }
    }

    /// Creates a context other than the primary one.
    pub fn foreign_context(&self, device: c_int) -> u64 {
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<extern "C" fn(c_int) -> u64>(c"stand_in_foreign_context")(device) }
    }

    pub fn current_context(&self) -> u64 {
        let mut context = 0;
        // SAFETY: the type is that of the driver.
        let status = unsafe {
            self.function::<unsafe extern "C" fn(*mut u64) -> c_int>(c"cuCtxGetCurrent")(
                &mut context,
            )
        };
        assert_eq!(status, 0);
        context
    }

    pub fn set_current_context(&self, context: u64) {
        assert_eq!(
            // SAFETY: the type is that of the driver.
            unsafe { self.function::<extern "C" fn(u64) -> c_int>(c"cuCtxSetCurrent")(context) },
            0
        );
    }

    /// Retains the primary context of a device, like another library.
    pub fn retain_primary(&self, device: c_int) -> u64 {
        let mut context = 0;
        // SAFETY: the type is that of the driver.
        let status = unsafe {
            let retain = self.function::<unsafe extern "C" fn(*mut u64, c_int) -> c_int>(
                c"cuDevicePrimaryCtxRetain",
            );
            retain(&mut context, device)
        };
        assert_eq!(status, 0);
        context
    }
}

/// Opens the driver of this machine if it has a device.
fn open_real() -> Option<Library> {
    let library = Library::open(c"libcuda.so.1")?;
    let mut count = 0;
    // SAFETY: the types are those of libcuda.
    let has_device = unsafe {
        library.function::<extern "C" fn(u32) -> c_int>(c"cuInit")(0) == 0
            && library.function::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"cuDeviceGetCount")(
                &mut count,
            ) == 0
            && count > 0
    };
    if !has_device {
        library.close();
    }
    has_device.then_some(library)
}

/// Guard of a running test: excludes other tests, and checks at its end that nothing leaked.
pub struct Session {
    pub driver: &'static Driver,
    live: Live,
    _running: MutexGuard<'static, ()>,
}

impl Session {
    /// Begins a test, with device 0 as the current one.
    pub fn begin() -> Session {
        static RUNNING: Mutex<()> = Mutex::new(());
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = DRIVER.get_or_init(Driver::open);
        ferrite_gpu::install();
        ferrite_gpu::functions::install();
        let live = if driver.is_stand_in { driver.live() } else { Live::default() };
        device::Backend::set_device(&Cuda, 0).expect("device 0");
        Session { driver, live, _running: running }
    }

    /// Begins a test that queries the stand-in. Returns `None` on a real driver, and prints that
    /// the test does not run.
    pub fn on_stand_in(test: &str) -> Option<Session> {
        Some(Session::begin()).filter(|session| session.is_on_stand_in(test))
    }

    /// Returns `false` on a real driver, and prints that the test does not run.
    pub fn is_on_stand_in(&self, test: &str) -> bool {
        if !self.driver.is_stand_in {
            println!("not run on a real driver: {test}");
        }
        self.driver.is_stand_in
    }

    /// Allows the objects that live now to live after the test.
    pub fn count_live_objects(&mut self) {
        if self.driver.is_stand_in {
            self.live = self.driver.live();
        }
    }

    /// Begins a test that needs a GPU with at least this compute capability, such as "9.0". Returns
    /// `None` elsewhere, and prints that the test does not run.
    pub fn on_gpu(test: &str, capability: &str) -> Option<Session> {
        let session = Session::begin();
        let found = Cuda
            .attribute(0, Attribute::ComputeVersion)
            .and_then(|version| version.get::<String>());
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let found = found.expect("a version");
        if session.driver.is_stand_in || number(found.as_str().expect("UTF-8")) < number(capability)
        {
            println!("not run without a GPU of compute capability {capability}: {test}");
            return None;
        }
        Some(session)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.driver.is_stand_in && !std::thread::panicking() {
            self.driver.fail(0, 0);
            assert_eq!(self.driver.complaint(), None);
            assert_eq!(
                self.driver.live(),
                self.live,
                "objects that live after the test, and before"
            );
        }
    }
}

pub fn load(bytes: &[u8]) -> Result<Module> {
    DeviceModule::<Cuda>::load(Bytes::new(bytes)?)
}

pub fn kernel_of(bytes: &[u8], name: &str) -> Result<Function> {
    function(&load(bytes)?, name)
}

/// Returns the kernel that adds one.
pub fn adding_kernel() -> Result<Function> {
    kernel_of(PTX_MODULE, "add_one_kernel")
}

/// Begins a test that queries the stand-in, as `Session::on_stand_in` does, and returns it, too.
pub fn begin_on_stand_in(test: &str) -> Option<(Session, StandIn)> {
    let session = Session::on_stand_in(test)?;
    let driver = session.driver.library;
    Some((session, driver))
}

/// Waits for the device, and checks that no command failed.
pub fn wait_for_all(driver: StandIn) {
    // SAFETY: the type is that of the driver.
    let status =
        unsafe { driver.function::<extern "C" fn() -> c_int>(names::SYNCHRONIZE_DEVICE)() };
    assert_eq!(status, 0, "a command failed");
}

pub fn on(device: DLDevice, values: &[f32]) -> Result<Tensor> {
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, F32, device)?);
    // After a failed wait, the copy may still read the memory.
    copy(&host, &there).and_then(|()| wait()).inspect_err(|_| core::mem::forget(host.clone()))?;
    Ok(there)
}

pub fn on_device(values: &[f32]) -> Result<Tensor> {
    on(HERE, values)
}

/// Waits for the calling thread's stream on device 0.
pub fn wait() -> Result<()> {
    let stream =
        ferrite_alloc_ext::env::stream::get(ferrite_alloc_ext::env::stream::DeviceKey::new(2, 0));
    // SAFETY: the stream is that of the device.
    unsafe { device::Backend::synchronize(&Cuda, 0, stream) }
}

pub fn values_of(tensor: &Tensor) -> Result<Vec<f32>> {
    let mut values = vec![0f32; tensor.shape().iter().product::<i64>() as usize];
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let (target, bytes) = (
        Any::from(unsafe { OpaquePtr::new(values.as_mut_ptr().cast()) }),
        (values.len() * 4) as i64,
    );
    match global("runtime.TVMTensorCopyToBytes")?.call_packed(&[
        tensor.into(),
        target.view(),
        bytes.into(),
    ]) {
        Ok(_) => Ok(values),
        Err(error) => {
            // After a failed wait, the copy may still write the memory.
            core::mem::forget(values);
            Err(error)
        }
    }
}

pub fn null() -> *mut c_void {
    ptr::null_mut()
}
