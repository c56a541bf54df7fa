//! Keys of look-ups in maps: the key type itself, or a string for keys that are strings.

use core::mem::offset_of;

use super::AnyCompatible;
use crate::abi::{TVMFFIByteArray, TVMFFIObject, TVMFFIObjectDeleterSlot, type_index};
use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::string;

/// A lookup key of maps with keys of type `K`: a `K`, or a `str` if keys are strings.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a key of a map whose keys are `{K}`")]
pub trait KeyOf<K> {
    /// Calls `look` with a view of the key.
    ///
    /// # Safety
    /// `look` must not retain the value: the object of a long text lies on the stack.
    ///
    /// # Errors
    /// The errors of `look`.
    unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R>;
}

impl<K: AnyCompatible> KeyOf<K> for K {
    #[inline(always)]
    unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
        look(self.view())
    }
}

macro_rules! texts {
    ($($key:ty: $($name:ty),*;)*) => {$($(
        impl KeyOf<$key> for $name {
            unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
                with_view(self, look)
            }
        }
    )*)*};
}

texts! {
    string::String: str;
    Any: str;
}

#[cfg(feature = "alloc")]
texts! {
    string::String: alloc::string::String;
    alloc::string::String: str, alloc::string::String;
    alloc::boxed::Box<str>: str, alloc::boxed::Box<str>;
}

impl KeyOf<char> for char {
    unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
        with_view(self.encode_utf8(&mut [0; 4]), look)
    }
}

/// A string object on the stack, whose content is borrowed.
#[repr(C, align(8))]
struct BorrowedString {
    header: TVMFFIObject,
    array: TVMFFIByteArray,
}

const _: () = assert!(offset_of!(BorrowedString, array) == size_of::<TVMFFIObject>());

/// Calls `look` with a view of the text. The function must not keep a reference to the value:
/// containers that only search for a key do not.
fn with_view<R>(text: &str, look: impl FnOnce(AnyView<'_>) -> R) -> R {
    if text.len() <= string::SMALL_MAX {
        let mut word = [0; 8];
        word[..text.len()].copy_from_slice(text.as_bytes());
        return look(AnyView::from(&string::String::of_word(u64::from_le_bytes(word), text.len())));
    }
    let mut object = BorrowedString {
        header: TVMFFIObject {
            combined_ref_count: 0x1_0000_0001,
            type_index: type_index::STR,
            padding: 0,
            deleter: TVMFFIObjectDeleterSlot { ensure_align: 0 },
        },
        array: TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() },
    };
    look(AnyView::pointer(type_index::STR, (&raw mut object).cast()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_both_lengths_are_viewed() {
        for text in ["", "seven!!", "eight!!!", "much longer than a small string"] {
            with_view(text, |view| assert_eq!(view.bytes_of_string(), Some(text.as_bytes())));
        }
    }
}
