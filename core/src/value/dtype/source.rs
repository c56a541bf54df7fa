//! Parser of dtype strings.
#![forbid(unsafe_code)]

use super::spellings::{self, after};
use crate::error::message::SHORT;
use crate::error::{Error, Result};
use crate::plain_error;

/// A dtype string being parsed, split into its canonical prefix and the rest, both of which errors
/// quote. Size-optimised builds quote the string as given, with an empty prefix.
pub(super) struct Source<'a> {
    pub(super) prefix: &'static [u8],
    pub(super) tail: &'a [u8],
    /// The part of the tail that is not yet parsed.
    pub(super) rest: &'a [u8],
}

/// Creates an error that may quote the string. Size-optimised builds have one message for all such
/// errors.
macro_rules! refusal {
    ($source:ident, $text:literal $(, $arg:expr)*) => {
        if SHORT { $source.unknown() } else { plain_error!(VALUE_ERROR, $text $(, $arg)*) }
    };
}

/// Creates the error for the number just parsed, which is too large.
macro_rules! out_of_range {
    ($source:ident, $number:ident, $text:literal) => {
        match if SHORT { None } else { $source.overflow() } {
            Some(digits) => plain_error!(
                VALUE_ERROR,
                "Integer value in dtype string '{}' is out of range for uint32_t",
                digits
            ),
            None => refusal!($source, $text, $number, $source.prefix, $source.tail),
        }
    };
}

impl<'a> Source<'a> {
    #[cold]
    pub(super) fn unknown(&self) -> Error {
        plain_error!(
            VALUE_ERROR, "unknown dtype `{}{}`", self.prefix, self.tail;
            "unknown dtype `{}`", self.tail
        )
    }

    /// Consumes `text` if it comes next. Returns `true` if it did.
    pub(super) fn take(&mut self, text: &[u8]) -> bool {
        match after(self.rest, text) {
            Some(rest) => self.rest = rest,
            None => return false,
        }
        true
    }

    /// Consumes a decimal number. Returns 0 if there are no digits, and the largest number on
    /// overflow.
    fn take_number(&mut self) -> u32 {
        let mut value = 0u32;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            value = value.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.rest = rest;
        }
        value
    }

    /// Returns the digits just parsed if their number overflows.
    #[cold]
    fn overflow(&self) -> Option<&'a [u8]> {
        let taken = self.tail.strip_suffix(self.rest)?;
        let digits = taken.rsplit(|byte| !byte.is_ascii_digit()).next()?;
        let fits = |number: u64, digit: &u8| {
            let number = number * 10 + u64::from(digit - b'0');
            (number <= u64::from(u32::MAX)).then_some(number)
        };
        digits.iter().try_fold(0, fits).is_none().then_some(digits)
    }

    /// Parses the optional number of bits.
    pub(super) fn take_bits(&mut self, default: u8) -> Result<u8> {
        let number = self.take_number();
        match u8::try_from(number) {
            Ok(0) => Ok(default),
            Ok(bits) => Ok(bits),
            Err(_) => Err(out_of_range!(
                self,
                number,
                "Bits value {} is out of range for uint8_t in dtype '{}{}'"
            )),
        }
    }

    /// Parses the rest of a narrow float, such as `8_e4m3`. Returns the code and the number of
    /// bits.
    pub(super) fn take_narrow(&mut self) -> Result<(u8, u8)> {
        let Some((spelling, rest)) = spellings::narrow(self.rest) else {
            let bits = self.tail.get(..1).unwrap_or_default();
            return Err(refusal!(
                self,
                "unknown float{} type `{}{}`",
                bits,
                self.prefix,
                self.tail
            ));
        };
        self.rest = rest;
        Ok((spelling.code, spelling.bits))
    }

    /// Parses `xN` or `xvscalexN` up to the end of the string. The default is one lane. As
    /// upstream, accepts `xvscale` without a number.
    pub(super) fn take_lanes(&mut self, may_scale: bool) -> Result<u16> {
        let is_scaled = may_scale && self.take(b"xvscale");
        let is_counted = self.take(b"x");
        let lanes = if is_counted { self.take_number() } else { 1 };
        if lanes == 0 {
            return Err(refusal!(
                self,
                "Invalid lanes specification in dtype '{}{}'. Lanes must be a positive integer.",
                self.prefix,
                self.tail
            ));
        }
        let Ok(count) = u16::try_from(lanes) else {
            return Err(out_of_range!(
                self,
                lanes,
                "Lanes value {} is out of range for uint16_t in dtype '{}{}'"
            ));
        };
        if !self.rest.is_empty() {
            return Err(self.unknown());
        }
        Ok(if is_scaled && is_counted { count.wrapping_neg() } else { count })
    }
}
