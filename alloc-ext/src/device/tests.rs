//! Tests of the back-end table, with a fake back end whose devices are in main memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::Mutex;
use std::vec::Vec;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::value::device;
use ferrite_core::{Any, Tensor, plain_bail};

use super::*;
use crate::env::tensor_alloc;

/// Live allocations: address, size in bytes, device id.
static LIVE: Mutex<Vec<(usize, usize, i32)>> = Mutex::new(Vec::new());

struct Fake(i32);

static FAKE: &dyn Backend = &Fake(device::kind::EXT_DEV);
static OTHER: &dyn Backend = &Fake(device::kind::HEXAGON);

impl Fake {
    fn check(&self, id: i32) -> Result<()> {
        if id != 0 && id != 1 {
            plain_bail!(VALUE_ERROR, "no device {}", id);
        }
        Ok(())
    }
}

// SAFETY: memory is a block of the global allocator; all work is done at once.
unsafe impl Backend for Fake {
    fn device_type(&self) -> i32 {
        self.0
    }

    fn set_device(&self, id: i32) -> Result<()> {
        self.check(id)
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        self.check(id)?;
        let block = Vec::leak(std::vec![0u8; bytes.max(1)]);
        LIVE.lock().unwrap().push((block.as_ptr().addr(), block.len(), id));
        Ok(block.as_mut_ptr().cast())
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        let mut live = LIVE.lock().unwrap();
        let at = live.iter().position(|block| block.0 == data.addr()).expect("a live block");
        let (_, bytes, owner) = live.remove(at);
        assert_eq!(owner, id);
        // SAFETY: `allocate` leaked the block, with this length.
        drop(unsafe { Vec::from_raw_parts(data.cast::<u8>(), bytes, bytes) });
    }

    unsafe fn copy(&self, from: Region, to: Region, bytes: usize, _: *mut c_void) -> Result<()> {
        // SAFETY: the caller guarantees the regions, which are all in main memory here.
        unsafe {
            let to = to.data.cast::<u8>().add(to.offset);
            to.copy_from(from.data.cast::<u8>().add(from.offset), bytes);
        }
        Ok(())
    }

    unsafe fn synchronize(&self, id: i32, _: *mut c_void) -> Result<()> {
        self.check(id)
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        Ok(match attribute {
            Attribute::Exists => self.check(id).is_ok().into(),
            _ => Any::NONE,
        })
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

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: device::kind::EXT_DEV, device_id: 1 };
const CPU: DLDevice = DLDevice { device_type: device::kind::CPU, device_id: 0 };

fn set_up() {
    install();
    register(&FAKE).unwrap();
}

fn copy_of(tensor: &Tensor) -> Vec<f32> {
    let copy = empty(tensor.shape(), F32, CPU).unwrap();
    // SAFETY: both tensors are alive.
    unsafe { copy_tensor(tensor.dl_tensor(), copy.dl_tensor(), ptr::null_mut()) }.unwrap();
    copy.as_slice::<f32>().unwrap().to_vec()
}

fn is_live(tensor: &DLTensor) -> bool {
    LIVE.lock().unwrap().iter().any(|block| block.0 == tensor.data.addr())
}

#[test]
fn back_ends_are_found_by_their_type() {
    set_up();
    assert_eq!(find(HERE.device_type).unwrap().device_type(), HERE.device_type);
    for none in [-1, 0, 9, HIGHEST_TYPE, HIGHEST_TYPE + 1, i32::MAX, i32::MIN] {
        assert!(find(none).is_none(), "{none}");
    }
    let error = get(device::kind::VULKAN).map(drop).unwrap_err();
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (
            &b"InternalError"[..],
            &b"Check failed: (allow_missing) is false: Device API vulkan is not enabled."[..]
        )
    );
    register(&OTHER).unwrap();
    assert!(registered().any(|backend| backend.device_type() == device::kind::HEXAGON));
}

#[test]
fn the_cpu_and_impossible_types_have_no_back_end() {
    static CPU: &dyn Backend = &Fake(device::kind::CPU);
    static TOO_HIGH: &dyn Backend = &Fake(HIGHEST_TYPE + 1);
    static NEGATIVE: &dyn Backend = &Fake(-3);
    for backend in [&CPU, &TOO_HIGH, &NEGATIVE] {
        assert_eq!(register(backend).unwrap_err().kind_bytes(), b"ValueError");
    }
    assert!(find(device::kind::CPU).is_none());
}

#[test]
fn a_back_end_is_not_replaced() {
    static ANOTHER: &dyn Backend = &Fake(device::kind::EXT_DEV);
    set_up();
    set_up();
    assert_eq!(register(&ANOTHER).unwrap_err().kind_bytes(), b"RuntimeError");
}

