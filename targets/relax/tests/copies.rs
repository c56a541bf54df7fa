//! Tests that copies of models have used main memory when they return, with a device whose copies
//! run when their stream is synchronised.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use core::ffi::c_void;
use core::ptr::NonNull;
use std::sync::Mutex;

use ferrite_alloc_ext::device::{Attribute, Backend, Device, Region, register};
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, AnyView, Tensor, plain_bail};

const DELAYED: DLDevice = DLDevice { device_type: kind::EXT_DEV, device_id: 0 };
const PINNED: DLDevice = DLDevice { device_type: kind::CUDA_HOST, device_id: 0 };

/// A back end in main memory, whose copies run when their stream is synchronised.
struct Delayed;

/// A queued copy.
struct QueuedCopy {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

// SAFETY: copies run while their tensors are borrowed, or in memory that is never freed.
unsafe impl Send for QueuedCopy {}

static QUEUED: Mutex<Vec<QueuedCopy>> = Mutex::new(Vec::new());

/// Tensor that must be borrowed for reading while copies run.
static SOURCE: Mutex<Option<Tensor>> = Mutex::new(None);

// SAFETY: memory is zeroed, and never freed; no test copies from memory of type CPU.
unsafe impl Backend for Delayed {
    fn device_type(&self) -> i32 {
        DELAYED.device_type
    }

    fn set_device(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        Ok(Vec::leak(vec![0u64; bytes.div_ceil(8)]).as_mut_ptr().cast())
    }

    unsafe fn free(&self, _id: i32, _data: *mut c_void) {}

    unsafe fn copy(&self, from: Region, to: Region, bytes: usize, _: *mut c_void) -> Result<()> {
        let [from, to] = [from, to].map(|region| region.data.wrapping_byte_add(region.offset));
        QUEUED.lock().expect("no panic").push(QueuedCopy {
            from: from.cast(),
            to: to.cast(),
            bytes,
        });
        Ok(())
    }

    unsafe fn synchronize(&self, _id: i32, _stream: *mut c_void) -> Result<()> {
        if let Some(source) = &*SOURCE.lock().expect("no panic") {
            assert!(source.borrow_mut::<f32>().is_err(), "the source is borrowed");
        }
        for QueuedCopy { from, to, bytes } in QUEUED.lock().expect("no panic").drain(..) {
            // SAFETY: the caller of `copy` keeps both until its stream is synchronised.
            unsafe { from.copy_to(to, bytes) };
        }
        Ok(())
    }

    fn attribute(&self, _id: i32, _attribute: Attribute) -> Result<Any> {
        Ok(1i64.into())
    }

    fn allocate_workspace(&self, _id: i32, _bytes: usize) -> Result<NonNull<c_void>> {
        plain_bail!(RUNTIME_ERROR, "there are no workspaces")
    }

    unsafe fn free_workspace(&self, _id: i32, _workspace: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

/// Calls `vm.builtin.to_device`.
fn to_device(tensor: &Tensor, device: DLDevice) -> Result<Tensor> {
    let builtin = ferrite_relax::builtins::find(b"vm.builtin.to_device").expect("a builtin");
    let args = [tensor.into(), device.device_type.into(), device.device_id.into()];
    (builtin.body)(&args as &[AnyView<'_>])?.get()
}

fn queued() -> usize {
    QUEUED.lock().expect("no panic").len()
}

#[test]
fn copies_from_pinned_memory_are_complete_when_they_return() -> Result<()> {
    static BACKEND: &dyn Backend = &Delayed;
    register(&BACKEND)?;
    let host = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    // SAFETY: the tensor has the elements of `host`, which it keeps alive.
    let pinned =
        unsafe { host.create_unsafe_view(&DLTensor { device: PINNED, ..*host.dl_tensor() })? };
    *SOURCE.lock().expect("no panic") = Some(pinned.clone());
    let there = to_device(&pinned, DELAYED)?;
    assert_eq!(queued(), 0, "the copy from pinned memory is complete");
    *SOURCE.lock().expect("no panic") = None;
    pinned.borrow_mut::<f32>()?.fill(0.0);
    let back = to_device(&there, Device::CPU.into())?;
    assert_eq!(queued(), 0, "the copy to main memory is complete");
    assert_eq!(back.as_slice::<f32>()?, [1.0, 2.0]);
    Ok(())
}
