//! The driver of the ROCm tests, which is a real one where an AMD GPU is found and otherwise the stand-in, and helpers.
#![allow(dead_code, reason = "each program uses a part")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

#[path = "../stand_in/mod.rs"]
pub mod stand_in;

use core::ffi::{CStr, c_int, c_void};
use std::string::String as Text;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_alloc_ext::env::stream;
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::{Error, Result};
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::{Layout, Payload, Writer};
use ferrite_gpu::rocm::Rocm;

use stand_in::{Library, Live, StandIn};

pub const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
pub const F64: DLDataType = DLDataType { code: 2, bits: 64, lanes: 1 };
pub const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
pub const U32: DLDataType = DLDataType { code: 1, bits: 32, lanes: 1 };
pub const I64: DLDataType = DLDataType { code: 0, bits: 64, lanes: 1 };
pub const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
pub const HERE: DLDevice = DLDevice { device_type: 10, device_id: 0 };
pub const SECOND: DLDevice = DLDevice { device_type: 10, device_id: 1 };
pub const PINNED: DLDevice = DLDevice { device_type: 11, device_id: 0 };
pub const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// The module that TVM compiled, for gfx1100.
pub const FIXTURE: &[u8] = include_bytes!("../../../../tests/programs/device/payloads/hip.bin");

/// The names of the driver's library.
pub const NAMES: [&CStr; 4] =
    [c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5", c"libamdhip64.so"];

/// Opens the driver of this machine if it has a device.
pub fn open_real() -> Option<Library> {
    let library = NAMES.iter().find_map(|name| Library::open(name))?;
    let mut count = 0;
    // SAFETY: the types are those of HIP.
    let has_device = unsafe {
        library.function::<extern "C" fn(u32) -> c_int>(c"hipInit")(0) == 0
            && library.function::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"hipGetDeviceCount")(&mut count)
                == 0
            && count > 0
    };
    if !has_device {
        library.close();
    }
    has_device.then_some(library)
}

/// Makes the stand-in the driver of this process, which has not opened one. So many devices.
pub fn open_stand_in(devices: c_int) -> StandIn {
    let path = ferrite_tests::stand_in("hip", "libamdhip64.so.7").expect("the stand-in builds");
    let stand_in = StandIn::open(&path);
    stand_in.reset(devices);
    stand_in
}

/// The stand-in, unless a GPU is found: then that is tested.
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

/// One test at a time, which must leave nothing behind.
pub struct Session {
    /// None on a GPU.
    pub stand_in: Option<StandIn>,
    live: Live,
    _alone: MutexGuard<'static, ()>,
}

impl Session {
    /// Begins a test, with device 0 as the current one and the default stream.
    pub fn begin() -> Session {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let stand_in = driver();
        ferrite_gpu::install();
        ferrite_gpu::functions::install();
        let live = stand_in.map(|stand_in| stand_in.live()).unwrap_or_default();
        Rocm.set_device(0).expect("device 0");
        set_stream(core::ptr::null_mut());
        Session { stand_in, live, _alone: alone }
    }

    /// Begins a test that asks the stand-in for its observations. None on a GPU, which is said.
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

pub fn function(module: &Module, name: &str) -> Result<Function> {
    Ok(module.get_function(&String::new(name)?, false)?.expect("the module has the function"))
}

/// A kernel of the fixture.
pub fn kernel(name: &str) -> Result<Function> {
    function(&load(FIXTURE)?, name)
}

/// The code object of the fixture.
pub fn code_object() -> Result<Vec<u8>> {
    Ok(Payload::read(&Layout::HIP, Bytes::new(FIXTURE)?)?.code().to_vec())
}

/// The payload of a module of one kernel.
pub fn payload_of(
    format: &str,
    code: &[u8],
    name: &str,
    types: &[DLDataType],
    tags: &[&str],
) -> Result<Bytes> {
    let mut payload = Writer::new();
    payload.text(format.as_bytes())?;
    payload.count(1)?;
    payload.kernel_name(name.as_bytes())?;
    payload.count(types.len())?;
    types.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(tags.len())?;
    tags.iter().try_for_each(|tag| payload.text(tag.as_bytes()))?;
    payload.count(0)?;
    payload.text(code)?;
    payload.finish()
}

/// A code object that names a kernel which the fixture does not have: its longest name, replaced by one of that length.
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

pub fn global(name: &str) -> Result<Function> {
    Ok(Function::global(name)?.expect("a global function"))
}

pub fn message(error: &Error) -> Text {
    Text::from_utf8_lossy(error.message()).into_owned()
}

/// The message of an error of a kind.
pub fn refused<T>(result: Result<T>, kind: &str) -> Text {
    let error = result.map(drop).expect_err("an error");
    assert_eq!(std::str::from_utf8(error.kind()), Ok(kind), "{}", message(&error));
    message(&error)
}

/// Sets the stream of this thread on device 0.
pub fn set_stream(handle: *mut c_void) {
    stream::set(stream::DeviceKey::new(10, 0), handle).expect("a stream");
}

/// Queues a copy on the stream of this thread, as TVM's Python package does.
pub fn copy(from: &Tensor, to: &Tensor) -> Result<()> {
    global("runtime.TVMTensorCopyFromTo")?.call(&[from.into(), to.into()]).map(drop)
}

/// Waits for the stream of this thread on a device.
pub fn wait_on(device: DLDevice) -> Result<()> {
    let current = stream::get(stream::DeviceKey::new(10, device.device_id));
    // SAFETY: the stream is that of the device.
    unsafe { Rocm.synchronize(device.device_id, current) }
}

pub fn wait() -> Result<()> {
    wait_on(HERE)
}

/// Waits again where a copy or the wait for it failed: host memory must live until the copy is over.
fn settled<T>(device: DLDevice, result: Result<T>) -> Result<T> {
    if result.is_err() {
        let _ = wait_on(device);
    }
    result
}

/// A tensor on a device with these values.
pub fn on(device: DLDevice, values: &[f32]) -> Result<Tensor> {
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, F32, device)?);
    settled(device, copy(&host, &there).and_then(|()| wait_on(device)))?;
    Ok(there)
}

pub fn values_of(tensor: &Tensor) -> Result<Vec<f32>> {
    let mut values = vec![0f32; tensor.shape().iter().product::<i64>() as usize];
    let (place, bytes) = (Any::from(values.as_mut_ptr().cast::<c_void>()), (values.len() * 4) as i64);
    let copied = global("runtime.TVMTensorCopyToBytes")?.call(&[tensor.into(), place.view(), bytes.into()]);
    settled(tensor.device(), copied)?;
    Ok(values)
}

pub fn data(tensor: &Tensor) -> Any {
    Any::from(tensor.dl_tensor().data)
}

/// Launches `add_one_kernel` on tensors of 64 elements for each block.
pub fn add_one(kernel: &Function, x: &Tensor, y: &Tensor, blocks: i64) -> Result<Any> {
    kernel.call(&[data(x).view(), data(y).view(), blocks.into(), 64i64.into()])
}

/// Launches `axpy_dyn_kernel`: `a * x + k` for `n` elements.
pub fn axpy(kernel: &Function, x: &Tensor, y: &Tensor, (a, k, n): (f64, i64, i64)) -> Result<Any> {
    let blocks = (n + 63) / 64;
    let args: [AnyView<'_>; 7] =
        [x.into(), y.into(), a.into(), k.into(), n.into(), blocks.into(), 64i64.into()];
    kernel.call(&args)
}
