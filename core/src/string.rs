//! Text and bytes: up to seven bytes in the value itself, more in an object.

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::abi::{TVMFFIAny, TVMFFIAnyPayload};
use crate::any::{Any, AnyView};
use crate::convert::AnyCompatible;
use crate::error::Result;
use crate::text::{Lossy, Writer};
use crate::{any_from, any_texts, type_index};

/// The longest content that fits into the value itself.
const SMALL_MAX: usize = 7;

/// Text. Usually UTF-8, but C may put any bytes in it.
///
/// # Upstream
/// `tvm::ffi::String` in `string.h`.
#[repr(transparent)]
#[derive(Clone)]
pub struct String(Any);

/// Bytes.
///
/// # Upstream
/// `tvm::ffi::Bytes` in `string.h`.
#[repr(transparent)]
#[derive(Clone)]
pub struct Bytes(Any);

/// The small form of `content`, if it fits.
fn small(type_index: i32, content: &[u8]) -> Option<Any> {
    if content.len() > SMALL_MAX {
        return None;
    }
    let mut v_bytes = [0; 8];
    v_bytes[..content.len()].copy_from_slice(content);
    let raw =
        TVMFFIAny { type_index, small_str_len: content.len() as u32, payload: TVMFFIAnyPayload { v_bytes } };
    // SAFETY: a small string or small bytes cell points to nothing.
    Some(unsafe { Any::from_raw(raw) })
}

#[cfg(not(feature = "client"))]
mod large {
    use core::mem::size_of;
    use core::ptr;

    use crate::abi::{TVMFFIByteArray, TVMFFIObject};
    use crate::any::Any;
    use crate::error::Result;
    use crate::object_alloc::{self, ObjectRecord};

    /// A string or bytes object: the byte array that C reads; content and a NUL follow in place.
    #[repr(C)]
    struct BytesRecord {
        header: TVMFFIObject,
        array: TVMFFIByteArray,
    }

    // SAFETY: repr(C), header first.
    unsafe impl ObjectRecord for BytesRecord {
        unsafe fn destroy(_: *mut TVMFFIObject) {}
    }

    /// An object with a copy of `content`.
    pub(super) fn copy(type_index: i32, content: &[u8]) -> Result<Any> {
        // SAFETY: the copy is as long as the content of the object, which is new.
        let fill =
            |target: *mut u8| unsafe { ptr::copy_nonoverlapping(content.as_ptr(), target, content.len()) };
        object(type_index, content.len(), fill)
    }

    /// An object of `len` bytes that `write` gets to change; they are zero until then.
    pub(super) fn written(type_index: i32, len: usize, write: impl FnOnce(&mut [u8])) -> Result<Any> {
        object(type_index, len, |target| {
            // SAFETY: the object is new and has `len` bytes.
            unsafe {
                ptr::write_bytes(target, 0, len);
                write(core::slice::from_raw_parts_mut(target, len));
            }
        })
    }

    /// An object of `len` bytes, all of which `fill` initialises.
    fn object(type_index: i32, len: usize, fill: impl FnOnce(*mut u8)) -> Result<Any> {
        let init = |record: *mut BytesRecord| {
            // SAFETY: the allocation has room for the record, the content and a NUL.
            unsafe {
                let content = record.add(1).cast::<u8>();
                (&raw mut (*record).array).write(TVMFFIByteArray { data: content.cast(), size: len });
                fill(content);
                content.add(len).write(0);
            }
        };
        // SAFETY: init fills the record, which needs no destruction; string and bytes objects share this layout (ABI).
        let object = unsafe { object_alloc::allocate(type_index, len.saturating_add(1), init)? };
        Ok(object.into_any())
    }

    const _: () = assert!(size_of::<BytesRecord>() == 24 + 2 * size_of::<usize>());
}

#[cfg(feature = "client")]
mod large {
    use crate::abi::client;
    use crate::abi::{TVMFFIAny, TVMFFIByteArray};
    use crate::any::{Any, AnyView};
    use crate::error::Result;
    use crate::memory::Buffer;
    use crate::{error, raised, type_index};

    /// An object made by the loaded `libtvm_ffi`, whose code outlives this binary's.
    pub(super) fn written(type_index: i32, len: usize, write: impl FnOnce(&mut [u8])) -> Result<Any> {
        let mut content = Buffer::<u8>::new();
        content.try_resize(len, 0)?;
        write(&mut content);
        copy(type_index, &content)
    }

    /// An object with a copy of `content`, made likewise.
    pub(super) fn copy(type_index: i32, content: &[u8]) -> Result<Any> {
        let len = content.len();
        let array = TVMFFIByteArray { data: content.as_ptr().cast(), size: len };
        let mut raw: TVMFFIAny = *AnyView::NONE.as_raw();
        // SAFETY: the array is valid for the call, the out-pointer too; the result is ours.
        unsafe {
            let status = if type_index == type_index::STR {
                client::TVMFFIStringFromByteArray(&array, &mut raw)
            } else {
                client::TVMFFIBytesFromByteArray(&array, &mut raw)
            };
            if status != 0 {
                return Err(raised::take().unwrap_or_else(|| error::out_of_memory(len)));
            }
            Ok(Any::from_raw(raw))
        }
    }
}

fn make(small_index: i32, large_index: i32, content: &[u8]) -> Result<Any> {
    match small(small_index, content) {
        Some(value) => Ok(value),
        None => large::copy(large_index, content),
    }
}

impl String {
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
        make(type_index::SMALL_STR, type_index::STR, text).map(String)
    }

    /// Formats text, without an intermediate copy.
    ///
    /// # Errors
    /// MemoryError.
    pub fn format(text: fmt::Arguments<'_>) -> Result<String> {
        // A Display that fails leaves the text that it wrote until then.
        String::compose(&|out| {
            let _ = fmt::Write::write_fmt(out, text);
        })
    }

    /// The text that `write` writes, without an intermediate copy; it is called twice when that is long.
    ///
    /// # Errors
    /// MemoryError.
    pub fn compose(write: &dyn Fn(&mut Writer<'_>)) -> Result<String> {
        let mut content = [0; SMALL_MAX];
        let mut start = Writer::new(&mut content);
        write(&mut start);
        let len = start.wanted;
        match content.get(..len) {
            Some(content) => String::from_bytes(content),
            None => {
                large::written(type_index::STR, len, |target| write(&mut Writer::new(target))).map(String)
            }
        }
    }

    /// The text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        content_of(&self.0)
    }

    /// The text, if it is UTF-8.
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
        make(type_index::SMALL_BYTES, type_index::BYTES, content).map(Bytes)
    }

    /// The content.
    pub fn as_bytes(&self) -> &[u8] {
        content_of(&self.0)
    }
}

/// The content of a string or bytes value, borrowed from the value.
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
        // SAFETY: string objects hold a byte array after their header, and keep a NUL behind its content.
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
