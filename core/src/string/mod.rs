//! Strings and bytes: up to seven bytes inline in the value, more in an object.

mod buffered;
#[cfg_attr(feature = "client", path = "client.rs")]
mod record;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::mem::MaybeUninit;

use crate::abi::{TVMFFIAny, TVMFFIAnyPayload};
use crate::any::{Any, AnyView};
use crate::convert::AnyCompatible;
use crate::error::Result;
use crate::memory::Buffer;
use crate::object_alloc::Space;
use crate::text::{Lossy, Writer};
use crate::{any_from, any_texts, type_index};

/// Maximum length of content stored inline.
pub(crate) const SMALL_MAX: usize = 7;

/// A string value: usually UTF-8, though C may store any bytes in it.
///
/// # Upstream
/// `tvm::ffi::String` in `string.h`.
#[repr(transparent)]
#[derive(Clone)]
pub struct String(Any);

/// A bytes value.
///
/// # Upstream
/// `tvm::ffi::Bytes` in `string.h`.
#[repr(transparent)]
#[derive(Clone)]
pub struct Bytes(Any);

/// Difference between the type indices of the object form and the small form.
const LARGE_OFFSET: i32 = type_index::STR - type_index::SMALL_STR;
const _: () = assert!(type_index::BYTES - type_index::SMALL_BYTES == LARGE_OFFSET);

/// Whether texts are composed on the stack first, so that short ones are written only once. That takes extra code,
/// which only speed builds have.
const STARTS_ON_STACK: bool = cfg!(feature = "speed");

/// Size of the stack buffer.
const SHORT_TEXT_BYTES: usize = if STARTS_ON_STACK { 32 } else { 0 };

/// Makes a string or bytes value with a copy of `content`; `small_index` is the type index of the small form.
///
/// # Errors
/// MemoryError.
fn value_of(small_index: i32, content: &[u8]) -> Result<Any> {
    let mut cell = MaybeUninit::uninit();
    // SAFETY: both references are valid; the cell is an owned value afterwards, and not shared.
    unsafe {
        write_copy(cell.as_mut_ptr(), small_index, content)?;
        Ok(Any::from_raw(cell.assume_init()))
    }
}

/// Writes a copy of `content` to a cell as a string or bytes value; `small_index` is the type index of the small form.
/// The previous content of the cell is not released.
///
/// # Errors
/// MemoryError, which leaves the cell unchanged.
///
/// # Safety
/// The content must be readable and the cell writable. They may overlap, which is why both are pointers.
#[doc(hidden)]
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
pub unsafe fn write_copy(cell: *mut TVMFFIAny, small_index: i32, content: *const [u8]) -> Result<()> {
    // SAFETY: passed on.
    unsafe { record::write_copy(cell, small_index, content) }
}

/// Writes the string that `write` composes to `cell`, without an intermediate copy; `write` is called twice for a long
/// text. The previous content of the cell is not released.
///
/// # Errors
/// MemoryError, which leaves the cell unchanged.
#[cfg_attr(not(feature = "speed"), inline(never))]
pub(crate) fn compose(cell: &mut MaybeUninit<TVMFFIAny>, write: &dyn Fn(&mut Writer<'_>)) -> Result<()> {
    let mut short = [0; SHORT_TEXT_BYTES];
    let mut start = Writer::new(&mut short);
    write(&mut start);
    let len = start.wanted;
    match short.get(..len) {
        // SAFETY: both references are valid.
        Some(text) if STARTS_ON_STACK => unsafe {
            write_copy(cell.as_mut_ptr(), type_index::SMALL_STR, text)
        },
        _ => record::write_with(cell, type_index::SMALL_STR, len, |target| write(&mut Writer::new(target))),
    }
}

impl String {
    /// Maximum length of a text stored inline, without an object.
    pub const SHORT_MAX: usize = SMALL_MAX;

    /// The empty text. Allocates nothing.
    pub const EMPTY: String = {
        let raw = TVMFFIAny {
            type_index: type_index::SMALL_STR,
            small_str_len: 0,
            payload: TVMFFIAnyPayload { v_int64: 0 },
        };
        // SAFETY: a small string cell points to nothing.
        String(unsafe { Any::from_raw(raw) })
    };

    /// Copies text. Allocates when it is longer than seven bytes.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(text: &str) -> Result<String> {
        String::from_bytes(text.as_bytes())
    }

    /// Copies text of any encoding. Allocates when it is longer than seven bytes.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `TVMFFIStringFromByteArray`.
    pub fn from_bytes(text: &[u8]) -> Result<String> {
        value_of(type_index::SMALL_STR, text).map(String)
    }

    /// Copies text of any encoding; a long text is allocated in `space`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_bytes_in(text: &[u8], space: &mut impl Space) -> Result<String> {
        if text.len() <= SMALL_MAX {
            return String::from_bytes(text);
        }
        record::object_in(space, text).map(|object| String(object.into_any()))
    }

    /// Bytes to leave at the start of a buffer, so that its text can become a string in place.
    pub const LEAD_BYTES: usize = buffered::LEAD_BYTES;

    /// Makes a string from the text of a buffer from `start` on. With [`LEAD_BYTES`](Self::LEAD_BYTES) or more before
    /// it, a long text is not copied: the string takes ownership of the buffer.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_buffer(buffer: Buffer<u8>, start: usize) -> Result<String> {
        buffered::string_of(buffer, start).map(String)
    }

    /// Makes a string from the first `len` bytes of a word in little-endian order, at most seven. Allocates nothing.
    #[inline]
    pub const fn of_word(word: u64, len: usize) -> String {
        let len = if len < SMALL_MAX { len } else { SMALL_MAX };
        let v_bytes = (word & ((1 << (8 * len)) - 1)).to_le_bytes();
        let raw = TVMFFIAny {
            type_index: type_index::SMALL_STR,
            small_str_len: len as u32,
            payload: TVMFFIAnyPayload { v_bytes },
        };
        // SAFETY: a small string cell points to nothing.
        String(unsafe { Any::from_raw(raw) })
    }

    /// Formats text, without an intermediate copy.
    ///
    /// # Errors
    /// MemoryError.
    pub fn format(text: fmt::Arguments<'_>) -> Result<String> {
        // A failing Display leaves the text that it has written so far.
        String::compose(&|out| {
            let _ = fmt::Write::write_fmt(out, text);
        })
    }

    /// Makes the string that `write` composes, without an intermediate copy; `write` is called twice for a long text.
    ///
    /// # Errors
    /// MemoryError.
    pub fn compose(write: &dyn Fn(&mut Writer<'_>)) -> Result<String> {
        let mut cell = MaybeUninit::uninit();
        compose(&mut cell, write)?;
        // SAFETY: after success the cell is a string, owned by this function alone.
        Ok(unsafe { String::from_cell(cell) })
    }

    /// Takes ownership of a string.
    ///
    /// # Safety
    /// The cell must be an owned string value, whose ownership the caller transfers.
    pub(crate) unsafe fn from_cell(cell: MaybeUninit<TVMFFIAny>) -> String {
        // SAFETY: the caller's promise.
        String(unsafe { Any::from_raw(cell.assume_init()) })
    }

    /// Borrows the text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        content_of(&self.0)
    }

    /// Borrows the text; `None` if it is not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.as_bytes()).ok()
    }
}

