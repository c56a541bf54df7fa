//! What the tests of CUDA share: the driver, which is a real one where a GPU is found and otherwise the stand-in of
//! `tests/programs/device/stand_in`, the fixtures, and tensors.
#![allow(dead_code, reason = "each program uses a part")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ferrite_alloc_ext::device;
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::{Error, Result};
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::cuda::Cuda;
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::Writer;

pub const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
pub const F64: DLDataType = DLDataType { code: 2, bits: 64, lanes: 1 };
pub const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
pub const I64: DLDataType = DLDataType { code: 0, bits: 64, lanes: 1 };
pub const U32: DLDataType = DLDataType { code: 1, bits: 32, lanes: 1 };
pub const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
pub const HERE: DLDevice = DLDevice { device_type: 2, device_id: 0 };
pub const PINNED: DLDevice = DLDevice { device_type: 3, device_id: 0 };
pub const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// The modules that TVM compiled, of source, PTX and machine code.
pub const SOURCE_MODULE: &[u8] = include_bytes!("../../../../tests/programs/device/payloads/cuda.bin");
pub const PTX_MODULE: &[u8] = include_bytes!("../../../../tests/programs/device/payloads/cuda_ptx.bin");
pub const CUBIN_MODULE: &[u8] = include_bytes!("../../../../tests/programs/device/cuda/module_cubin.bin");

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

const RTLD_NOW: c_int = 2;

/// The driver under the tests.
pub struct Driver {
    library: *mut c_void,
    /// Whether it is the stand-in.
    pub is_stand_in: bool,
}

// SAFETY: the handle of a library may be used from any thread.
unsafe impl Send for Driver {}
// SAFETY: as for Send.
unsafe impl Sync for Driver {}

/// The sizes and attributes of a launch, as the stand-in saw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Geometry {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub cluster: [u32; 3],
    pub preferred_cluster: [u32; 3],
    pub is_programmatic: u32,
    pub is_cooperative: u32,
}

/// Objects that live on the stand-in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Live {
    pub blocks: u64,
    pub pinned: u64,
    pub streams: u64,
    pub events: u64,
    pub modules: u64,
}

impl Driver {
    /// Opens the real driver if it has a device, otherwise the stand-in. `FERRITE_TEST_DRIVER=stand-in` chooses that.
    pub fn open() -> Driver {
        let is_wanted = std::env::var_os("FERRITE_TEST_DRIVER").is_none_or(|value| value != "stand-in");
        if is_wanted && let Some(library) = open_real() {
            eprintln!("CUDA tests run on the real driver of this machine");
            return Driver { library, is_stand_in: false };
        }
        let path = ferrite_tests::stand_in("cuda", "libcuda.so.1").expect("the stand-in builds");
        eprintln!("CUDA tests run on the stand-in: no GPU was found");
        let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
        // SAFETY: the stand-in has no initialisers of its own.
        let library = unsafe { dlopen(path.as_ptr(), RTLD_NOW) };
        assert!(!library.is_null(), "the stand-in opens");
        let driver = Driver { library, is_stand_in: true };
        driver.reset(2);
        driver
    }

    /// A function of the driver.
    ///
    /// # Safety
    /// `F` must be its type.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the name ends in a NUL.
        let address = unsafe { dlsym(self.library, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        // SAFETY: the caller says that this is the type.
        unsafe { core::mem::transmute_copy(&address) }
    }

    pub fn reset(&self, devices: c_int) {
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<extern "C" fn(c_int)>(c"stand_in_reset")(devices) }
    }

