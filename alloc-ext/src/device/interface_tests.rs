//! Tests of the safe Rust API, with a back end in main memory that logs its calls.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::time::Duration;
use std::string::{String, ToString};
use std::sync::Mutex;
use std::vec::Vec;
use std::{format, vec};

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::tensor::Element;
use ferrite_core::value::device;
use ferrite_core::{Any, Tensor, plain_bail};

use super::*;

/// Logged calls with their device ids. Each test uses a separate device.
static LOG: Mutex<Vec<(i32, String)>> = Mutex::new(Vec::new());

const DEVICES: i32 = 16;

struct Logging(i32);

static ONE: &dyn Backend = &Logging(device::kind::ONE_API);
static OTHER: &dyn Backend = &Logging(device::kind::MAIA);

fn log(id: i32, what: String) {
    LOG.lock().unwrap().push((id, what));
}

fn logged(device: Device) -> Vec<String> {
    let mut log = LOG.lock().unwrap();
    let found =
        log.iter().filter(|(id, _)| *id == device.id()).map(|(_, what)| what.clone()).collect();
    log.retain(|(id, _)| *id != device.id());
    found
}

/// Returns a device of the logging back end. Each test passes a different id.
fn device_of(id: i32) -> Device {
    register(&ONE).unwrap();
    register(&OTHER).unwrap();
    Device::new(device::kind::ONE_API, id)
}

impl Logging {
    fn check(&self, id: i32) -> Result<()> {
        if !(0..DEVICES).contains(&id) {
            plain_bail!(VALUE_ERROR, "no device {}", id);
        }
        Ok(())
    }
}

// SAFETY: memory is a block of the global allocator; all work is done at once.
unsafe impl Backend for Logging {
    fn device_type(&self) -> i32 {
        self.0
    }

    fn set_device(&self, id: i32) -> Result<()> {
        log(id, "set device".to_string());
        self.check(id)
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        self.check(id)?;
        // The length is stored in front of the block.
        let mut block = vec![0u64; bytes.div_ceil(8) + 1];
        block[0] = block.len() as u64;
        // SAFETY: the block has another word after the length, or ends there.
        Ok(unsafe { Vec::leak(block).as_mut_ptr().add(1) }.cast())
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        log(id, "free".to_string());
        // SAFETY: `allocate` leaked the block, with its length in front.
        unsafe {
            let start = data.cast::<u64>().sub(1);
            drop(Vec::from_raw_parts(start, *start as usize, *start as usize));
        }
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        let id = if from.device.device_type == self.0 {
            from.device.device_id
        } else {
            to.device.device_id
        };
        log(id, format!("copy {bytes} on {}", stream.addr()));
        // SAFETY: the caller guarantees the regions, which are all in main memory here.
        unsafe {
            let to = to.data.cast::<u8>().add(to.offset);
            to.copy_from(from.data.cast::<u8>().add(from.offset), bytes);
        }
        Ok(())
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        log(id, format!("synchronize {}", stream.addr()));
        self.check(id)
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        if attribute == Attribute::Exists {
            return Ok(i64::from(self.check(id).is_ok()).into());
        }
        self.check(id)?;
        Ok(match attribute {
            Attribute::DeviceName => ferrite_core::String::new("a device that logs")?.into(),
            Attribute::WarpSize => 32i64.into(),
            _ => Any::NONE,
        })
    }

    fn create_stream(&self, id: i32) -> Result<*mut c_void> {
        self.check(id)?;
        Ok(ptr::without_provenance_mut(1000))
    }

    unsafe fn free_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        log(id, format!("free stream {}", stream.addr()));
        Ok(())
    }

    unsafe fn order_streams(&self, id: i32, before: *mut c_void, after: *mut c_void) -> Result<()> {
        log(id, format!("{} after {}", after.addr(), before.addr()));
        Ok(())
    }

    unsafe fn set_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        log(id, format!("set {}", stream.addr()));
        Ok(())
    }

    fn create_event(&self, id: i32, timing: bool) -> Result<NonNull<c_void>> {
        self.check(id)?;
        log(id, format!("event, timing {timing}"));
        Ok(NonNull::dangling())
    }

    unsafe fn free_event(&self, id: i32, _: NonNull<c_void>) {
        log(id, "free event".to_string());
    }

    unsafe fn record_event(&self, id: i32, _: NonNull<c_void>, stream: *mut c_void) -> Result<()> {
        log(id, format!("record on {}", stream.addr()));
        Ok(())
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        _: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        log(id, format!("{} after an event", stream.addr()));
        Ok(())
    }

    unsafe fn synchronize_event(&self, id: i32, _: NonNull<c_void>) -> Result<()> {
        log(id, "synchronize event".to_string());
        Ok(())
    }

    unsafe fn elapsed(
        &self,
        _: i32,
        _: NonNull<c_void>,
        _: NonNull<c_void>,
    ) -> Result<Option<Duration>> {
        Ok(Some(Duration::from_micros(7)))
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        Ok(NonNull::new(self.allocate(id, bytes, 64)?).unwrap())
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free(id, workspace.as_ptr()) };
        Ok(())
    }
}

