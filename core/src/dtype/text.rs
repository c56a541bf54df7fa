//! Parsing and formatting of the dtypes that upstream names.
#![forbid(unsafe_code)]

use super::spellings::{self, CUSTOM, after, name_of};
use super::{code, custom};
use crate::abi::{DLDataType, TVMFFIAny};
use crate::error::{Error, Result};
use crate::message::SHORT;
use crate::string;
use crate::text::{Lossy, Writer};
use crate::{error, plain_error, store_forwarding};
use core::fmt;
use core::mem::MaybeUninit;

/// The first code of custom types, whose names are resolved by global functions.
///
/// # Upstream
/// `kDLExtCustomBegin` of `include/tvm/ffi/dtype.h`.
pub const CUSTOM_BEGIN: u8 = 129;

/// Buffer size for the name of any dtype with a standard code. The longest has 31 bytes (`float8_e4m3b11fnuz` and
/// lanes).
const SHORT_TEXT_BYTES: usize = 32;

impl DLDataType {
    /// Parses a dtype, such as `float32`, `i8x4`, `bf16`, `float8_e4m3fn`, `int32xvscalex4` or `custom[name]`.
    ///
    /// The empty string and `void` are the void type. No byte beyond `text` is read. Allocates only for a custom type,
    /// whose code is looked up by the global function `dtype.get_custom_type_code`.
    ///
    /// # Errors
    /// ValueError if the string is not a dtype, or if bits or lanes are out of range; for custom types, errors of the
    /// global function. Microcontroller builds know custom types only with the feature `custom-dtypes`.
    ///
    /// # Upstream
    /// `StringViewToDLDataType_` of `src/ffi/dtype.cc`. Decimal numbers of more than 64 bits are out of range here,
    /// where upstream takes them modulo 2^64.
    pub fn parse(text: &[u8]) -> Result<DLDataType> {
        if text.is_empty() || text == b"void" {
            return Ok(DLDataType { code: code::OPAQUE_HANDLE, bits: 0, lanes: 0 });
        }
        let mut source = Source { prefix: b"", tail: text, rest: text };
        let Some((spelling, tail)) = spellings::at_start(text) else {
            return Err(source.unknown());
        };
        let is_narrow = spelling.code == code::FLOAT && spellings::is_narrow(tail);
        if !is_narrow && spelling.bits == 0 {
            return Err(source.unknown());
        }
        let (prefix, quoted) = if SHORT { (&b""[..], text) } else { (spelling.name(), tail) };
        source = Source { prefix, tail: quoted, rest: tail };
        let (mut code, mut bits) = (spelling.code, spelling.bits);
        if is_narrow {
            (code, bits) = source.take_narrow()?;
        } else {
            if code == CUSTOM {
                code = custom::read(&mut source)?;
            }
            bits = source.take_bits(bits)?;
        }
        let dtype = DLDataType { code, bits, lanes: source.take_lanes(!is_narrow)? };
        // Size-optimised builds store it field by field, in less code.
        Ok(if cfg!(feature = "speed") { store_forwarding::dtype(dtype) } else { dtype })
    }
}

/// Returns the name of a standard code, or `None` for complex, unassigned and custom codes.
///
/// # Upstream
/// `DLDataTypeCodeAsCStr` of `include/tvm/ffi/dtype.h`.
pub fn code_name(code: u8) -> Option<&'static str> {
    name_of(code).and_then(|name| core::str::from_utf8(name).ok())
}

/// Writes the name of `dtype`: an empty string for void, `handle` for handles of any width.
///
/// # Errors
/// ValueError if the code is neither custom nor has a name; for custom codes, errors of the global function
/// `dtype.get_custom_type_name`; MemoryError if `out` fails.
///
/// # Upstream
/// `DLDataTypeToString_` of `src/ffi/dtype.cc`; as there, complex numbers have no name.
pub fn write_dtype(dtype: DLDataType, out: &mut dyn fmt::Write) -> Result<()> {
    let refused = |_| error!(MemoryError, "no room for the text of a dtype");
    if dtype.code >= CUSTOM_BEGIN {
        return write!(out, "{}", Lossy(super::to_string(dtype)?.as_bytes())).map_err(refused);
    }
    let name = standard_name(dtype.code)?;
    let mut room = [0; SHORT_TEXT_BYTES];
    let mut text = Writer::new(&mut room);
    write_named(name, dtype, &mut text);
    let len = text.wanted;
    write!(out, "{}", Lossy(&room[..len])).map_err(refused)
}

/// Writes the name of `dtype`, as [`to_string`](super::to_string) returns it, to a cell as a string value, which the
/// caller then owns. The previous content of the cell is not released.
///
/// # Errors
/// The errors of [`write_dtype`]. The cell is then unchanged.
pub fn write_string(dtype: DLDataType, cell: &mut MaybeUninit<TVMFFIAny>) -> Result<()> {
    let mut compose = |name: &[u8]| string::compose(cell, &|out| write_named(name, dtype, out));
    match custom::name(dtype.code)? {
        None => compose(standard_name(dtype.code)?),
        Some(name) => compose(name.view().bytes_of_string().unwrap_or_default()),
    }
}

