//! Errors: kind, message, backtrace, cause and context, in an object that C reads in place.

use core::alloc::Layout;
use core::ffi::{c_char, c_int};
use core::fmt::{self, Write};
use core::mem::size_of;
use core::ptr::{self, NonNull};

use crate::abi::{
    TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectDeleterSlot, TVMFFIObjectHandle,
    kTVMFFIBacktraceUpdateModeAppend,
};
use crate::object::ObjectRef;
use crate::object_alloc::{self, ObjectRecord};
use crate::text::{ByteCounter, Lossy, SliceWriter};
use crate::{memory, release, type_index};

/// The kinds of errors that the library raises. Users may raise errors of any other kind.
pub mod kind {
    /// A value of the wrong type.
    pub const TYPE_ERROR: &str = "TypeError";
    /// A value of the right type that makes no sense.
    pub const VALUE_ERROR: &str = "ValueError";
    /// An index out of bounds.
    pub const INDEX_ERROR: &str = "IndexError";
    /// A key that is not there.
    pub const KEY_ERROR: &str = "KeyError";
    /// An attribute that is not there.
    pub const ATTRIBUTE_ERROR: &str = "AttributeError";
    /// Anything else that went wrong outside the library.
    pub const RUNTIME_ERROR: &str = "RuntimeError";
    /// A check of the library failed.
    pub const INTERNAL_ERROR: &str = "InternalError";
    /// Memory was refused.
    pub const MEMORY_ERROR: &str = "MemoryError";
}

/// The result of what can fail.
pub type Result<T> = core::result::Result<T, Error>;

crate::object_class! {
    /// A reference to an error object.
    ///
    /// # Upstream
    /// `tvm::ffi::Error` in `error.h`.
    pub struct Error, type_index::ERROR, "ffi.Error"
}

/// Makes an [`Error`]: `error!(VALUE_ERROR, "expected {} items", n)`. Any expression of type `&str` serves as kind, too.
#[macro_export]
macro_rules! error {
    ($kind:ident, $($message:tt)+) => {
        $crate::error::Error::new($crate::error::kind::$kind, ::core::format_args!($($message)+))
    };
}

/// Returns an [`Error`] from the function: `bail!(VALUE_ERROR, "expected {} items", n)`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::error!($kind, $($message)+))
    };
}

/// Returns an [`Error`] unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($message:tt)+) => {
        if !$condition {
            $crate::bail!($kind, $($message)+);
        }
    };
}

/// An error object: the cell that C reads, then what the library needs; kind and message follow in place.
#[repr(C)]
struct ErrorRecord {
    header: TVMFFIObject,
    cell: TVMFFIErrorCell,
    backtrace_capacity: usize,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ErrorRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record: *mut ErrorRecord = this.cast();
        // SAFETY: the record is initialised and ours alone; it owns its backtrace block and both references.
        unsafe {
            release_backtrace(record);
            for owned in [(*record).cell.cause_chain, (*record).cell.extra_context] {
                if !owned.is_null() {
                    release::release_object(owned.cast());
                }
            }
        }
    }
}

/// The error that is always there: raised when there is no memory for another.
struct OutOfMemory(core::cell::UnsafeCell<ErrorRecord>);

// SAFETY: only the counts of the object are written, atomically; its other fields are constant, and its
// `update_backtrace` does nothing.
unsafe impl Sync for OutOfMemory {}

const fn static_text(text: &'static core::ffi::CStr) -> TVMFFIByteArray {
    TVMFFIByteArray { data: text.as_ptr(), size: text.to_bytes().len() }
}

static OUT_OF_MEMORY: OutOfMemory = OutOfMemory(core::cell::UnsafeCell::new(ErrorRecord {
    header: TVMFFIObject {
        // So many strong references that it never dies.
        combined_ref_count: 0x1_4000_0000,
        type_index: type_index::ERROR,
        padding: 0,
        deleter: TVMFFIObjectDeleterSlot { ensure_align: 0 },
    },
    cell: TVMFFIErrorCell {
        kind: static_text(c"MemoryError"),
        message: static_text(c"Out of memory"),
        backtrace: static_text(c""),
        update_backtrace: Some(ignore_backtrace),
        cause_chain: ptr::null_mut(),
        extra_context: ptr::null_mut(),
    },
    backtrace_capacity: 0,
}));