fn kind_of<T>(result: Result<T>) -> String {
    String::from_utf8(result.map(drop).unwrap_err().kind_bytes().to_vec()).unwrap()
}

#[test]
fn devices_tell_of_themselves() {
    let device = device_of(0);
    assert!(device.exists() && Device::CPU.exists());
    assert_eq!(device.name().unwrap().unwrap().as_bytes(), b"a device that logs");
    assert_eq!(device.attribute(Attribute::WarpSize).unwrap().get::<i64>().unwrap(), 32);
    assert!(device.attribute(Attribute::GcnArch).unwrap().is_none());
    assert_eq!((device.to_string(), device.type_name()), ("oneapi:0".to_string(), "oneapi"));
    assert_eq!("cuda:1".parse::<Device>().unwrap(), Device::new(device::kind::CUDA, 1));
    assert_eq!(kind_of("toaster".parse::<Device>()), "ValueError");
    assert_eq!(Device::all_of_type(device::kind::ONE_API).count(), DEVICES as usize);
    assert_eq!(
        Device::all().filter(|one| one.device_type() == device::kind::ONE_API).count(),
        DEVICES as usize
    );
    assert_eq!(Device::CPU.name().unwrap(), None);
    device.make_current().unwrap();
    assert_eq!(logged(device), ["set device"]);
}

#[test]
fn devices_that_do_not_exist_are_errors() {
    let (beyond, unserved) = (device_of(DEVICES), Device::new(device::kind::TRN, 0));
    for (missing, kind) in [(beyond, "ValueError"), (unserved, "InternalError")] {
        assert!(!missing.exists());
        assert_eq!(kind_of(missing.name()), kind);
        assert_eq!(kind_of(missing.make_current()), kind);
        assert_eq!(kind_of(missing.synchronize()), kind);
        assert_eq!(kind_of(DeviceTensor::from_slice(missing, &[1u8], &[1])), kind);
        assert_eq!(kind_of(Stream::new(missing)), kind);
        assert_eq!(kind_of(Event::new(missing)), kind);
    }
}

