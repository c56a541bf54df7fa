//! Big integers as keys: by value, here and through the hooks that other code finds.

use core::ffi::c_void;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::big_int::BigInt;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{plain_error, type_index, type_table};

/// The hash of a big integer: that of its words as a text.
pub(super) fn hash(key: AnyView<'_>) -> u64 {
    words_of(key).map_or(0, |value| {
        value.words().iter().fold(0, |result, word| super::key::hash_step(result, *word as u64))
    })
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
/// # Errors
///
/// MemoryError.
pub(super) fn install(hash_column: &str, equal_column: &str) -> Result<()> {
    let hooks = [(hash_column, hash_hook as *mut c_void), (equal_column, equal_hook as *mut c_void)];
    for (column, hook) in hooks {
        if type_table::attr(type_index::BIG_INT, column.as_bytes()).is_none() {
            type_table::register_attr(type_index::BIG_INT, column.as_bytes(), AnyView::from(&hook))?;
        }
    }
    Ok(())
}

/// # Safety
///
/// `key` points to a value.
unsafe extern "C" fn hash_hook(key: *const TVMFFIAny) -> TVMFFIAny {
    // SAFETY: the caller vouches for the cell.
    let key = unsafe { AnyView::from_raw(key.read()) };
    answer(&[key], || Any::from(hash(key) as i64))
}

/// # Safety
///
/// `lhs` and `rhs` point to values.
unsafe extern "C" fn equal_hook(lhs: *const TVMFFIAny, rhs: *const TVMFFIAny) -> TVMFFIAny {
    // SAFETY: the caller vouches for the cells.
    let (lhs, rhs) = unsafe { (AnyView::from_raw(lhs.read()), AnyView::from_raw(rhs.read())) };
    answer(&[lhs, rhs], || Any::from(equal(lhs, rhs)))
}

/// The answer, or an error for anything but big integers.
fn answer(keys: &[AnyView<'_>], make: impl FnOnce() -> Any) -> TVMFFIAny {
    if keys.iter().all(|key| key.type_index() == type_index::BIG_INT) {
        make().into_raw()
    } else {
        plain_error!(TYPE_ERROR, "Expected big integers as keys").into_any().into_raw()
    }
}