/// The MemoryError for a request of `asked_bytes`, with that number in the message when there is memory for a message.
#[cold]
pub fn out_of_memory(asked_bytes: usize) -> Error {
    let made = if asked_bytes == usize::MAX {
        Error::try_new(
            kind::MEMORY_ERROR,
            format_args!("Out of memory: the size overflows the address space"),
            b"",
        )
    } else {
        Error::try_new(
            kind::MEMORY_ERROR,
            format_args!("Out of memory: {asked_bytes} bytes were refused"),
            b"",
        )
    };
    made.unwrap_or_else(Error::static_out_of_memory)
}

impl Error {
    /// Makes an error. Never fails: when memory is refused, the result is a MemoryError that was there all along.
    #[cold]
    pub fn new(kind: &str, message: fmt::Arguments<'_>) -> Error {
        Error::try_new(kind, message, b"").unwrap_or_else(Error::static_out_of_memory)
    }

    /// Makes an error from bytes of any encoding. Same fallback as [`Error::new`].
    ///
    /// # Upstream
    /// `TVMFFIErrorCreate`.
    pub fn from_bytes(kind: &[u8], message: &[u8], backtrace: &[u8]) -> Error {
        Error::try_from_bytes(kind, message, backtrace).unwrap_or_else(Error::static_out_of_memory)
    }

    /// Makes an error from bytes of any encoding, or tells that there was no memory for it.
    pub fn try_from_bytes(kind: &[u8], message: &[u8], backtrace: &[u8]) -> Option<Error> {
        Error::build(kind, message.len(), backtrace, |target| target.copy_from_slice(message))
    }

    fn try_new(kind: &str, message: fmt::Arguments<'_>, backtrace: &[u8]) -> Option<Error> {
        let mut counter = ByteCounter::default();
        // A Display that fails leaves the text that it wrote until then.
        let _ = counter.write_fmt(message);
        Error::build(kind.as_bytes(), counter.0, backtrace, |target| {
            target.fill(b' ');
            let _ = SliceWriter::new(target).write_fmt(message);
        })
    }

    fn build(
        kind: &[u8],
        message_len: usize,
        backtrace: &[u8],
        fill: impl FnOnce(&mut [u8]),
    ) -> Option<Error> {
        let text_bytes = kind.len().checked_add(message_len)?.checked_add(2)?;
        let init = |record: *mut ErrorRecord| {
            // SAFETY: the allocation has room for the record and for both texts with their NULs after it.
            unsafe {
                let kind_at = record.add(1).cast::<u8>();
                let message_at = kind_at.add(kind.len() + 1);
                ptr::write_bytes(kind_at, 0, text_bytes);
                ptr::copy_nonoverlapping(kind.as_ptr(), kind_at, kind.len());
                fill(core::slice::from_raw_parts_mut(message_at, message_len));
                (&raw mut (*record).backtrace_capacity).write(0);
                (&raw mut (*record).cell).write(TVMFFIErrorCell {
                    kind: TVMFFIByteArray { data: kind_at.cast(), size: kind.len() },
                    message: TVMFFIByteArray { data: message_at.cast(), size: message_len },
                    backtrace: static_text(c""),
                    update_backtrace: Some(update_backtrace),
                    cause_chain: ptr::null_mut(),
                    extra_context: ptr::null_mut(),
                });
            }
        };
        // Not through `?` on a Result: building that error would come back here.
        let object = object_alloc::allocate_quietly::<ErrorRecord>(type_index::ERROR, text_bytes, init)?;
        let error = Error(object);
        if !backtrace.is_empty() {
            error.set_backtrace(backtrace, false);
        }
        Some(error)
    }

