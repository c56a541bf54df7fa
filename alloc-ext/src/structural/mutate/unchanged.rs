//! The result that leaves a value as it is.

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload};
use ferrite_core::any::{Any, AnyView};
use ferrite_core::type_index;

/// The marker. It is no value: None would not do, since None may well replace something.
///
/// # Upstream
/// `Unchanged` in `extra/structural_mutate.h`.
pub const UNCHANGED: Any = {
    let payload = TVMFFIAnyPayload { v_int64: 0 };
    // SAFETY: a marker owns nothing.
    unsafe { Any::from_raw(TVMFFIAny { type_index: type_index::UNCHANGED, small_str_len: 0, payload }) }
};

/// Whether an answer is the marker.
pub fn is_unchanged(answer: &Any) -> bool {
    answer.type_index() == type_index::UNCHANGED
}

/// Whether two values are the same words: the same plain value, or the same object.
pub fn is_same(lhs: AnyView<'_>, rhs: AnyView<'_>) -> bool {
    lhs.type_index() == rhs.type_index()
        && lhs.as_raw().small_str_len == rhs.as_raw().small_str_len
        && lhs.payload_bits() == rhs.payload_bits()
}

/// The answer, or the value that stays.
///
/// # Upstream
/// `UnchangedOr::ValueOrUnchanged` in `extra/structural_mutate.h`.
pub fn value_or(answer: Any, unchanged: Any) -> Any {
    if is_unchanged(&answer) { unchanged } else { answer }
}
