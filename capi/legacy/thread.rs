//! Per-thread results: texts, bytes and lists of names that callers borrow.
//!
//! Each kind of result has its own slot, since a caller may use results of two kinds at a time.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use ferrite_core::abi::TVMFFIByteArray;
use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::{plain_bail, plain_error};

/// A zero-terminated text, or bytes.
pub struct Text {
    /// The text and its zero; empty when the text is `fixed`.
    content: Buffer<u8>,
    fixed: &'static CStr,
    /// The record by which bytes are returned, made on demand.
    array: TVMFFIByteArray,
}

impl Text {
    /// The empty text.
    #[expect(clippy::new_without_default, reason = "made in constants only")]
    pub const fn new() -> Text {
        let array = TVMFFIByteArray { data: ptr::null(), size: 0 };
        Text { content: Buffer::new(), fixed: c"", array }
    }

    /// Replaces the text by the concatenation of `parts`. The old text is kept when out of memory.
    ///
    /// # Errors
    /// MemoryError.
    pub fn set(&mut self, parts: &[&[u8]]) -> Result<*const c_char> {
        let mut content = Buffer::try_with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 1)?;
        for part in parts {
            content.try_extend_from_slice(part)?;
        }
        content.try_push(0)?;
        self.content = content;
        Ok(self.as_ptr())
    }

    /// Replaces the text by a static one.
    pub fn set_fixed(&mut self, text: &'static CStr) {
        self.content.clear();
        self.fixed = text;
    }

    /// The text, for C.
    pub fn as_ptr(&self) -> *const c_char {
        if self.content.is_empty() { self.fixed.as_ptr() } else { self.content.as_ptr().cast() }
    }

    /// The text without the zero behind it.
    pub fn as_bytes(&self) -> &[u8] {
        self.content.split_last().map_or(self.fixed.to_bytes(), |(_, text)| text)
    }

    /// Returns a record in this slot that describes the bytes.
    pub fn byte_array(&mut self) -> *mut c_void {
        self.array = TVMFFIByteArray { data: self.as_ptr(), size: self.as_bytes().len() };
        ptr::from_mut(&mut self.array).cast()
    }
}

/// A list of names.
#[derive(Default)]
pub struct Names {
    texts: Buffer<u8>,
    starts: Buffer<usize>,
    pointers: Buffer<*const c_char>,
}

impl Names {
    /// The empty list.
    pub const fn new() -> Names {
        Names { texts: Buffer::new(), starts: Buffer::new(), pointers: Buffer::new() }
    }

    /// Adds a name.
    ///
    /// # Errors
    /// MemoryError.
    pub fn push(&mut self, name: &[u8]) -> Result<()> {
        self.starts.try_push(self.texts.len())?;
        self.texts.try_extend_from_slice(name)?;
        Ok(self.texts.try_push(0)?)
    }

    /// Returns the number of names and an array of them for C. No name may be added afterwards.
    ///
    /// # Errors
    /// MemoryError; ValueError when the number of names overflows an int.
    pub fn finish(&mut self) -> Result<(i32, *mut *const c_char)> {
        self.pointers.clear();
        self.pointers.try_reserve(self.starts.len())?;
        for start in self.starts.iter() {
            self.pointers.try_push(self.texts[*start..].as_ptr().cast())?;
        }
        match i32::try_from(self.pointers.len()) {
            Ok(count) => Ok((count, self.pointers.as_mut_ptr())),
            Err(_) => plain_bail!(VALUE_ERROR, "There are more names than an int counts"),
        }
    }
}

/// The slots of a thread.
pub struct Slots {
    /// The text of [`TVMGetLastError`](super::error::TVMGetLastError).
    pub error: RefCell<Text>,
    /// The error with that text, if it came from tvm-ffi.
    pub last: RefCell<Option<Error>>,
    /// The text of [`TVMGetLastBacktrace`](super::error::TVMGetLastBacktrace).
    pub backtrace: RefCell<Text>,
    /// A text, data type or bytes returned by a call.
    pub result: RefCell<Text>,
    /// The text of an attribute.
    pub attribute: RefCell<Text>,
    /// The names of global functions.
    pub functions: RefCell<Names>,
    /// The names of attributes.
    pub attributes: RefCell<Names>,
}

thread_local! {
    static SLOTS: Slots = const {
        Slots {
            error: RefCell::new(Text::new()),
            last: RefCell::new(None),
            backtrace: RefCell::new(Text::new()),
            result: RefCell::new(Text::new()),
            attribute: RefCell::new(Text::new()),
            functions: RefCell::new(Names::new()),
            attributes: RefCell::new(Names::new()),
        }
    };
}

/// Runs `body` on the slots of this thread. `None` on an ending thread whose slots are destroyed.
pub fn with<R>(body: impl FnOnce(&Slots) -> R) -> Option<R> {
    SLOTS.try_with(body).ok()
}

/// The error on an ending thread whose slots are destroyed.
#[cold]
pub fn no_slots() -> Error {
    plain_error!(RUNTIME_ERROR, "The thread ends: it keeps no results")
}
