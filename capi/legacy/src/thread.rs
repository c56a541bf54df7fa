//! Thread-local slots for results that callers borrow: strings, bytes and lists of names.
//!
//! Each kind of result has its own slot, since a caller may use results of two kinds at a time.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use ferrite_core::abi::TVMFFIByteArray;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::per_thread;
use ferrite_core::{per_thread, plain_bail, plain_error};

/// Slot for a null-terminated string or bytes.
pub struct StringSlot {
    /// The string and its null terminator; empty if the string is in `fixed`.
    content: Buffer<u8>,
    fixed: &'static CStr,
    /// Record that describes the content, for callers that expect bytes.
    array: TVMFFIByteArray,
}

impl StringSlot {
    /// Creates a slot with an empty string.
    #[expect(clippy::new_without_default, reason = "made in constants only")]
    pub const fn new() -> StringSlot {
        let array = TVMFFIByteArray { data: ptr::null(), size: 0 };
        StringSlot { content: Buffer::new(), fixed: c"", array }
    }

    /// Replaces the content by the concatenation of `parts`, and returns it as a C string. When out
    /// of memory, the content is unchanged.
    ///
    /// # Errors
    /// MemoryError.
    pub fn set(&mut self, parts: &[&[u8]]) -> Result<*const c_char> {
        let mut content =
            Buffer::try_with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 1)?;
        for part in parts {
            content.try_extend_from_slice(part)?;
        }
        content.try_push(0)?;
        self.content = content;
        Ok(self.as_ptr())
    }

    /// Replaces the content by a static string.
    pub fn set_fixed(&mut self, text: &'static CStr) {
        self.content.clear();
        self.fixed = text;
    }

    /// Returns the content as a C string.
    pub fn as_ptr(&self) -> *const c_char {
        if self.content.is_empty() { self.fixed.as_ptr() } else { self.content.as_ptr().cast() }
    }

    /// Returns the content without its null terminator.
    pub fn as_bytes(&self) -> &[u8] {
        self.content.split_last().map_or(self.fixed.to_bytes(), |(_, text)| text)
    }

    /// Returns the address of a byte-array record that describes the content. The record is part of
    /// this slot.
    pub fn byte_array(&mut self) -> *mut c_void {
        self.array = TVMFFIByteArray { data: self.as_ptr(), size: self.as_bytes().len() };
        ptr::from_mut(&mut self.array).cast()
    }
}

/// Slot for a list of names, which callers borrow as an array of C strings.
#[derive(Default)]
pub struct Names {
    texts: Buffer<u8>,
    starts: Buffer<usize>,
    pointers: Buffer<*const c_char>,
}

impl Names {
    /// Creates an empty list.
    pub const fn new() -> Names {
        Names { texts: Buffer::new(), starts: Buffer::new(), pointers: Buffer::new() }
    }

    /// Appends a name.
    ///
    /// # Errors
    /// MemoryError.
    pub fn push(&mut self, name: &[u8]) -> Result<()> {
        self.starts.try_push(self.texts.len())?;
        self.texts.try_extend_from_slice(name)?;
        Ok(self.texts.try_push(0)?)
    }

    /// Returns the number of names, and an array of them as C strings. No name may be appended
    /// afterwards.
    ///
    /// # Errors
    /// MemoryError; ValueError if the number of names overflows an `int`.
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

/// All slots of a thread, one for each kind of result.
pub struct Slots {
    /// The string returned by [`TVMGetLastError`](super::error::TVMGetLastError).
    pub error: RefCell<StringSlot>,
    /// The last error as an error object, if tvm-ffi raised it.
    pub last: RefCell<Option<Error>>,
    /// The string returned by [`TVMGetLastBacktrace`](super::error::TVMGetLastBacktrace).
    pub backtrace: RefCell<StringSlot>,
    /// String, data type (as a string) or bytes returned by a function call.
    pub result: RefCell<StringSlot>,
    /// String, data type (as a string) or bytes that is the value of an attribute.
    pub attribute: RefCell<StringSlot>,
    /// Names of global functions.
    pub functions: RefCell<Names>,
    /// Names of attributes.
    pub attributes: RefCell<Names>,
}

per_thread!(
    static SLOTS: Slots = Slots {
        error: RefCell::new(StringSlot::new()),
        last: RefCell::new(None),
        backtrace: RefCell::new(StringSlot::new()),
        result: RefCell::new(StringSlot::new()),
        attribute: RefCell::new(StringSlot::new()),
        functions: RefCell::new(Names::new()),
        attributes: RefCell::new(Names::new()),
    }
);

/// Runs `body` on the slots of this thread. Returns `None` on a terminating thread whose slots are
/// destroyed, and if there is no memory to register their destructor.
pub fn with<R>(body: impl FnOnce(&Slots) -> R) -> Option<R> {
    per_thread::with_shared(&SLOTS, body)
}

/// Creates the RuntimeError for a terminating thread whose slots are destroyed.
#[cold]
pub fn no_slots() -> Error {
    plain_error!(RUNTIME_ERROR, "The thread ends: it keeps no results")
}