impl Bytes {
    /// Copies bytes. Allocates when there are more than seven.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `TVMFFIBytesFromByteArray`.
    pub fn new(content: &[u8]) -> Result<Bytes> {
        value_of(type_index::SMALL_BYTES, content).map(Bytes)
    }

    /// Borrows the content.
    pub fn as_bytes(&self) -> &[u8] {
        content_of(&self.0)
    }
}

/// Borrows the content of a string or bytes value.
fn content_of(value: &Any) -> &[u8] {
    // SAFETY: Any and AnyView are transparent over the same cell; the view borrows from `value`.
    let view: &AnyView<'_> = unsafe { &*(&raw const *value).cast() };
    view.bytes_of_string().or_else(|| view.bytes_of_bytes()).unwrap_or_default()
}

macro_rules! shared_traits {
    ($($name:ident),*) => {$(
        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.as_bytes().hash(state);
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                self.as_bytes()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&Lossy(self.as_bytes()), f)
            }
        }
    )*};
}

shared_traits!(String, Bytes);
any_from!(String, Bytes);

impl PartialEq<str> for String {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for String {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Display for String {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Lossy(self.as_bytes()), f)
    }
}

// SAFETY: the value owns its cell, which views borrow.
unsafe impl AnyCompatible for String {
    any_texts!("str", "ffi.String");

    fn view(&self) -> AnyView<'_> {
        self.0.view()
    }

    fn into_any(self) -> Any {
        self.0
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<String>> {
        match view.type_index() {
            type_index::SMALL_STR | type_index::STR => view.to_owned().map(|value| Some(String(value))),
            type_index::RAW_STR => view.bytes_of_string().map(String::from_bytes).transpose(),
            _ => Ok(None),
        }
    }
}

// SAFETY: the value owns its cell, which views borrow.
unsafe impl AnyCompatible for Bytes {
    any_texts!("bytes", "ffi.Bytes");

    fn view(&self) -> AnyView<'_> {
        self.0.view()
    }

    fn into_any(self) -> Any {
        self.0
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Bytes>> {
        match view.type_index() {
            type_index::SMALL_BYTES | type_index::BYTES => view.to_owned().map(|value| Some(Bytes(value))),
            type_index::BYTE_ARRAY_PTR => view.bytes_of_bytes().map(Bytes::new).transpose(),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_small_and_long_text_is_an_object() -> Result<()> {
        assert_eq!(String::new("seven!!")?.into_any().type_index(), type_index::SMALL_STR);
        let long = String::new("eight!!!")?;
        assert_eq!((long.as_bytes(), long.as_str()), (&b"eight!!!"[..], Some("eight!!!")));
        assert_eq!(long.into_any().type_index(), type_index::STR);
        assert_eq!(Bytes::new(&[0xff; 9])?.as_bytes(), &[0xff; 9]);
        Ok(())
    }

    #[test]
    fn objects_end_in_a_nul() -> Result<()> {
        let text = String::new("longer than seven")?;
        let object = text.view().object_ptr();
        // SAFETY: string objects have a byte array after their header, and a NUL after its content.
        let behind = object.map(|object| unsafe {
            let array = object.add(1).cast::<crate::abi::TVMFFIByteArray>().read();
            array.data.add(array.size).read()
        });
        assert_eq!(behind, Some(0));
        Ok(())
    }

    #[test]
    fn formatting_picks_the_form_by_length() -> Result<()> {
        assert_eq!(String::format(format_args!("{}-{}", 1, 2))?, "1-2");
        assert_eq!(String::format(format_args!("{:>12}", "x"))?, "           x");
        assert_eq!(String::EMPTY, "");
        Ok(())
    }

    #[test]
    fn text_and_bytes_do_not_mix() -> Result<()> {
        assert!(String::new("abc")?.into_any().try_get::<Bytes>()?.is_none());
        assert!(Bytes::new(b"abc")?.into_any().try_get::<String>()?.is_none());
        Ok(())
    }
}
