//! Views of a `&str` as a string value for lookups: an object on the stack, without an allocation.

use core::mem::offset_of;

use crate::abi::{TVMFFIByteArray, TVMFFIObject, TVMFFIObjectDeleterSlot, type_index};
use crate::value::any::AnyView;
use crate::value::string::{SMALL_MAX, String};

/// A string object on the stack, whose content is borrowed.
#[repr(C, align(8))]
struct Borrowed {
    header: TVMFFIObject,
    array: TVMFFIByteArray,
}

const _: () = assert!(offset_of!(Borrowed, array) == size_of::<TVMFFIObject>());

/// Calls `look` with a view of the text. The function must not keep a reference to the value:
/// containers that only search for a key do not.
pub(crate) fn with_view<R>(text: &str, look: impl FnOnce(AnyView<'_>) -> R) -> R {
    if text.len() <= SMALL_MAX {
        let mut word = [0; 8];
        word[..text.len()].copy_from_slice(text.as_bytes());
        return look(AnyView::from(&String::of_word(u64::from_le_bytes(word), text.len())));
    }
    let mut object = Borrowed {
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
