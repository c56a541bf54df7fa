//! Integers of the crate `num-bigint`: as values they are ints, or big integers beyond 64 bits.

use alloc::vec::Vec;

use num_bigint::BigInt as Number;

use crate::abi::type_index;
use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::big_int::{self, BigInt};
use crate::value::convert::{AnyCompatible, Described, FromView, IntoAny, Param, TypeText};

/// Copies the integer. The crate `num-bigint` allocates, and ends the process when out of memory.
///
/// # Examples
/// ```
/// use ferrite_core::{Any, Function};
/// use num_bigint::BigInt;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let square = Function::from_typed(|x: BigInt| &x * &x)?;
/// let wide: BigInt = square.call((1i64 << 40,))?;
/// assert_eq!(wide, BigInt::from(1u128 << 80));
/// assert_eq!(square.call::<i64>((-3,))?, 9);
/// # Ok(())
/// # }
/// ```
impl From<&BigInt> for Number {
    fn from(value: &BigInt) -> Number {
        let bytes: Vec<u8> = value.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        Number::from_signed_bytes_le(&bytes)
    }
}

impl IntoAny for Number {
    fn try_into_any(self) -> Result<Any> {
        let mut bytes = self.to_signed_bytes_le();
        let sign = if bytes.last().is_some_and(|last| *last >= 0x80) { 0xff } else { 0 };
        bytes.resize(bytes.len().next_multiple_of(size_of::<i64>()), sign);
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(size_of::<i64>()).for_each(<[u8]>::reverse);
        }
        big_int::from_native_bytes(&bytes)
    }
}

impl Described for Number {
    const TYPE: &'static TypeText = i64::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        view.type_index() == type_index::BIG_INT || <i64 as Described>::accepts(view)
    }
}

impl<'a> FromView<'a> for Number {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Number>> {
        if let Some(wide) = BigInt::try_from_view(*view)? {
            return Ok(Some(Number::from(&wide)));
        }
        Ok(i64::try_from_view(*view)?.map(Number::from))
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(matches!(view.type_index(), type_index::INT | type_index::BIG_INT))
    }
}

impl Param for Number {
    type In<'a> = Number;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<Number>> {
        Number::from_view(view)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::Function;

    #[test]
    fn integers_keep_their_value_both_ways() -> Result<()> {
        let mut number = Number::from(1);
        for shift in [0usize, 1, 62, 63, 64, 65, 127, 128, 129, 1000] {
            for sign in [1, -1] {
                for add in [-1, 0, 1] {
                    number = (Number::from(1) << shift) * sign + add;
                    let value = number.clone().try_into_any()?;
                    assert_eq!(value.get::<Number>()?, number);
                    let fits = i64::try_from(&number).is_ok();
                    assert_eq!(value.type_index() == type_index::INT, fits, "{number}");
                }
            }
        }
        assert!(number < Number::from(0));
        Ok(())
    }

    #[test]
    fn other_values_are_refused() -> Result<()> {
        let same = Function::from_typed(|x: Number| x)?;
        assert_eq!(same.call::<i64>((true,))?, 1);
        assert_eq!(same.call::<i64>(("7",)).unwrap_err().kind_bytes(), b"TypeError");
        assert_eq!(same.call::<i64>((1.5,)).unwrap_err().kind_bytes(), b"TypeError");
        Ok(())
    }
}
