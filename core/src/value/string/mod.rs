//! String and bytes values: up to seven bytes inline in the value, longer content in an object.

mod buffered;
mod owned_elsewhere;
#[cfg_attr(feature = "client", path = "client.rs")]
mod record;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::mem::MaybeUninit;

use crate::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use crate::error::Result;
use crate::error::message::Arg;
use crate::object::object_alloc::Space;
use crate::platform::memory::Buffer;
use crate::platform::text::{Lossy, Writer};
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::{any_from, any_texts};

/// Maximum length in bytes of content that is stored inline.
pub(crate) const SMALL_MAX: usize = 7;

/// A string value. Usually UTF-8, though C code may store any bytes in it.
///
/// # Examples
/// ```
/// use ferrite_core::String;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let name = String::new("relu")?;
/// assert_eq!((name.as_str(), name.as_bytes()), (Some("relu"), &b"relu"[..]));
/// assert_eq!(String::format(format_args!("{}_{}", "relu", 1))?.as_str(), Some("relu_1"));
/// // C code may store any bytes.
/// assert_eq!(String::from_bytes(b"\xff")?.as_str(), None);
/// # Ok(())
/// # }
/// ```
///
/// There is no `Deref<Target = str>`: C code may store bytes that are not UTF-8, which a `str` must
/// not contain, and a panic would bring the process down for an argument. A parameter of type
/// `&str` raises ValueError for such a string.
///
/// # Upstream
/// `tvm::ffi::String` in `string.h`.
#[repr(transparent)]
#[derive(Clone)]
pub struct String(Any);