    /// Makes the `call`-th call from now fail.
    pub fn fail(&self, call: u64, code: c_int) {
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<extern "C" fn(u64, c_int)>(c"stand_in_fail")(call, code) }
    }

    /// The call that failed on request.
    pub fn failed(&self) -> Option<std::string::String> {
        let mut name = [0u8; 128];
        // SAFETY: the type is that of the stand-in.
        let failed = unsafe {
            let ask = self.function::<unsafe extern "C" fn(*mut u8, usize) -> c_int>(c"stand_in_failed");
            ask(name.as_mut_ptr(), name.len())
        };
        (failed != 0).then(|| text(&name))
    }

    /// Calls of a function since the start.
    pub fn calls(&self, name: &CStr) -> u64 {
        // SAFETY: the type is that of the stand-in.
        unsafe {
            self.function::<unsafe extern "C" fn(*const c_char) -> u64>(c"stand_in_calls")(name.as_ptr())
        }
    }

    /// The first complaint, with how many there were; forgets all, and errors of kernels.
    pub fn complaint(&self) -> Option<std::string::String> {
        let mut first = [0u8; 512];
        // SAFETY: the type is that of the stand-in.
        let count = unsafe {
            let ask = self.function::<unsafe extern "C" fn(*mut u8, usize) -> u64>(c"stand_in_complaints");
            ask(first.as_mut_ptr(), first.len())
        };
        (count != 0).then(|| format!("{count} complaints: {}", text(&first)))
    }

    pub fn live(&self) -> Live {
        let mut live = Live::default();
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<unsafe extern "C" fn(*mut Live)>(c"stand_in_live")(&mut live) };
        live
    }

    pub fn number(&self, name: &CStr) -> u64 {
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<extern "C" fn() -> u64>(name)() }
    }

    pub fn limit_memory(&self, bytes: u64) {
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<extern "C" fn(u64)>(c"stand_in_limit_memory")(bytes) }
    }

    /// The last launch, with its stream.
    pub fn last_launch(&self) -> (Geometry, u64) {
        let mut geometry = Geometry::default();
        // SAFETY: the type is that of the stand-in.
        let stream = unsafe {
            self.function::<unsafe extern "C" fn(*mut Geometry) -> u64>(c"stand_in_last_launch")(
                &mut geometry,
            )
        };
        (geometry, stream)
    }

    /// A context that is not the primary one.
    pub fn foreign_context(&self, device: c_int) -> u64 {
        // SAFETY: the type is that of the stand-in.
        unsafe { self.function::<extern "C" fn(c_int) -> u64>(c"stand_in_foreign_context")(device) }
    }

    pub fn current_context(&self) -> u64 {
        let mut context = 0;
        // SAFETY: the type is that of the driver.
        let status = unsafe {
            self.function::<unsafe extern "C" fn(*mut u64) -> c_int>(c"cuCtxGetCurrent")(&mut context)
        };
        assert_eq!(status, 0);
        context
    }

    pub fn set_current_context(&self, context: u64) {
        // SAFETY: the type is that of the driver.
        assert_eq!(unsafe { self.function::<extern "C" fn(u64) -> c_int>(c"cuCtxSetCurrent")(context) }, 0);
    }

    /// The primary context of a device, retained as another library does.
    pub fn retain_primary(&self, device: c_int) -> u64 {
        let mut context = 0;
        // SAFETY: the type is that of the driver.
        let status = unsafe {
            let retain =
                self.function::<unsafe extern "C" fn(*mut u64, c_int) -> c_int>(c"cuDevicePrimaryCtxRetain");
            retain(&mut context, device)
        };
        assert_eq!(status, 0);
        context
    }
}

/// The driver of this machine, if it has a device.
fn open_real() -> Option<*mut c_void> {
    // SAFETY: the types are those of libcuda.
    unsafe {
        let library = dlopen(c"libcuda.so.1".as_ptr(), RTLD_NOW);
        if library.is_null() {
            return None;
        }
        let driver = Driver { library, is_stand_in: false };
        let mut count = 0;
        let has_device = driver.function::<extern "C" fn(u32) -> c_int>(c"cuInit")(0) == 0
            && driver.function::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"cuDeviceGetCount")(&mut count)
                == 0
            && count > 0;
        if !has_device {
            dlclose(library);
        }
        has_device.then_some(library)
    }
}

fn text(bytes: &[u8]) -> std::string::String {
    std::string::String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
        .into_owned()
}

/// One test at a time, which must leave nothing behind.
pub struct Session {
    pub driver: &'static Driver,
    live: Live,
    _alone: MutexGuard<'static, ()>,
}

impl Session {
    /// Begins a test, with device 0 as the current one.
    pub fn begin() -> Session {
        static ALONE: Mutex<()> = Mutex::new(());
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = DRIVER.get_or_init(Driver::open);
        ferrite_gpu::install();
        ferrite_gpu::functions::install();
        let live = if driver.is_stand_in { driver.live() } else { Live::default() };
        device::Backend::set_device(&Cuda, 0).expect("device 0");
        Session { driver, live, _alone: alone }
    }

    /// Begins a test that asks the stand-in what it saw; says so where the driver is a real one.
    pub fn on_stand_in(test: &str) -> Option<Session> {
        let session = Session::begin();
        if !session.driver.is_stand_in {
            println!("not run on a real driver: {test}");
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
            assert_eq!(self.driver.live(), self.live, "objects that live after the test, and before");
        }
    }
}

