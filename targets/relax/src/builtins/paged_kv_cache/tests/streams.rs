//! Tests of the order of copies and kernels, on a device that records what it is asked to do.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::OnceLock;

use ferrite_alloc_ext::device::{Attribute, Backend, Region, empty, register};
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::tensor::Element;
use ferrite_core::value::device::kind;

use super::*;

/// A device in main memory with a default stream and one stream more.
struct TwoStreams;

static RECORD: OnceLock<Log> = OnceLock::new();

/// Handle of the stream that is not the default one.
const SECOND: *mut c_void = ptr::without_provenance_mut(1);

fn record(on_default: &'static str, on_second: &'static str, stream: *mut c_void) {
    let name = if stream.is_null() { on_default } else { on_second };
    RECORD.get_or_init(Log::default).lock().unwrap().push((name, Vec::new()));
}

// SAFETY: memory is zeroed and never freed; all work is done at once.
unsafe impl Backend for TwoStreams {
    fn device_type(&self) -> i32 {
        kind::MAIA
    }

    fn set_device(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        Ok(Vec::leak(std::vec![0u64; bytes.div_ceil(8)]).as_mut_ptr().cast())
    }

    unsafe fn free(&self, _id: i32, _data: *mut c_void) {}

    unsafe fn copy(&self, from: Region, to: Region, bytes: usize, on: *mut c_void) -> Result<()> {
        record("copy on the default stream", "copy", on);
        // SAFETY: the caller guarantees both regions.
        unsafe { from.data.byte_add(from.offset).copy_to(to.data.byte_add(to.offset), bytes) };
        Ok(())
    }

    unsafe fn synchronize(&self, _id: i32, _stream: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn attribute(&self, _id: i32, _attribute: Attribute) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn create_stream(&self, _id: i32) -> Result<*mut c_void> {
        Ok(SECOND)
    }

    unsafe fn free_stream(&self, _id: i32, stream: *mut c_void) -> Result<()> {
        record("default stream freed", "stream freed", stream);
        Ok(())
    }

    unsafe fn order_streams(&self, _id: i32, from: *mut c_void, to: *mut c_void) -> Result<()> {
        assert_ne!(from, to);
        record("kernels wait for the copy", "copies wait for kernels", to);
        Ok(())
    }

    fn allocate_workspace(&self, _id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        Err(out_of_memory(bytes))
    }

    unsafe fn free_workspace(&self, _id: i32, _workspace: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn the_arrays_of_a_step_are_copied_once_on_a_stream_of_their_own() {
    static BACKEND: &dyn Backend = &TwoStreams;
    register(&BACKEND).unwrap();
    let device = DLDevice { device_type: kind::MAIA, device_id: 0 };
    let prototype = empty(&[], f32::DTYPE, device).unwrap();
    let recorded = Recorded::like(&prototype, 8, RECORD.get_or_init(Log::default).clone());
    recorded.add(0..1);
    recorded.begin(&[0], &[7], None);
    // A step that does not fit leaves the copy of the one before as it is.
    recorded.refuse(&[0], &[6], FULL);
    let copied = ["copies wait for kernels", "copy", "kernels wait for the copy"];
    let prefill = ["split", "ragged", "append"];
    assert_eq!(names(&recorded.attend(7)), [&copied[..], &prefill].concat());
    // Another layer.
    assert_eq!(names(&recorded.attend(7)), prefill);
    recorded.begin(&[0], &[1], None);
    assert_eq!(names(&recorded.attend(1)), [&copied[..], &["split", "append", "decode"]].concat());
    let Recorded { cache, log, .. } = recorded;
    drop(cache);
    assert_eq!(names(&log.lock().unwrap()), ["stream freed"]);
}