#[test]
fn tensors_go_there_and_back() {
    let device = device_of(1);
    let tensor = DeviceTensor::from_slice(device, &[1i32, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    assert_eq!(
        (tensor.device(), tensor.shape(), tensor.dtype()),
        (device, &[2i64, 3][..], i32::DTYPE)
    );
    assert_eq!(logged(device), ["copy 24 on 0", "synchronize 0"]);
    assert_eq!(*tensor.read::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
    tensor.copy_from_slice(&[6i32, 5, 4, 3, 2, 1]).unwrap();
    let other = DeviceTensor::empty(device, &[6], i32::DTYPE).unwrap();
    logged(device);
    other.copy_from(&tensor).unwrap();
    assert_eq!(logged(device), ["copy 24 on 0"], "a copy on the device is not waited for");
    let mut elements = [0i32; 6];
    other.read_into(&mut elements).unwrap();
    assert_eq!(elements, [6, 5, 4, 3, 2, 1]);
    let here = tensor.to_device(Device::CPU).unwrap();
    assert_eq!(here.as_tensor().as_slice::<i32>().unwrap(), elements);
    other.copy_from(&DeviceTensor::from_slice(Device::CPU, &[7i32; 6], &[6]).unwrap()).unwrap();
    assert_eq!(other.read::<i32>().unwrap().to_vec(), [7; 6]);
    // To another device of the type, and through main memory to a device of another type.
    for target in [device_of(2), Device::new(device::kind::MAIA, 2)] {
        assert_eq!(*other.to_device(target).unwrap().read::<i32>().unwrap(), [7; 6]);
    }
    logged(device);
    drop((tensor, other));
    assert_eq!(logged(device), ["free", "free"]);
}

#[test]
fn elements_of_another_type_or_number_are_errors() {
    let device = device_of(3);
    let tensor = DeviceTensor::from_slice(device, &[1f32, 2.0], &[2]).unwrap();
    assert_eq!(kind_of(tensor.read::<f64>()), "TypeError");
    assert_eq!(kind_of(tensor.read_into(&mut [0i32; 2])), "TypeError");
    assert_eq!(kind_of(tensor.read_into(&mut [0f32; 3])), "ValueError");
    assert_eq!(kind_of(tensor.copy_from_slice(&[0f32; 1])), "ValueError");
    assert_eq!(kind_of(tensor.copy_from_slice(&[0u8; 8])), "TypeError");
    assert_eq!(kind_of(DeviceTensor::from_slice(device, &[1f32], &[2])), "ValueError");
    assert_eq!(kind_of(DeviceTensor::from_slice(device, &[1f32], &[-1])), "ValueError");
    let other = DeviceTensor::from_slice(device, &[1i32, 2], &[2]).unwrap();
    assert_eq!(kind_of(tensor.copy_from(&other)), "ValueError");
    let larger = DeviceTensor::from_slice(device, &[1f32; 3], &[3]).unwrap();
    assert_eq!(kind_of(tensor.copy_from(&larger)), "ValueError");
    assert_eq!(*tensor.read::<f32>().unwrap(), [1.0, 2.0]);
    let empty = DeviceTensor::from_slice::<f32>(device, &[], &[0, 3]).unwrap();
    assert!(empty.read::<f32>().unwrap().is_empty());
}

#[test]
fn main_memory_is_not_written_in_place() {
    let here = DeviceTensor::from_slice(Device::CPU, &[1f32, 2.0], &[2]).unwrap();
    let borrowed = here.as_tensor().as_slice::<f32>().unwrap();
    assert_eq!(kind_of(here.copy_from_slice(&[0f32; 2])), "ValueError");
    assert_eq!(kind_of(here.copy_from(&here)), "ValueError");
    assert_eq!(borrowed, [1.0, 2.0]);
}

#[test]
fn copies_borrow_their_source() {
    let device = device_of(15);
    let here = DeviceTensor::from_slice(Device::CPU, &[1i32, 2], &[2]).unwrap();
    let there = DeviceTensor::empty(device, &[2], i32::DTYPE).unwrap();
    let elements = here.as_tensor().borrow_mut::<i32>().unwrap();
    assert_eq!(kind_of(there.copy_from(&here)), "RuntimeError");
    assert_eq!(kind_of(here.to_device(device)), "RuntimeError");
    assert_eq!(kind_of(here.read::<i32>().map(drop)), "RuntimeError");
    assert_eq!(kind_of(here.read_into(&mut [0i32; 2])), "RuntimeError");
    drop(elements);
    there.copy_from(&here).unwrap();
    assert_eq!(*there.read::<i32>().unwrap(), [1, 2]);
}

#[test]
fn memory_that_slices_may_borrow_is_no_target() {
    static MANAGED: &dyn Backend = &Logging(device::kind::CUDA_MANAGED);
    register(&MANAGED).unwrap();
    let managed =
        DeviceTensor::empty(Device::new(device::kind::CUDA_MANAGED, 14), &[2], i32::DTYPE).unwrap();
    let elements = managed.as_tensor().as_slice::<i32>().unwrap();
    for target in [&managed, &DeviceTensor::from_slice(Device::CPU, &[1i32, 2], &[2]).unwrap()] {
        assert_eq!(kind_of(target.copy_from_slice(&[1i32, 2])), "ValueError");
        assert_eq!(kind_of(target.copy_from(&managed)), "ValueError");
    }
    assert_eq!(elements, [0, 0]);
}

#[test]
fn tensors_of_any_origin_are_checked() {
    let device = device_of(4);
    let plain = Tensor::from_slice(&[1i64, 2], &[2]).unwrap();
    assert_eq!(*DeviceTensor::try_from(plain.clone()).unwrap().read::<i64>().unwrap(), [1, 2]);
    let strides = [2i64];
    let mut strided = *plain.dl_tensor();
    strided.strides = strides.as_ptr().cast_mut();
    // SAFETY: the view has one extent and one stride; its elements are not read.
    let strided = unsafe { plain.create_unsafe_view(&strided) }.unwrap();
    assert_eq!(kind_of(DeviceTensor::try_from(strided)), "ValueError");
    let mut elsewhere = *plain.dl_tensor();
    elsewhere.device = Device::new(device::kind::TRN, 0).into();
    // SAFETY: as above.
    let elsewhere = unsafe { plain.create_unsafe_view(&elsewhere) }.unwrap();
    assert_eq!(kind_of(DeviceTensor::try_from(elsewhere)), "InternalError");
    let there = DeviceTensor::from_slice(device, &[3u8], &[1]).unwrap().into_tensor();
    assert_eq!(*DeviceTensor::try_from(there).unwrap().read::<u8>().unwrap(), [3]);
}

#[test]
fn a_stream_is_set_for_a_scope() {
    let device = device_of(5);
    let stream = Stream::new(device).unwrap();
    let tensor =
        DeviceTensor::empty(device, &[2], DLDataType { code: 0, bits: 8, lanes: 1 }).unwrap();
    let result = stream.scope(|| tensor.copy_from_slice(&[1i8, 2])).unwrap();
    result.unwrap();
    assert_eq!(logged(device), ["set 1000", "copy 2 on 1000", "synchronize 1000", "set 0"]);
    assert!(super::stream::current(device).is_null());
    // A panic restores the stream, too.
    let panicked = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        stream.scope(|| panic!("on purpose"))
    }));
    assert!(panicked.is_err() && super::stream::current(device).is_null());
    assert_eq!(logged(device), ["set 1000", "set 0"]);
    stream.synchronize().unwrap();
    stream.wait_for(&Stream::default_of(device)).unwrap();
    assert_eq!(logged(device), ["synchronize 1000", "1000 after 0"]);
    stream.wait_for(&Stream::default_of(device_of(6))).unwrap();
    assert_eq!(logged(device_of(6)), ["synchronize 0"], "streams of another device are waited for");
    drop(stream);
    drop(Stream::default_of(device));
    assert_eq!(logged(device), ["free stream 1000"]);
}

