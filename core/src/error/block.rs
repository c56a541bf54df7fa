//! The backtrace of an error as C writes it: a block of its own, which updates replace.

use core::alloc::Layout;
use core::ffi::c_char;
use core::ptr::{self, NonNull};

use super::record::ErrorRecord;
use super::site::NOT_PENDING;
use crate::abi::{
    TVMFFIByteArray, TVMFFIObjectHandle, kTVMFFIBacktraceUpdateModeAppend, kTVMFFIBacktraceUpdateModeReplace,
};
use crate::memory;

/// Bytes of a block.
pub(super) type BlockBytes = usize;

/// There is no block.
pub(super) const NONE: BlockBytes = 0;

/// The one address of [`update`] by which this library's records are known.
pub(super) static UPDATE: unsafe extern "C" fn(TVMFFIObjectHandle, *const TVMFFIByteArray, i32) = update;

/// The `update_backtrace` of errors made here.
unsafe extern "C" fn update(this: TVMFFIObjectHandle, text: *const TVMFFIByteArray, mode: i32) {
    let record: *mut ErrorRecord = this.cast();
    // SAFETY: C calls this with an error that it got from this library and a byte array (ABI); both may be null.
    let (Some(record), Some(text)) = (unsafe { (record.as_mut(), text.as_ref()) }) else {
        return;
    };
    // There is nobody to report to: what makes no sense changes nothing.
    let modes = kTVMFFIBacktraceUpdateModeReplace..=kTVMFFIBacktraceUpdateModeAppend;
    if text.size.cast_signed() < 0 || !modes.contains(&mode) {
        return;
    }
    // SAFETY: the text is valid for the call (ABI), and its size was just checked.
    let text = unsafe { text.as_slice() };
    let old = record.cell.backtrace;
    let kept = if mode == kTVMFFIBacktraceUpdateModeAppend { old.size } else { 0 };
    // Neither text is longer than half the address space, less one byte.
    let len = kept + text.len();
    let Ok(layout) = Layout::array::<u8>(len + 1) else { return };
    let Some(block) = memory::allocate(layout) else { return };
    let start = block.as_ptr();
    // SAFETY: the block has room for both texts and the NUL; the old block is not used any more once it is copied.
    unsafe {
        ptr::copy_nonoverlapping(old.data.cast(), start, kept);
        ptr::copy_nonoverlapping(text.as_ptr(), start.add(kept), text.len());
        start.add(len).write(0);
        release(record);
    }
    record.pending = NOT_PENDING;
    record.backtrace_bytes = len + 1;
    record.cell.backtrace = TVMFFIByteArray { data: start.cast::<c_char>(), size: len };
}

/// Frees the block of the backtrace, if there is one.
///
/// # Safety
/// The record must be ours alone; its backtrace must not be read afterwards.
pub(super) unsafe fn release(record: *mut ErrorRecord) {
    // SAFETY: a capacity above zero says that the text is a block of that size.
    unsafe {
        if (*record).backtrace_bytes > 0 {
            let block = NonNull::new_unchecked((*record).cell.backtrace.data.cast_mut().cast::<u8>());
            memory::release(block, Layout::from_size_align_unchecked((*record).backtrace_bytes, 1));
        }
    }
}
