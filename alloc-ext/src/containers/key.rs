//! Hash and equality of values as map keys.
//!
//! Plain values are equal when type and payload are the same bits: `1`, `1.0` and `true` are three keys, and a NaN equals
//! itself. Strings and bytes compare by content. Objects compare by address, unless their type registered
//! `__any_hash__` and `__any_equal__`.

mod hooks;
mod text_hash;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::AnyView;
use ferrite_core::error::Result;
use ferrite_core::{prefetch, type_index};

use super::big_int_key as big_int;
use super::cell::{self, same_words};
use hooks::{EQUAL_HOOKS, HASH_HOOKS};
use text_hash::hash_word;

pub(crate) use big_int::hash_words;
pub(crate) use hooks::install;
pub use hooks::install_hooks;
pub use text_hash::hash_bytes;
pub(super) use text_hash::hash_step;

/// The hash of a value as a key, the same that upstream's C++ code computes.
///
/// # Errors
/// What a registered `__any_hash__` raises; InternalError when it is no function or answers no int.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::key;
/// use ferrite_core::any::AnyView;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// assert_eq!(key::hash(&AnyView::from(5i64))?, 2654435839);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `AnyHash` in `include/tvm/ffi/any.h`.
#[inline]
pub fn hash(key: &AnyView<'_>) -> Result<u64> {
    if is_its_words(key) {
        return Ok(combine(key.type_index(), key.payload_bits()));
    }
    hash_content(key)
}

/// Whether only the same words are equal to a key: numbers and the like. What has a text or an object is compared further.
#[inline]
pub(super) fn is_its_words(key: &AnyView<'_>) -> bool {
    key.type_index() < type_index::SMALL_STR
}

#[inline(never)]
fn hash_content(key: &AnyView<'_>) -> Result<u64> {
    let type_index = key.type_index();
    Ok(match type_index {
        type_index::SMALL_STR => hash_short_text(key.payload_bits()),
        type_index::STR => hash_long_text(key),
        _ => return hash_rare(key),
    })
}

/// The hash of a short string in the cell itself, by the bits of its payload.
#[inline]
pub(crate) fn hash_short_text(payload: u64) -> u64 {
    combine(type_index::STR, hash_word(payload))
}

/// The hash of a string in an object.
#[cfg_attr(feature = "std", inline(always))]
pub(crate) fn hash_long_text(text: &AnyView<'_>) -> u64 {
    prefetch_text(text);
    hash_content_as_string(text.content_of_object().unwrap_or(b""))
}

#[cfg_attr(feature = "std", inline(never))]
fn hash_content_as_string(content: &[u8]) -> u64 {
    combine(type_index::STR, hash_bytes(content))
}

/// Asks for both cache lines of the object in a key's cell, if there is one.
///
/// # Safety
/// `cell` points to an initialised cell that nobody writes during the call.
#[inline]
pub(super) unsafe fn prefetch(cell: *const TVMFFIAny) {
    // SAFETY: the caller vouches for the cell.
    unsafe {
        cell::prefetch(cell);
        prefetch_text(cell::borrow(cell));
    }
}

/// Asks for the second cache line of a text's object, where its content goes on: together with the first, which tells where
/// the content is.
#[inline]
pub(super) fn prefetch_text(text: &AnyView<'_>) {
    if let Some(object) = text.object_ptr() {
        prefetch::to_read(object.as_ptr().cast::<u8>().wrapping_add(63));
    }
}

#[inline(never)]
fn hash_rare(key: &AnyView<'_>) -> Result<u64> {
    let (type_index, content) = match key.type_index() {
        type_index::SMALL_BYTES => (type_index::BYTES, hash_word(key.payload_bits())),
        type_index::BYTES => (type_index::BYTES, hash_bytes(key.bytes_of_bytes().unwrap_or(b""))),
        type_index::BIG_INT => (type_index::BIG_INT, big_int::hash(*key)),
        other => (other, HASH_HOOKS.ask(&[*key])?.unwrap_or_else(|| key.payload_bits())),
    };
    Ok(combine(type_index, content))
}

/// Whether two values are the same key.
///
/// # Errors
/// What a registered `__any_equal__` raises; InternalError when it is no function or answers no bool.
///
/// # Upstream
/// `AnyEqual` in `include/tvm/ffi/any.h`.
pub fn equal(lhs: AnyView<'_>, rhs: AnyView<'_>) -> Result<bool> {
    match equal_without_hook(&lhs, &rhs) {
        Some(answer) => Ok(answer),
        None => equal_by_hook(lhs, rhs),
    }
}

/// The answer of [`equal`] where no registered function has to be asked.
///
/// By reference: a copy of a view that was made in pieces a moment ago takes longer than the comparison.
pub(crate) fn equal_without_hook(lhs: &AnyView<'_>, rhs: &AnyView<'_>) -> Option<bool> {
    equal_at_once(lhs, rhs).or_else(|| equal_by_content(lhs, rhs))
}

/// The answer of [`equal_without_hook`] in the usual cases, put where it is asked for; None is for that to find out.
#[inline]
pub(super) fn equal_at_once(lhs: &AnyView<'_>, rhs: &AnyView<'_>) -> Option<bool> {
    if same_words(lhs.as_raw(), rhs.as_raw()) {
        return Some(true);
    }
    // Values in the cell itself are equal only by their words; short texts may equal long ones of another type.
    let (left, right) = (lhs.type_index(), rhs.type_index());
    if is_its_words(lhs) || is_its_words(rhs) {
        return Some(false);
    }
    if left != right {
        return None;
    }
    if left == type_index::STR {
        prefetch_text(lhs);
    }
    match left {
        ..=type_index::SMALL_BYTES => Some(false),
        type_index::STR => match (lhs.content_of_object(), rhs.content_of_object()) {
            (Some(left), Some(right)) => Some(left == right),
            _ => Some(false),
        },
        _ => None,
    }
}

