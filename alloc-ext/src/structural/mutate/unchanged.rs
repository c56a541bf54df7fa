//! Marker that mutators return for an unchanged value.

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use ferrite_core::value::any::{Any, AnyView};

/// Marker of an unchanged value. Not a valid value: None would be ambiguous, since it may be a
/// replacement.
///
/// # Upstream
/// `Unchanged` in `extra/structural_mutate.h`.
pub const UNCHANGED: Any = {
    let payload = TVMFFIAnyPayload { v_int64: 0 };
    // SAFETY: the marker owns nothing.
    unsafe {
        Any::from_raw(TVMFFIAny { type_index: type_index::UNCHANGED, small_str_len: 0, payload })
    }
};

/// Returns `true` if a result is [`UNCHANGED`].
pub fn is_unchanged(answer: &Any) -> bool {
    answer.type_index() == type_index::UNCHANGED
}

/// Returns `true` if two values are bitwise identical: the same inline value, or the same object.
pub fn is_same(lhs: AnyView<'_>, rhs: AnyView<'_>) -> bool {
    lhs.type_index() == rhs.type_index()
        && lhs.as_raw().small_str_len == rhs.as_raw().small_str_len
        && lhs.payload_bits() == rhs.payload_bits()
}

/// Returns a mutator's result, or `unchanged` if the result is [`UNCHANGED`].
///
/// # Upstream
/// `UnchangedOr::ValueOrUnchanged` in `extra/structural_mutate.h`.
pub fn value_or(answer: Any, unchanged: Any) -> Any {
    if is_unchanged(&answer) { unchanged } else { answer }
}