    #[cold]
    fn static_out_of_memory() -> Error {
        let object = NonNull::from(&OUT_OF_MEMORY).cast::<TVMFFIObject>();
        // SAFETY: the static is an initialised error object that never dies.
        Error(unsafe { ObjectRef::borrow_raw(object) })
    }

    /// The same error with `cause` as the error that led to it and `context` as its extra context.
    ///
    /// Only for errors that nobody else holds yet; the static MemoryError stays as it is.
    ///
    /// # Upstream
    /// `TVMFFIErrorCreateWithCauseAndExtraContext`.
    #[must_use]
    pub fn with_cause_and_context(self, cause: Option<Error>, context: Option<ObjectRef>) -> Error {
        if self.0.is_unique() {
            // SAFETY: the only reference is ours, so nobody reads the cell now. The cell owns both references.
            unsafe {
                let cell = self.cell_ptr();
                for (slot, value) in [
                    (&raw mut (*cell).cause_chain, cause.map(|cause| cause.0)),
                    (&raw mut (*cell).extra_context, context),
                ] {
                    if let Some(value) = value {
                        let previous = slot.replace(value.into_raw().as_ptr().cast());
                        if !previous.is_null() {
                            release::release_object(previous.cast());
                        }
                    }
                }
            }
        }
        self
    }

    fn cell_ptr(&self) -> *mut TVMFFIErrorCell {
        // SAFETY: the cell follows the header of every error object (ABI).
        unsafe { self.0.as_ptr().add(1).cast() }
    }

    /// The kind, such as `TypeError`.
    pub fn kind(&self) -> &[u8] {
        // SAFETY: kind and message of an error object never change while it lives (ABI).
        unsafe { (*self.cell_ptr()).kind.as_slice() }
    }

    /// The message.
    pub fn message(&self) -> &[u8] {
        // SAFETY: as for `kind`.
        unsafe { (*self.cell_ptr()).message.as_slice() }
    }