#[cfg_attr(not(feature = "speed"), inline(never))]
fn standard_name(code: u8) -> Result<&'static [u8]> {
    name_of(code).ok_or_else(
        || plain_error!(VALUE_ERROR, "DLDataType contains unknown type_code={}", code; "no type code"),
    )
}

/// Writes a dtype, given the name of its code. Scalable lanes are stored as a negative number.
fn write_named(name: &[u8], dtype: DLDataType, out: &mut Writer<'_>) {
    let DLDataType { code, bits, lanes } = dtype;
    let is_handle = code == code::OPAQUE_HANDLE;
    if is_handle && bits == 0 && lanes == 0 {
        return;
    }
    let is_custom = custom::is(code);
    if is_custom {
        out.put(b"custom[");
    }
    out.put(name);
    if is_custom {
        out.put(b"]");
    }
    if is_handle {
        return;
    }
    let plain_bool = code == code::BOOL && bits == 8;
    if code < code::FLOAT8_E3M4 && !plain_bool {
        out.put_word(bits.into());
    }
    let lanes = i32::from(lanes.cast_signed());
    if !(-1..=1).contains(&lanes) {
        out.put(if lanes < 0 { b"xvscalex" } else { b"x" });
        out.put_word(lanes.unsigned_abs() as usize);
    }
}

/// A dtype string being parsed, split into its canonical prefix and the rest, both of which errors quote.
/// Size-optimised builds quote the string as given, with an empty prefix.
pub(super) struct Source<'a> {
    pub(super) prefix: &'static [u8],
    pub(super) tail: &'a [u8],
    /// The part of the tail that is not yet parsed.
    pub(super) rest: &'a [u8],
}

