//! The content of built-in objects after the header: byte array, shape, sequence, error, function
//! and opaque cells.

use super::{TVMFFIAny, TVMFFIObjectHandle};
use core::ffi::{c_char, c_int, c_void};

/// A pointer and a length in bytes: the content of string and bytes objects, and the representation
/// in which strings are passed to the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFIByteArray {
    /// Pointer to the first byte; may be null if `size` is 0.
    pub data: *const c_char,
    /// The number of bytes.
    pub size: usize,
}

impl TVMFFIByteArray {
    /// No bytes.
    pub const EMPTY: Self = Self { data: core::ptr::null(), size: 0 };

    /// Describes borrowed bytes; valid as long as they are.
    pub const fn from_slice(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), size: bytes.len() }
    }

    /// Borrows the described bytes. Returns an empty slice if `data` is null.
    ///
    /// # Safety
    /// `data` must be null or point to `size` bytes that stay readable and unchanged for `'a`.
    pub const unsafe fn as_slice<'a>(&self) -> &'a [u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: `data` is not null, and the caller guarantees `size` readable bytes.
        unsafe { core::slice::from_raw_parts(self.data.cast(), self.size) }
    }
}

/// The content of a shape object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFIShapeCell {
    /// Pointer to the sizes of the dimensions; may be null if `size` is 0.
    pub data: *const i64,
    /// The number of dimensions.
    pub size: usize,
}

/// The content of an array or list object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFISeqCell {
    /// Pointer to the first element, a `TVMFFIAny`.
    pub data: *mut c_void,
    /// The number of elements in use.
    pub size: i64,
    /// The capacity in elements.
    pub capacity: i64,
    /// Frees `data`; null if the elements lie in the object itself.
    pub data_deleter: Option<unsafe extern "C" fn(data: *mut c_void)>,
}

c_enum! {
    /// Treatment of the existing backtrace by `TVMFFIErrorCell.update_backtrace`.
    pub enum TVMFFIBacktraceUpdateMode: i32 {
        /// Replaces the existing backtrace.
        kTVMFFIBacktraceUpdateModeReplace = 0,
        /// Appends to the existing backtrace.
        kTVMFFIBacktraceUpdateModeAppend = 1,
    }
}

/// The content of an error object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFIErrorCell {
    /// The kind of error, such as `TypeError`.
    pub kind: TVMFFIByteArray,
    /// The message.
    pub message: TVMFFIByteArray,
    /// The backtrace, one line per frame, most recent call first, so that outer frames are
    /// appended.
    pub backtrace: TVMFFIByteArray,
    /// Updates `backtrace` with a copy of the given string; `update_mode` is a
    /// `TVMFFIBacktraceUpdateMode`.
    pub update_backtrace: Option<
        unsafe extern "C" fn(
            self_: TVMFFIObjectHandle,
            backtrace: *const TVMFFIByteArray,
            update_mode: i32,
        ),
    >,
    /// The error that caused this one, or null; owned.
    pub cause_chain: TVMFFIObjectHandle,
    /// An additional object that describes the error, or null; owned.
    pub extra_context: TVMFFIObjectHandle,
}

/// The safe-call convention of functions: arguments and result are values, failure is a status.
///
/// Arguments are borrowed for the duration of the call. On entry `result` must hold a value that
/// owns nothing, normally `kTVMFFINone`; on success it holds a value owned by the caller.
///
/// Returns 0 on success. Returns -1 on failure with an error raised, which
/// `TVMFFIErrorMoveFromRaised` takes. Must not throw.
pub type TVMFFISafeCallType = unsafe extern "C" fn(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int;

/// The content of a function object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFIFunctionCell {
    /// Calls the function; its first argument is the object's handle.
    pub safe_call: Option<TVMFFISafeCallType>,
    /// The C++ calling convention, which throws instead of returning a status; null unless C++
    /// created the object.
    ///
    /// Only for callers built with the same C++ exception ABI.
    pub cpp_call: *mut c_void,
}

/// The content of an opaque object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFIOpaqueObjectCell {
    /// The foreign handle; for Python, the `PyObject*`.
    pub handle: *mut c_void,
}

#[cfg(target_pointer_width = "64")]
mod layout_64 {
    use super::*;

    assert_layout!(TVMFFIByteArray, size 16, align 8, { data: 0, size: 8 });
    assert_layout!(TVMFFIShapeCell, size 16, align 8, { data: 0, size: 8 });
    assert_layout!(TVMFFISeqCell, size 32, align 8, { data: 0, size: 8, capacity: 16, data_deleter: 24 });
    assert_layout!(TVMFFIErrorCell, size 72, align 8, {
        kind: 0, message: 16, backtrace: 32, update_backtrace: 48, cause_chain: 56, extra_context: 64,
    });
    assert_layout!(TVMFFIFunctionCell, size 16, align 8, { safe_call: 0, cpp_call: 8 });
    assert_layout!(TVMFFIOpaqueObjectCell, size 8, align 8, { handle: 0 });
}

#[cfg(target_pointer_width = "32")]
mod layout_32 {
    use super::*;

    assert_layout!(TVMFFIByteArray, size 8, align 4, { data: 0, size: 4 });
    assert_layout!(TVMFFIShapeCell, size 8, align 4, { data: 0, size: 4 });
    #[cfg(not(target_arch = "x86"))]
    assert_layout!(TVMFFISeqCell, size 32, align 8, { data: 0, size: 8, capacity: 16, data_deleter: 24 });
    assert_layout!(TVMFFIErrorCell, size 36, align 4, {
        kind: 0, message: 8, backtrace: 16, update_backtrace: 24, cause_chain: 28, extra_context: 32,
    });
    assert_layout!(TVMFFIFunctionCell, size 8, align 4, { safe_call: 0, cpp_call: 4 });
    assert_layout!(TVMFFIOpaqueObjectCell, size 4, align 4, { handle: 0 });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_byte_array_reads_as_empty_whatever_its_size_says() {
        let null = TVMFFIByteArray { data: core::ptr::null(), size: 9 };
        // SAFETY: null data is allowed.
        assert!(unsafe { null.as_slice() }.is_empty());
    }

    #[test]
    fn a_byte_array_reads_back_the_slice_it_was_made_from() {
        let array = TVMFFIByteArray::from_slice(b"abc");
        // SAFETY: the bytes are static.
        assert_eq!(unsafe { array.as_slice() }, b"abc");
    }
}