    /// Runs `read` on the backtrace: one line per frame, most recent call first.
    ///
    /// The text must not be kept: the next update moves it.
    pub fn with_backtrace<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: valid until the next update; errors are not updated while somebody reads them (ABI).
        read(unsafe { (*self.cell_ptr()).backtrace.as_slice() })
    }

    /// Replaces the backtrace, or appends to it. Without memory the backtrace stays as it is.
    ///
    /// # Upstream
    /// `TVMFFIErrorCell::update_backtrace`.
    pub fn set_backtrace(&self, backtrace: &[u8], append: bool) {
        let text = TVMFFIByteArray { data: backtrace.as_ptr().cast(), size: backtrace.len() };
        // SAFETY: the error is alive; its own function updates its cell.
        unsafe {
            if let Some(update) = (*self.cell_ptr()).update_backtrace {
                update(self.0.as_ptr().cast(), &text, c_int::from(append));
            }
        }
    }

    /// The error that led to this one.
    pub fn cause(&self) -> Option<Error> {
        // SAFETY: the cell owns a live error object, or holds null.
        let cause = unsafe { NonNull::new((*self.cell_ptr()).cause_chain.cast::<TVMFFIObject>()) };
        // SAFETY: as above.
        cause.and_then(|cause| unsafe { ObjectRef::borrow_raw(cause) }.downcast().ok())
    }

    /// The extra context.
    pub fn extra_context(&self) -> Option<ObjectRef> {
        // SAFETY: the cell owns a live object, or holds null.
        let context = unsafe { NonNull::new((*self.cell_ptr()).extra_context.cast::<TVMFFIObject>()) };
        // SAFETY: as above.
        context.map(|context| unsafe { ObjectRef::borrow_raw(context) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Lossy(self.kind()), Lossy(self.message()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

unsafe extern "C" fn ignore_backtrace(_: TVMFFIObjectHandle, _: *const TVMFFIByteArray, _: i32) {}

/// The `update_backtrace` of errors made here.
unsafe extern "C" fn update_backtrace(this: TVMFFIObjectHandle, text: *const TVMFFIByteArray, mode: i32) {
    let record: *mut ErrorRecord = this.cast();
    // SAFETY: C calls this with an error that it got from this library and a byte array (ABI); both may be null.
    let (Some(record), Some(text)) = (unsafe { (record.as_mut(), text.as_ref()) }) else {
        return;
    };
    // SAFETY: the text is valid for the call (ABI).
    let text = unsafe { text.as_slice() };
    // SAFETY: the cell's backtrace is valid until replaced below.
    let kept = if mode == kTVMFFIBacktraceUpdateModeAppend {
        unsafe { record.cell.backtrace.as_slice() }
    } else {
        b""
    };
    let Some(block) = concatenate(kept, text) else {
        return;
    };
    // SAFETY: the old block is not used any more: `kept` was copied.
    unsafe { release_backtrace(record) };
    record.backtrace_capacity = block.len();
    record.cell.backtrace = TVMFFIByteArray { data: block.cast::<c_char>().as_ptr(), size: block.len() - 1 };
}

/// A new block with both texts and a NUL.
fn concatenate(first: &[u8], second: &[u8]) -> Option<NonNull<[u8]>> {
    let len = first.len().checked_add(second.len())?.checked_add(1)?;
    let block = memory::allocate(Layout::array::<u8>(len).ok()?)?;
    // SAFETY: the block has room for both texts and the NUL.
    unsafe {
        ptr::copy_nonoverlapping(first.as_ptr(), block.as_ptr(), first.len());
        ptr::copy_nonoverlapping(second.as_ptr(), block.as_ptr().add(first.len()), second.len());
        block.as_ptr().add(len - 1).write(0);
    }
    Some(NonNull::slice_from_raw_parts(block, len))
}

/// # Safety
/// The record must be ours alone; its backtrace must not be read afterwards.
unsafe fn release_backtrace(record: *mut ErrorRecord) {
    // SAFETY: a capacity above zero says that the text is a block of that size from `concatenate`.
    unsafe {
        if (*record).backtrace_capacity > 0 {
            let block = NonNull::new_unchecked((*record).cell.backtrace.data.cast_mut().cast::<u8>());
            memory::release(block, Layout::from_size_align_unchecked((*record).backtrace_capacity, 1));
        }
    }
}

const _: () = assert!(size_of::<TVMFFIObject>() == 24);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_carries_its_parts() {
        let cause = error!(VALUE_ERROR, "inner");
        let error =
            error!(TYPE_ERROR, "expected {} but got {}", "int", 5).with_cause_and_context(Some(cause), None);
        assert_eq!((error.kind(), error.message()), (&b"TypeError"[..], &b"expected int but got 5"[..]));
        assert_eq!(error.cause().map(|cause| cause.message() == b"inner"), Some(true));
        assert!(error.extra_context().is_none());
    }

    #[test]
    fn backtraces_are_replaced_and_appended() {
        let error = Error::from_bytes(b"K", b"m", b"one\n");
        error.set_backtrace(b"two\n", true);
        error.with_backtrace(|text| assert_eq!(text, b"one\ntwo\n"));
        error.set_backtrace(b"three\n", false);
        error.with_backtrace(|text| assert_eq!(text, b"three\n"));
    }

    #[test]
    fn the_last_resort_survives_its_users() {
        for _ in 0..3 {
            let error = Error::static_out_of_memory();
            error.set_backtrace(b"ignored", false);
            assert_eq!((error.kind(), error.message()), (&b"MemoryError"[..], &b"Out of memory"[..]));
        }
    }

    #[test]
    fn a_long_cause_chain_is_released_without_recursion() {
        let mut error = error!(VALUE_ERROR, "first");
        for _ in 0..if cfg!(miri) { 100 } else { 300_000 } {
            error = error!(VALUE_ERROR, "next").with_cause_and_context(Some(error), None);
        }
        drop(error);
    }
}
