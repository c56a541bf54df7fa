//! Errors of conversions, and the limits of what converts.
#![forbid(unsafe_code)]

use core::fmt::Display;

use serde_core::de::{self, Unexpected};
use serde_core::ser;

use crate::error::{Error, Result};
use crate::names::type_table;
use crate::platform::text::Lossy;
use crate::value::any::{Any, AnyView};
use crate::value::big_int::BigInt;

/// Maximum depth of nested values. A List may contain itself.
pub(super) const MAX_DEPTH: usize = 128;

impl ser::Error for Error {
    fn custom<T: Display>(message: T) -> Error {
        crate::error!(ValueError, "{message}")
    }
}

impl de::Error for Error {
    fn custom<T: Display>(message: T) -> Error {
        crate::error!(ValueError, "{message}")
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Error {
        crate::error!(TypeError, "Expected {expected} but got {unexpected}")
    }
}

/// Reads an integer of up to 128 bits.
pub(super) fn integer_of(value: &Any) -> Result<i128> {
    let Some(wide) = value.try_get::<BigInt>()? else { return value.get::<i64>().map(i128::from) };
    match *wide.words() {
        [low, high] => Ok((i128::from(high) << 64) | i128::from(low as u64)),
        ref words => Err(crate::error!(
            OverflowError,
            "Integer of {} bits is out of range for `i128`",
            64 * words.len()
        )),
    }
}

#[cold]
pub(super) fn no_form(view: AnyView<'_>) -> Error {
    crate::error!(
        TypeError,
        "A value of type `{}` has no form in serde",
        Lossy(type_table::type_key_of(view.type_index()))
    )
}

#[cold]
pub(super) fn too_deep() -> Error {
    crate::error!(ValueError, "the value is nested more than {MAX_DEPTH} levels deep")
}