/// Creates an error that may quote the string. Size-optimised builds have one message for all such errors.
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
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub(super) fn unknown(&self) -> Error {
        plain_error!(
            VALUE_ERROR, "unknown dtype `{}{}`", self.prefix, self.tail;
            "unknown dtype `{}`", self.tail
        )
    }

    /// Consumes `text` if it comes next. Returns `true` if it did.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub(super) fn take(&mut self, text: &[u8]) -> bool {
        match after(self.rest, text) {
            Some(rest) => self.rest = rest,
            None => return false,
        }
        true
    }

    /// Consumes a decimal number. Returns 0 if there are no digits, and the largest number on overflow.
    #[cfg_attr(not(feature = "speed"), inline(never))]
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
    fn take_bits(&mut self, default: u8) -> Result<u8> {
        let number = self.take_number();
        match u8::try_from(number) {
            Ok(0) => Ok(default),
            Ok(bits) => Ok(bits),
            Err(_) => {
                Err(out_of_range!(self, number, "Bits value {} is out of range for uint8_t in dtype '{}{}'"))
            }
        }
    }

    /// Parses the rest of a narrow float, such as `8_e4m3`. Returns the code and the number of bits.
    fn take_narrow(&mut self) -> Result<(u8, u8)> {
        let Some((spelling, rest)) = spellings::narrow(self.rest) else {
            let bits = self.tail.get(..1).unwrap_or_default();
            return Err(refusal!(self, "unknown float{} type `{}{}`", bits, self.prefix, self.tail));
        };
        self.rest = rest;
        Ok((spelling.code, spelling.bits))
    }

    /// Parses `xN` or `xvscalexN` up to the end of the string. The default is one lane. As upstream, accepts `xvscale`
    /// without a number.
    fn take_lanes(&mut self, may_scale: bool) -> Result<u16> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::to_string;

    fn parsed(text: &str) -> (u8, u8, u16) {
        let dtype = DLDataType::parse(text.as_bytes()).unwrap();
        (dtype.code, dtype.bits, dtype.lanes)
    }

    fn refusal(text: &[u8]) -> std::string::String {
        let error = DLDataType::parse(text).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        std::string::String::from_utf8(error.message_bytes().to_vec()).unwrap()
    }

    fn printed(code: u8, bits: u8, lanes: u16) -> std::string::String {
        let text = to_string(DLDataType { code, bits, lanes }).unwrap();
        std::string::String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn parses_names_and_aliases() {
        assert_eq!(parsed("int32"), (code::INT, 32, 1));
        assert_eq!(parsed("int"), (code::INT, 32, 1));
        assert_eq!(parsed("i8x4"), (code::INT, 8, 4));
        assert_eq!(parsed("u1"), (code::UINT, 1, 1));
        assert_eq!(parsed("f16"), (code::FLOAT, 16, 1));
        assert_eq!(parsed("float8"), (code::FLOAT, 8, 1));
        assert_eq!(parsed("bf16"), (code::BFLOAT, 16, 1));
        assert_eq!(parsed("bfloat"), (code::BFLOAT, 16, 1));
        assert_eq!(parsed("bool"), (code::BOOL, 8, 1));
        assert_eq!(parsed("bool1"), (code::BOOL, 1, 1));
        assert_eq!(parsed("handle"), (code::OPAQUE_HANDLE, 64, 1));
        assert_eq!(parsed("void"), (code::OPAQUE_HANDLE, 0, 0));
        assert_eq!(parsed(""), (code::OPAQUE_HANDLE, 0, 0));
    }

    #[test]
    fn parses_narrow_floats() {
        assert_eq!(parsed("fp8_e4m3"), (code::FLOAT8_E4M3, 8, 1));
        assert_eq!(parsed("f8_e4m3b11fnuzx2"), (code::FLOAT8_E4M3B11FNUZ, 8, 2));
        assert_eq!(parsed("float6_e3m2fn"), (code::FLOAT6_E3M2FN, 6, 1));
        assert_eq!(parsed("f4_e2m1fnx2"), (code::FLOAT4_E2M1FN, 4, 2));
        assert_eq!(parsed("float4_e2m1fn_x2"), (code::FLOAT4_E2M1FN, 4, 2));
        assert_eq!(parsed("float4_e2m1fn_"), (code::FLOAT4_E2M1FN, 4, 1));
    }

    #[test]
    fn parses_scalable_lanes_as_upstream_does() {
        assert_eq!(parsed("int8xvscalex4"), (code::INT, 8, 0xfffc));
        assert_eq!(parsed("int32xvscale"), (code::INT, 32, 1));
        assert_eq!(parsed("int8xvscalex65535"), (code::INT, 8, 1));
    }

    #[test]
    fn refuses_with_the_canonical_text() {
        assert_eq!(refusal(b"i8foo"), "unknown dtype `int8foo`");
        assert_eq!(refusal(b"complex64"), "unknown dtype `complex64`");
        assert_eq!(refusal(b"fp8_zzz"), "unknown float8 type `float8_zzz`");
        assert_eq!(refusal(b"i"), "unknown dtype `i`");
        assert_eq!(refusal(b"custom"), "expected opening brace after 'custom' type incustom");
        assert_eq!(refusal(b"custom[a"), "expected closing brace after 'custom' type incustom[a");
    }

    #[test]
    fn refuses_numbers_out_of_range() {
        let lanes = "Invalid lanes specification in dtype 'int8x0'. Lanes must be a positive integer.";
        assert_eq!(refusal(b"int8x0"), lanes);
        assert_eq!(refusal(b"int300"), "Bits value 300 is out of range for uint8_t in dtype 'int300'");
        assert_eq!(
            refusal(b"i8x70000"),
            "Lanes value 70000 is out of range for uint16_t in dtype 'int8x70000'"
        );
        assert_eq!(
            refusal(b"int99999999999999999999999"),
            "Integer value in dtype string '99999999999999999999999' is out of range for uint32_t"
        );
    }

    #[test]
    fn prints_every_form() {
        assert_eq!(printed(code::FLOAT, 32, 1), "float32");
        assert_eq!(printed(code::FLOAT, 32, 0), "float32");
        assert_eq!(printed(code::FLOAT, 32, 0x8000), "float32xvscalex32768");
        assert_eq!(printed(code::BOOL, 8, 1), "bool");
        assert_eq!(printed(code::BOOL, 8, 2), "boolx2");
        assert_eq!(printed(code::BOOL, 1, 1), "bool1");
        assert_eq!(printed(code::OPAQUE_HANDLE, 0, 0), "");
        assert_eq!(printed(code::OPAQUE_HANDLE, 64, 4), "handle");
        assert_eq!(printed(code::FLOAT8_E4M3B11FNUZ, 8, 0xff00), "float8_e4m3b11fnuzxvscalex256");
    }

    #[test]
    fn refuses_to_print_codes_without_a_name() {
        for code in [5, 18, 128] {
            let error = to_string(DLDataType { code, bits: 8, lanes: 1 }).unwrap_err();
            assert_eq!(error.kind_bytes(), b"ValueError");
            assert!(error.message_bytes().starts_with(b"DLDataType contains unknown type_code="));
        }
    }

    #[test]
    fn text_round_trips_for_every_standard_dtype() {
        for code in (0..=17).filter(|&code| code != 5 && code != code::OPAQUE_HANDLE) {
            let bits = DLDataType::parse(code_name(code).unwrap().as_bytes()).unwrap().bits;
            for lanes in [1, 2, 65535u16.wrapping_sub(2)] {
                if code >= code::FLOAT8_E3M4 && lanes > 0x7fff {
                    continue; // narrow floats have no scalable form
                }
                let text = printed(code, bits, lanes);
                assert_eq!(parsed(&text), (code, bits, lanes), "{text}");
            }
        }
    }
}