#[test]
fn tensors_are_filled_copied_and_freed() {
    set_up();
    let source = Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
    let (there, again) = (empty(&[2, 3], F32, HERE).unwrap(), empty(&[6], F32, HERE).unwrap());
    assert_eq!((there.shape(), there.strides()), (&[2i64, 3][..], Some(&[3i64, 1][..])));
    for (from, to) in [(&source, &there), (&there, &again)] {
        // SAFETY: the tensors are alive.
        unsafe { copy_tensor(from.dl_tensor(), to.dl_tensor(), ptr::null_mut()) }.unwrap();
    }
    assert_eq!(copy_of(&again), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let record = *again.dl_tensor();
    assert!(is_live(&record));
    drop(again);
    assert!(!is_live(&record));
}

#[test]
fn impossible_tensors_and_copies_are_refused() {
    set_up();
    let kind_of = |shape: &[i64], device| {
        empty(shape, F32, device).map(drop).unwrap_err().kind_bytes().to_vec()
    };
    assert_eq!(kind_of(&[-1], HERE), b"ValueError");
    assert_eq!(kind_of(&[i64::MAX, 4], HERE), b"ValueError");
    assert_eq!(kind_of(&[1], DLDevice { device_id: 5, ..HERE }), b"ValueError");
    assert_eq!(
        kind_of(&[1], DLDevice { device_type: device::kind::VULKAN, device_id: 0 }),
        b"InternalError"
    );
    let (four, six) = (empty(&[4], F32, HERE).unwrap(), empty(&[2, 3], F32, HERE).unwrap());
    let copy = |from: &DLTensor, to: &DLTensor| {
        // SAFETY: the tensors are alive.
        unsafe { copy_tensor(from, to, ptr::null_mut()) }.unwrap_err().kind_bytes().to_vec()
    };
    assert_eq!(copy(four.dl_tensor(), six.dl_tensor()), b"ValueError");
    let mut strides = [1i64, 2];
    let transposed = DLTensor { strides: strides.as_mut_ptr(), ..*six.dl_tensor() };
    assert_eq!(copy(&transposed, six.dl_tensor()), b"ValueError");
    let elsewhere =
        DLTensor { device: DLDevice { device_type: 7, device_id: 0 }, ..*six.dl_tensor() };
    assert_eq!(copy(&elsewhere, six.dl_tensor()), b"RuntimeError");
    assert_eq!(copy(&elsewhere, &elsewhere), b"InternalError");
}

#[test]
fn without_an_allocator_the_back_end_allocates() {
    set_up();
    let mut shape = [3i64];
    let mut prototype = DLTensor {
        data: ptr::null_mut(),
        device: HERE,
        ndim: 1,
        dtype: F32,
        shape: shape.as_mut_ptr(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    // SAFETY: the prototype is valid.
    let made = unsafe { tensor_alloc::allocate(&mut prototype) }.unwrap();
    assert_eq!((made.device().device_type, made.shape()), (HERE.device_type, &[3i64][..]));
    prototype.device = CPU;
    // SAFETY: as above.
    let refused = unsafe { tensor_alloc::allocate(&mut prototype) }.map(drop).unwrap_err();
    assert_eq!(refused.kind_bytes(), b"RuntimeError");
}

#[test]
fn workspaces_come_from_the_back_end() {
    set_up();
    let workspace = alloc_workspace(HERE.device_type, 1, 100).unwrap();
    assert!(LIVE.lock().unwrap().contains(&(workspace.addr().get(), 100, 1)));
    // SAFETY: the workspace is returned once.
    unsafe { free_workspace(HERE.device_type, 1, workspace) }.unwrap();
    assert!(!LIVE.lock().unwrap().iter().any(|block| block.0 == workspace.addr().get()));
    assert_eq!(alloc_workspace(HERE.device_type, 9, 100).unwrap_err().kind_bytes(), b"ValueError");
    assert_eq!(
        alloc_workspace(device::kind::VULKAN, 0, 100).unwrap_err().kind_bytes(),
        b"InternalError"
    );
}

#[test]
fn streams_beside_the_default_one_are_refused() {
    set_up();
    let stream = ptr::without_provenance_mut(8);
    // SAFETY: the back end refuses the stream without using it.
    unsafe {
        assert!(FAKE.create_stream(0).unwrap().is_null());
        for refused in [
            FAKE.free_stream(0, stream),
            FAKE.set_stream(0, stream),
            FAKE.order_streams(0, stream, ptr::null_mut()),
            FAKE.order_streams(0, ptr::null_mut(), stream),
        ] {
            let error = refused.unwrap_err();
            assert_eq!(
                error.message_bytes(),
                b"Devices ext_dev have no streams beside the default one"
            );
        }
        FAKE.order_streams(0, ptr::null_mut(), ptr::null_mut()).unwrap();
    }
}

#[test]
fn events_are_refused_by_devices_without_them() {
    set_up();
    let (event, stream) = (NonNull::<c_void>::dangling(), ptr::null_mut());
    let other = OTHER;
    // SAFETY: the back end refuses events without using them.
    unsafe {
        for refused in [
            other.create_event(0, true).map(drop),
            other.record_event(0, event, stream),
            other.wait_for_event(0, event, stream),
            other.synchronize_event(0, event),
        ] {
            assert_eq!(refused.unwrap_err().message_bytes(), b"Devices hexagon have no events");
        }
        assert_eq!(other.elapsed(0, event, event).unwrap(), None);
    }
}