fn equal_by_content(lhs: &AnyView<'_>, rhs: &AnyView<'_>) -> Option<bool> {
    match (lhs.type_index(), rhs.type_index()) {
        (type_index::SMALL_STR, type_index::SMALL_STR)
        | (type_index::SMALL_BYTES, type_index::SMALL_BYTES) => Some(false),
        (type_index::STR | type_index::SMALL_STR, type_index::STR | type_index::SMALL_STR) => {
            Some(lhs.bytes_of_string() == rhs.bytes_of_string())
        }
        (type_index::BYTES | type_index::SMALL_BYTES, type_index::BYTES | type_index::SMALL_BYTES) => {
            Some(lhs.bytes_of_bytes() == rhs.bytes_of_bytes())
        }
        (type_index::BIG_INT, type_index::BIG_INT) => Some(big_int::equal(*lhs, *rhs)),
        (left, right) if left != right || left < type_index::STATIC_OBJECT_BEGIN => Some(false),
        _ => None,
    }
}

/// The answer of [`equal`] for two objects of one type that are not the same object.
pub(super) fn equal_by_hook(lhs: AnyView<'_>, rhs: AnyView<'_>) -> Result<bool> {
    // C++ gives a bool in the lowest byte and leaves the others as they are.
    Ok(EQUAL_HOOKS.ask(&[lhs, rhs])?.is_some_and(|answer| answer as u8 != 0))
}

/// Whether hashing keys of this type runs registered code.
pub(super) fn has_hash_hook(type_index: i32) -> bool {
    !matches!(type_index, i32::MIN..=type_index::BYTES | type_index::BIG_INT)
        && HASH_HOOKS.get(type_index).is_some()
}

/// Mixes a 64-bit hash into the hash that starts with a type index.
fn combine(type_index: i32, value: u64) -> u64 {
    let seed = type_index as u64;
    seed ^ value.wrapping_add(0x9e37_79b9).wrapping_add(seed << 6).wrapping_add(seed >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::any::Any;
    use ferrite_core::string::{Bytes, String};

    fn text(value: &str) -> Result<Any> {
        Ok(Any::new(String::new(value)?))
    }

    #[test]
    fn hashes_are_upstreams() -> Result<()> {
        assert_eq!(hash(&AnyView::from(5i64))?, 2_654_435_839);
        assert_eq!(hash(&text("abc")?.view())?, 2_660_953_131);
        assert_eq!(hash(&text("abcdefgh")?.view())?, 3_546_921_335);
        assert_eq!(hash(&text("abcdefghijk")?.view())?, 3_880_220_895);
        assert_eq!(hash(&Any::new(Bytes::new(b"abc")?).view())?, 2_660_953_320);
        assert_eq!(hash(&AnyView::from(1.5f64))?, 4_609_434_221_268_138_618);
        assert_eq!(hash(&AnyView::NONE)?, 2_654_435_769);
        assert_eq!(hash(&AnyView::from(true))?, 2_654_435_896);
        Ok(())
    }

    #[test]
    fn big_integers_are_equal_by_value() -> Result<()> {
        install_hooks()?;
        install_hooks()?;
        let number = |high: i64| -> Result<Any> {
            let mut content = [0; 16];
            content[..8].copy_from_slice(&5i64.to_ne_bytes());
            content[8..].copy_from_slice(&high.to_ne_bytes());
            ferrite_core::big_int::from_native_bytes(&content)
        };
        let (one, same, other) = (number(1)?, number(1)?, number(2)?);
        assert_eq!(one.type_index(), type_index::BIG_INT);
        assert_eq!(hash(&one.view())?, hash(&same.view())?);
        assert!(equal(one.view(), same.view())? && !equal(one.view(), other.view())?);
        // What clients call gives what is computed here.
        let answer = HASH_HOOKS.ask(&[one.view()])?.expect("just installed");
        assert_eq!(combine(type_index::BIG_INT, answer), hash(&one.view())?);
        assert!(equal_by_hook(one.view(), same.view())? && !equal_by_hook(one.view(), other.view())?);
        Ok(())
    }

    #[test]
    fn keys_of_different_types_differ() -> Result<()> {
        let values = [
            Any::from(1i64),
            Any::from(1.0f64),
            Any::from(true),
            Any::NONE,
            Any::from(0.0f64),
            Any::from(-0.0f64),
        ];
        for (i, lhs) in values.iter().enumerate() {
            for (j, rhs) in values.iter().enumerate() {
                assert_eq!(equal(lhs.view(), rhs.view())?, i == j);
            }
        }
        assert!(equal(AnyView::from(f64::NAN), AnyView::from(f64::NAN))?);
        Ok(())
    }

    #[test]
    fn texts_are_equal_by_content_and_objects_by_address() -> Result<()> {
        assert!(equal(text("longer than seven")?.view(), text("longer than seven")?.view())?);
        assert!(!equal(text("longer than seven")?.view(), text("longer than eight")?.view())?);
        assert!(!equal(text("abc")?.view(), Any::new(Bytes::new(b"abc")?).view())?);
        let array = Any::new(super::super::Array::<i64>::new()?);
        let other = Any::new(super::super::Array::<i64>::new()?);
        assert!(equal(array.view(), array.clone().view())?);
        assert!(!equal(array.view(), other.view())?);
        Ok(())
    }
}