#[test]
fn events_are_recorded_waited_for_and_timed() {
    let device = device_of(7);
    let stream = Stream::default_of(device);
    let (mut start, mut end) = (Event::with_timing(device).unwrap(), Event::new(device).unwrap());
    start.record(&stream).unwrap();
    end.record(&stream).unwrap();
    assert_eq!(
        logged(device),
        ["event, timing true", "event, timing false", "record on 0", "record on 0"]
    );
    stream.wait_for_event(&start).unwrap();
    assert_eq!(logged(device), ["0 after an event"]);
    Stream::default_of(Device::new(device::kind::MAIA, 0)).wait_for_event(&start).unwrap();
    assert_eq!(logged(device), ["synchronize event"], "devices of other types cannot wait");
    assert_eq!(end.elapsed_since(&start).unwrap(), Some(Duration::from_micros(7)));
    assert_eq!(logged(device), ["synchronize event", "synchronize event"]);
    let elsewhere = Event::new(device_of(8)).unwrap();
    assert_eq!(kind_of(elsewhere.elapsed_since(&start)), "ValueError");
    assert_eq!(kind_of(start.record(&Stream::default_of(device_of(8)))), "ValueError");
    drop((start, end));
    assert_eq!(logged(device), ["free event", "free event"]);
}

#[test]
fn read_only_tensors_are_not_written() {
    let device = device_of(14);
    let made = DeviceTensor::from_slice(device, &[1.0f32, 2.0], &[2]).unwrap();
    let managed = made.as_tensor().to_dlpack_versioned().unwrap().as_ptr();
    // SAFETY: the export is ours, and the import takes it over.
    let tensor = unsafe {
        (*managed).flags = ferrite_core::abi::DLPACK_FLAG_BITMASK_READ_ONLY;
        Tensor::from_dlpack_versioned(managed, 0, false).unwrap()
    };
    let tensor = DeviceTensor::try_from(tensor).unwrap();
    assert_eq!(kind_of(tensor.copy_from_slice(&[3.0f32, 4.0])), "ValueError");
    assert_eq!(kind_of(tensor.copy_from(&made)), "ValueError");
    assert_eq!(&*tensor.read::<f32>().unwrap(), [1.0, 2.0]);
    made.copy_from(&tensor).unwrap();
}

#[test]
fn the_cpu_has_nothing_to_wait_for() {
    let stream = Stream::new(Device::CPU).unwrap();
    let (mut start, mut end) =
        (Event::with_timing(Device::CPU).unwrap(), Event::new(Device::CPU).unwrap());
    start.record(&stream).unwrap();
    end.record(&stream).unwrap();
    stream.wait_for_event(&end).unwrap();
    stream.wait_for(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(end.elapsed_since(&start).unwrap(), None);
    assert_eq!(stream.scope(|| 5).unwrap(), 5);
    Device::CPU.make_current().unwrap();
    Device::CPU.synchronize().unwrap();
}

#[test]
fn handles_go_to_other_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Device>();
    crosses::<DeviceTensor>();
    crosses::<Stream>();
    crosses::<Event>();
}
