//! Equality of values as map keys.

use ferrite_core::abi::{TVMFFIAny, type_index};
use ferrite_core::error::Result;
use ferrite_core::platform::prefetch;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::big_int::BigInt;
use ferrite_core::value::convert::AnyCompatible;

use super::hooks::EQUAL_HOOKS;

/// Returns `true` if two values are equal as map keys.
///
/// # Errors
/// Errors of the type's `__any_equal__` hook; InternalError if the hook is not a function or does
/// not return a bool.
///
/// # Upstream
/// `AnyEqual` in `include/tvm/ffi/any.h`.
pub fn equal(lhs: AnyView<'_>, rhs: AnyView<'_>) -> Result<bool> {
    match equal_without_hook(&lhs, &rhs) {
        Some(is_equal) => Ok(is_equal),
        None => equal_by_hook(lhs, rhs),
    }
}

/// Returns the result of [`equal`]; `None` if a registered hook must be called.
///
/// Takes references: a copy of a view that was just stored in pieces would wait for store
/// forwarding.
pub(crate) fn equal_without_hook(lhs: &AnyView<'_>, rhs: &AnyView<'_>) -> Option<bool> {
    equal_inline(lhs, rhs).or_else(|| equal_by_content(lhs, rhs))
}

/// Fast path of [`equal_without_hook`] for plain values and for two values of the same type,
/// inlined into the caller. Returns `None` for other values.
#[inline]
pub(crate) fn equal_inline(lhs: &AnyView<'_>, rhs: &AnyView<'_>) -> Option<bool> {
    if same_words(lhs.as_raw(), rhs.as_raw()) {
        return Some(true);
    }
    // Plain values are equal only by their words; a small string may equal a string on the heap,
    // which has another type index.
    let (left, right) = (lhs.type_index(), rhs.type_index());
    if is_plain(lhs) || is_plain(rhs) {
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
        (
            type_index::BYTES | type_index::SMALL_BYTES,
            type_index::BYTES | type_index::SMALL_BYTES,
        ) => Some(lhs.bytes_of_bytes() == rhs.bytes_of_bytes()),
        (type_index::BIG_INT, type_index::BIG_INT) => Some(equal_big_ints(*lhs, *rhs)),
        (left, right) if left != right || left < type_index::STATIC_OBJECT_BEGIN => Some(false),
        _ => None,
    }
}

/// Returns whether two different objects of one type are equal by its `__any_equal__` hook; `false`
/// without a hook.
pub(crate) fn equal_by_hook(lhs: AnyView<'_>, rhs: AnyView<'_>) -> Result<bool> {
    // C++ writes a bool to the lowest byte and leaves the others as they were.
    Ok(EQUAL_HOOKS.call(&[lhs, rhs])?.is_some_and(|result| result as u8 != 0))
}

/// Returns `true` if two big integers have the same value. They are normalised, so equal values
/// have equal words.
fn equal_big_ints(lhs: AnyView<'_>, rhs: AnyView<'_>) -> bool {
    let value = |key| BigInt::try_from_view(key).ok().flatten();
    match (value(lhs), value(rhs)) {
        (Some(lhs), Some(rhs)) => lhs.words() == rhs.words(),
        _ => false,
    }
}

/// Returns `true` if a key is plain, an inline scalar: not a string, bytes or an object. Plain keys
/// are equal only if bitwise equal.
#[inline]
pub(crate) fn is_plain(key: &AnyView<'_>) -> bool {
    key.type_index() < type_index::SMALL_STR
}

/// Returns `true` if two cells are bitwise equal: the same plain value, small string or object.
#[inline]
pub(crate) fn same_words(lhs: &TVMFFIAny, rhs: &TVMFFIAny) -> bool {
    // SAFETY: all payload bytes are initialised in every value.
    let (left, right) = unsafe { (lhs.payload.v_uint64, rhs.payload.v_uint64) };
    lhs.type_index == rhs.type_index && lhs.small_str_len == rhs.small_str_len && left == right
}

/// Prefetches both cache lines of a key's object, if the key is an object.
#[inline]
pub(crate) fn prefetch(key: &AnyView<'_>) {
    if let Some(object) = key.object_ptr() {
        prefetch::to_read(object.as_ptr());
        prefetch_text(key);
    }
}

/// Prefetches the second cache line of a string object, which holds the end of its content. The
/// first line, with the address of the content, loads at the same time.
#[inline]
pub(crate) fn prefetch_text(text: &AnyView<'_>) {
    if let Some(object) = text.object_ptr() {
        prefetch::to_read(object.as_ptr().cast::<u8>().wrapping_add(63));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::value::any::Any;
    use ferrite_core::value::string::{Bytes, String};

    use crate::containers::Array;

    fn text(value: &str) -> Result<Any> {
        Ok(Any::new(String::new(value)?))
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
        let array = Any::new(Array::<i64>::new()?);
        let other = Any::new(Array::<i64>::new()?);
        assert!(equal(array.view(), array.clone().view())?);
        assert!(!equal(array.view(), other.view())?);
        Ok(())
    }
}
