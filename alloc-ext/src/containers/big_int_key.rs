//! Big integers as keys: by value, here and through the hooks that other code finds.

use ferrite_core::any::AnyView;
use ferrite_core::big_int::BigInt;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{static_function, type_index};

/// The hash of a big integer as a key; 0 for other values.
pub(super) fn hash(key: AnyView<'_>) -> u64 {
    words_of(key).map_or(0, |value| hash_words(&value))
}

/// The hash of a big integer: that of its words as a text.
pub(crate) fn hash_words(value: &BigInt) -> u64 {
    value.words().iter().fold(0, |result, word| super::key::hash_step(result, *word as u64))
}

/// Whether two big integers have the same value. They have as few words as possible, so equal values have equal words.
pub(super) fn equal(lhs: AnyView<'_>, rhs: AnyView<'_>) -> bool {
    match (words_of(lhs), words_of(rhs)) {
        (Some(lhs), Some(rhs)) => lhs.words() == rhs.words(),
        _ => false,
    }
}

fn words_of(value: AnyView<'_>) -> Option<BigInt> {
    BigInt::try_from_view(value).ok().flatten()
}

/// Registers the hooks of big integers, unless they are there.
///
/// They are functions, which clients of all versions call alike; the address of a hook has another signature since 0.1.15.
///
/// # Errors
/// MemoryError.
pub(super) fn install(hash_column: &str, equal_column: &str) -> Result<()> {
    static HASH: StaticFunction = static_function!("ffi.BigInt.__any_hash__", hash_function);
    static EQUAL: StaticFunction = static_function!("ffi.BigInt.__any_equal__", equal_function);
    super::key::install(type_index::BIG_INT, hash_column, &HASH)?;
    super::key::install(type_index::BIG_INT, equal_column, &EQUAL)
}

fn hash_function(key: BigInt) -> i64 {
    hash_words(&key) as i64
}

fn equal_function(lhs: BigInt, rhs: BigInt) -> bool {
    lhs.words() == rhs.words()
}