/// A bytes value.
///
/// # Examples
/// ```
/// use ferrite_core::Bytes;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let bytes = Bytes::new(&[0, 1, 2])?;
/// assert_eq!(bytes.as_bytes(), [0, 1, 2]);
/// assert_eq!((bytes.len(), bytes[2]), (3, 2));
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::Bytes` in `string.h`.
#[repr(transparent)]
#[derive(Clone)]
pub struct Bytes(Any);

/// Difference between the type indices of the object and inline representations of strings, and of
/// bytes.
const LARGE_OFFSET: i32 = type_index::STR - type_index::SMALL_STR;
const _: () = assert!(type_index::BYTES - type_index::SMALL_BYTES == LARGE_OFFSET);

/// Whether strings are composed on the stack first, so that short content is written only once.
/// This takes extra code, so only speed builds do it.
const STARTS_ON_STACK: bool = cfg!(feature = "speed");

/// Size in bytes of the stack buffer for short strings.
const SHORT_TEXT_BYTES: usize = if STARTS_ON_STACK { 32 } else { 0 };

/// Creates a string or bytes value with a copy of `content`; `small_index` is the type index of the
/// inline representation.
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

/// Writes a copy of `content` to a cell as a string or bytes value; `small_index` is the type index
/// of the inline representation. The previous content of the cell is not released.
///
/// # Errors
/// MemoryError; the cell is unchanged.
///
/// # Safety
/// The content must be readable and the cell writable. They may overlap, which is why both are
/// pointers.
#[doc(hidden)]
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
pub unsafe fn write_copy(
    cell: *mut TVMFFIAny,
    small_index: i32,
    content: *const [u8],
) -> Result<()> {
    // SAFETY: passed on.
    unsafe { record::write_copy(cell, small_index, content) }
}

/// Composes a string in `cell` without an intermediate copy. `write` writes the content and is
/// called twice for long content. The previous content of the cell is not released.
///
/// # Errors
/// MemoryError; the cell is unchanged.
pub(crate) fn compose(
    cell: &mut MaybeUninit<TVMFFIAny>,
    write: &dyn Fn(&mut Writer<'_>),
) -> Result<()> {
    let mut short = [0; SHORT_TEXT_BYTES];
    let mut start = Writer::new(&mut short);
    write(&mut start);
    let len = start.wanted;
    match short.get(..len) {
        // SAFETY: both references are valid.
        Some(text) if STARTS_ON_STACK => unsafe {
            write_copy(cell.as_mut_ptr(), type_index::SMALL_STR, text)
        },
        _ => record::write_with(cell, type_index::SMALL_STR, len, |target| {
            write(&mut Writer::new(target))
        }),
    }
}

impl Default for String {
    /// Returns the empty string. Allocates nothing.
    fn default() -> String {
        String::EMPTY
    }
}

impl String {
    /// Maximum length in bytes of a string stored inline, without an object.
    pub const SHORT_MAX: usize = SMALL_MAX;

    /// The empty string. Allocates nothing.
    pub const EMPTY: String = {
        let raw = TVMFFIAny {
            type_index: type_index::SMALL_STR,
            small_str_len: 0,
            payload: TVMFFIAnyPayload { v_int64: 0 },
        };
        // SAFETY: a small string cell points to nothing.
        String(unsafe { Any::from_raw(raw) })
    };

    /// Creates a string with a copy of `text`. Allocates if it is longer than seven bytes.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(text: &str) -> Result<String> {
        String::from_bytes(text.as_bytes())
    }

    /// Creates a string with a copy of bytes in any encoding. Allocates if there are more than
    /// seven.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `TVMFFIStringFromByteArray`.
    pub fn from_bytes(text: &[u8]) -> Result<String> {
        value_of(type_index::SMALL_STR, text).map(String)
    }

    /// Creates a string with a copy of bytes in any encoding. More than seven bytes are allocated
    /// in `space`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_bytes_in(text: &[u8], space: &mut impl Space) -> Result<String> {
        if text.len() <= SMALL_MAX {
            return String::from_bytes(text);
        }
        record::object_in(space, text).map(|object| String(object.into_any()))
    }

    /// Number of bytes to leave free at the start of a buffer, so that
    /// [`from_buffer`](Self::from_buffer) need not copy the content.
    pub const LEAD_BYTES: usize = buffered::LEAD_BYTES;

    /// Creates a string from the content of a buffer, beginning at `start`. If `start` is at least
    /// [`LEAD_BYTES`](Self::LEAD_BYTES), the string takes ownership of a long buffer instead of
    /// copying it.
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_buffer(buffer: Buffer<u8>, start: usize) -> Result<String> {
        buffered::string_of(buffer, start).map(String)
    }

    /// Creates a string from the first `len` bytes of a word in little-endian order; `len` is at
    /// most seven. Allocates nothing.
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

    /// Creates a string from format arguments, without an intermediate copy.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::String;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let name = String::format(format_args!("layer{}.{}", 3, "weight"))?;
    /// assert_eq!(name, "layer3.weight");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError.
    pub fn format(text: fmt::Arguments<'_>) -> Result<String> {
        // A failing Display leaves the text that it has written so far.
        String::compose(&|out| {
            let _ = fmt::Write::write_fmt(out, text);
        })
    }

    /// Composes a string without an intermediate copy. `write` writes the content and is called
    /// twice for long content.
    ///
    /// # Errors
    /// MemoryError.
    pub fn compose(write: &dyn Fn(&mut Writer<'_>)) -> Result<String> {
        let mut cell = MaybeUninit::uninit();
        compose(&mut cell, write)?;
        // SAFETY: after success the cell is a string, owned by this function alone.
        Ok(unsafe { String::from_cell(cell) })
    }

    /// Takes ownership of a string value.
    ///
    /// # Safety
    /// The cell must be an owned string value, whose ownership the caller transfers.
    pub(crate) unsafe fn from_cell(cell: MaybeUninit<TVMFFIAny>) -> String {
        // SAFETY: the caller's promise.
        String(unsafe { Any::from_raw(cell.assume_init()) })
    }

    /// Borrows the content as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        content_of(&self.0)
    }

    /// Borrows the content as `str`. Returns `None` if it is not UTF-8.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::String;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// assert_eq!(String::new("relu")?.as_str(), Some("relu"));
    /// assert_eq!(String::from_bytes(b"\xff")?.as_str(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.as_bytes()).ok()
    }
}

impl Bytes {
    /// Creates a bytes value with a copy of `content`. Allocates if there are more than seven
    /// bytes.
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

/// Dereferences to the content.
impl core::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_bytes()
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
            type_index::SMALL_STR | type_index::STR => {
                view.to_owned().map(|value| Some(String(value)))
            }
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
            type_index::SMALL_BYTES | type_index::BYTES => {
                view.to_owned().map(|value| Some(Bytes(value)))
            }
            type_index::BYTE_ARRAY_PTR => view.bytes_of_bytes().map(Bytes::new).transpose(),
            _ => Ok(None),
        }
    }
}

/// Converts a string to an argument of an error message.
impl<'a> From<&'a String> for Arg<'a> {
    fn from(text: &'a String) -> Self {
        Arg::from(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
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
    fn strings_equal_their_texts_alone_and_show_them() -> Result<()> {
        let texts = ["", "seven!!", "seven!?", "longer than seven", "longer than eight"];
        for (at, text) in texts.iter().enumerate() {
            let string = String::new(text)?;
            assert_eq!(std::format!("{string}"), *text);
            for (other_at, other) in texts.iter().enumerate() {
                let is_same = at == other_at;
                assert_eq!(
                    (string == **other, string == *other),
                    (is_same, is_same),
                    "{text} and {other}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn text_and_bytes_do_not_mix() -> Result<()> {
        assert!(String::new("abc")?.into_any().try_get::<Bytes>()?.is_none());
        assert!(Bytes::new(b"abc")?.into_any().try_get::<String>()?.is_none());
        Ok(())
    }

    /// Returns a cell as its type index, length and payload.
    fn parts(value: &Any) -> (i32, u32, u64) {
        let raw = value.as_raw();
        // SAFETY: all bytes of a cell's payload are initialised.
        (raw.type_index, raw.small_str_len, unsafe { raw.payload.v_uint64 })
    }

    /// Every length up to one more than fits inline, with every byte at every place: small values
    /// have zeros behind their content, so that they compare as words.
    #[test]
    fn short_values_hold_every_byte_at_every_place() -> Result<()> {
        for len in 0..=SMALL_MAX + 1 {
            for (place, byte) in
                (0..len.max(1)).flat_map(|place| (0..=u8::MAX).map(move |byte| (place, byte)))
            {
                let mut content = *b"abcdefgh";
                content[place.min(7)] = byte;
                let (content, word) = (&content[..len], u64::from_le_bytes(content));
                let (text, bytes) = (String::from_bytes(content)?, Bytes::new(content)?);
                assert_eq!((text.as_bytes(), bytes.as_bytes()), (content, content));
                assert_eq!(String::compose(&|out| out.put(content))?.as_bytes(), content);
                if len <= SMALL_MAX {
                    let kept = word & ((1 << (8 * len)) - 1);
                    let payload = u64::from_ne_bytes(kept.to_le_bytes());
                    assert_eq!(parts(&text.0), (type_index::SMALL_STR, len as u32, payload));
                    assert_eq!(parts(&bytes.0), (type_index::SMALL_BYTES, len as u32, payload));
                    assert_eq!(parts(&String::of_word(word, len).0), parts(&text.0));
                } else {
                    assert_eq!(
                        (text.0.type_index(), bytes.0.type_index()),
                        (type_index::STR, type_index::BYTES)
                    );
                }
            }
        }
        Ok(())
    }
}