pub fn load(bytes: &[u8]) -> Result<Module> {
    DeviceModule::<Cuda>::load(Bytes::new(bytes)?)
}

/// The payload of a module of one kernel.
pub fn payload_of(
    format: &str,
    code: &[u8],
    name: &str,
    types: &[DLDataType],
    tags: &[&str],
) -> Result<Bytes> {
    payload_with_extra_tags(format, code, name, types, tags, &[])
}

pub fn payload_with_extra_tags(
    format: &str,
    code: &[u8],
    name: &str,
    types: &[DLDataType],
    tags: &[&str],
    extra_tags: &[u32],
) -> Result<Bytes> {
    let mut payload = Writer::new();
    payload.text(format.as_bytes())?;
    payload.count(1)?;
    payload.kernel_name(name.as_bytes())?;
    payload.count(types.len())?;
    types.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(tags.len())?;
    tags.iter().try_for_each(|tag| payload.text(tag.as_bytes()))?;
    payload.count(extra_tags.len())?;
    extra_tags.iter().try_for_each(|tag| payload.word(*tag))?;
    payload.text(code)?;
    payload.finish()
}

pub fn function(module: &Module, name: &str) -> Result<Function> {
    Ok(module.get_function(&String::new(name)?, false)?.expect("the module has the function"))
}

pub fn kernel_of(bytes: &[u8], name: &str) -> Result<Function> {
    function(&load(bytes)?, name)
}

pub fn global(name: &str) -> Result<Function> {
    Ok(Function::global(name)?.expect("a global function"))
}

pub fn message(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message()).into_owned()
}

/// The message of an error of a kind.
pub fn refused<T>(result: Result<T>, kind: &str) -> std::string::String {
    let error = result.map(drop).expect_err("an error");
    assert_eq!(std::str::from_utf8(error.kind()), Ok(kind), "{}", message(&error));
    message(&error)
}

pub fn on(device: DLDevice, values: &[f32]) -> Result<Tensor> {
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, F32, device)?);
    // A copy that nobody could wait for still reads the memory.
    copy(&host, &there).and_then(|()| wait()).inspect_err(|_| core::mem::forget(host.clone()))?;
    Ok(there)
}

pub fn on_device(values: &[f32]) -> Result<Tensor> {
    on(HERE, values)
}

/// Queues a copy on the stream of this thread, as TVM's Python package does.
pub fn copy(from: &Tensor, to: &Tensor) -> Result<()> {
    global("runtime.TVMTensorCopyFromTo")?.call(&[from.into(), to.into()]).map(drop)
}

/// Waits for the stream of this thread on device 0.
pub fn wait() -> Result<()> {
    let stream = ferrite_alloc_ext::env::stream::get(ferrite_alloc_ext::env::stream::DeviceKey::new(2, 0));
    // SAFETY: the stream is that of the device.
    unsafe { device::Backend::synchronize(&Cuda, 0, stream) }
}

pub fn values_of(tensor: &Tensor) -> Result<Vec<f32>> {
    let mut values = vec![0f32; tensor.shape().iter().product::<i64>() as usize];
    let (place, bytes) = (Any::from(values.as_mut_ptr().cast::<c_void>()), (values.len() * 4) as i64);
    match global("runtime.TVMTensorCopyToBytes")?.call(&[tensor.into(), place.view(), bytes.into()]) {
        Ok(_) => Ok(values),
        Err(error) => {
            // A copy that nobody could wait for still writes the memory.
            core::mem::forget(values);
            Err(error)
        }
    }
}

pub fn data(tensor: &Tensor) -> Any {
    Any::from(tensor.dl_tensor().data)
}

pub fn null() -> *mut c_void {
    ptr::null_mut()
}

/// Launches `add_one_kernel` of the fixtures on tensors of 64 elements per block.
pub fn add_one(kernel: &Function, x: &Tensor, y: &Tensor, blocks: i64) -> Result<Any> {
    kernel.call(&[data(x).view(), data(y).view(), blocks.into(), 64i64.into()])
}

/// `a * x + k` for `n` elements.
pub fn axpy(kernel: &Function, x: &Tensor, y: &Tensor, (a, k, n): (f64, i64, i64)) -> Result<Any> {
    let blocks = (n + 63) / 64;
    let args: [AnyView<'_>; 7] =
        [x.into(), y.into(), a.into(), k.into(), n.into(), blocks.into(), 64i64.into()];
    kernel.call(&args)
}
