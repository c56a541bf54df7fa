//! The memory block that stores the backtrace of an error, separate from its record. Updates
//! replace it.

use core::alloc::Layout;
use core::ffi::c_char;
use core::ptr::{self, NonNull};

use super::super::record::ErrorRecord;
use super::super::site::NOT_PENDING;
use crate::abi::{
    TVMFFIByteArray, TVMFFIObjectHandle, kTVMFFIBacktraceUpdateModeAppend,
    kTVMFFIBacktraceUpdateModeReplace,
};
use crate::platform::memory;

/// The size of a block in bytes.
pub(in crate::error) type BlockBytes = usize;

/// The size that means that there is no block.
pub(in crate::error) const NONE: BlockBytes = 0;

/// The address of [`update`], which identifies errors created by this library.
pub(in crate::error) static UPDATE: unsafe extern "C" fn(
    TVMFFIObjectHandle,
    *const TVMFFIByteArray,
    i32,
) = update;

/// The `update_backtrace` callback of errors created by this library.
unsafe extern "C" fn update(this: TVMFFIObjectHandle, text: *const TVMFFIByteArray, mode: i32) {
    let record: *mut ErrorRecord = this.cast();
    if record.is_null() || text.is_null() {
        return;
    }
    // SAFETY: C passes an error of this library and a byte array (ABI), which may be the one in the
    // cell.
    let (old, text) = unsafe { ((*record).cell.backtrace, text.read()) };
    // No error can be reported: invalid arguments have no effect.
    let modes = kTVMFFIBacktraceUpdateModeReplace..=kTVMFFIBacktraceUpdateModeAppend;
    if text.size.cast_signed() < 0 || !modes.contains(&mode) {
        return;
    }
    // SAFETY: the text is valid for the call (ABI), and its size was just checked.
    let text = unsafe { text.as_slice() };
    let kept = if mode == kTVMFFIBacktraceUpdateModeAppend { old.size } else { 0 };
    // Each string is shorter than half the address space.
    let len = kept + text.len();
    let Ok(layout) = Layout::array::<u8>(len + 1) else { return };
    let Some(block) = memory::allocate(layout) else { return };
    let start = block.as_ptr();
    // SAFETY: the block has space for both strings and the NUL; the old block is unused once it is
    // copied. Only these fields are written: other threads may count the error, so no reference to
    // its record is made.
    unsafe {
        ptr::copy_nonoverlapping(old.data.cast(), start, kept);
        ptr::copy_nonoverlapping(text.as_ptr(), start.add(kept), text.len());
        start.add(len).write(0);
        release(record);
        (*record).pending = NOT_PENDING;
        (*record).backtrace_bytes = len + 1;
        (*record).cell.backtrace = TVMFFIByteArray { data: start.cast::<c_char>(), size: len };
    }
}

/// Frees the backtrace block, if any.
///
/// # Safety
/// The caller must have exclusive access to the record. Its backtrace must not be read afterwards.
pub(in crate::error) unsafe fn release(record: *mut ErrorRecord) {
    // SAFETY: a size above zero says that the text is a block of that size.
    unsafe {
        if (*record).backtrace_bytes > 0 {
            let block =
                NonNull::new_unchecked((*record).cell.backtrace.data.cast_mut().cast::<u8>());
            memory::release(block, Layout::from_size_align_unchecked((*record).backtrace_bytes, 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::error::record::record_of;

    /// Calls [`update`] as C does.
    fn append(error: &Error, text: *const TVMFFIByteArray) {
        // SAFETY: the error is alive, no one else uses its cell, and the text is valid for the
        // call.
        unsafe { UPDATE(record_of(error).cast(), text, kTVMFFIBacktraceUpdateModeAppend) };
    }

    #[test]
    fn a_backtrace_grows_while_another_thread_counts_the_error() {
        let error = Error::from_bytes(b"ValueError", b"no", b"one\n");
        let other = error.clone();
        let thread = std::thread::spawn(move || drop(other.clone()));
        append(&error, &TVMFFIByteArray::from_slice(b"two\n"));
        error.with_backtrace(|text| assert_eq!(text, b"one\ntwo\n"));
        thread.join().unwrap();
    }

    #[test]
    fn a_backtrace_is_appended_to_itself() {
        let error = Error::from_bytes(b"ValueError", b"no", b"one\n");
        // SAFETY: the record is alive.
        append(&error, unsafe { &raw const (*record_of(&error)).cell.backtrace });
        error.with_backtrace(|text| assert_eq!(text, b"one\none\n"));
    }
}
