//! The text of every dtype that upstream names, read and written.
#![forbid(unsafe_code)]

use core::fmt;

use super::code;
use crate::abi::DLDataType;
use crate::any::AnyView;
use crate::error::Result;
use crate::function::Function;
use crate::memory::Buffer;
use crate::string::String;
use crate::text::{Lossy, SliceWriter};
use crate::{bail, error};

/// First of the codes that belong to custom types, whose names global functions give.
///
/// # Upstream
/// `kDLExtCustomBegin` of `include/tvm/ffi/dtype.h`.
pub const CUSTOM_BEGIN: u8 = 129;

/// Room for the text of any dtype of a standard code, of which the longest has 31 bytes (`float8_e4m3b11fnuz`
/// and lanes).
const SHORT_TEXT_BYTES: usize = 32;

const GET_CUSTOM_NAME: &str = "dtype.get_custom_type_name";
const GET_CUSTOM_CODE: &str = "dtype.get_custom_type_code";

impl DLDataType {
    /// Reads a dtype from its text, such as `float32`, `i8x4`, `bf16`, `float8_e4m3fn`, `int32xvscalex4` or
    /// `custom[name]`.
    ///
    /// Empty text and `void` are the void type. No byte beyond `text` is read, and nothing is allocated
    /// unless the text names a custom type, whose code the global function `dtype.get_custom_type_code`
    /// gives.
    ///
    /// Errors: ValueError when the text names no dtype, or when bits or lanes are out of range.
    ///
    /// # Upstream
    /// `StringViewToDLDataType_` of `src/ffi/dtype.cc`. Decimal numbers of more than 64 bits are out of range
    /// here, where upstream takes them modulo 2^64.
    pub fn parse(text: &[u8]) -> Result<DLDataType> {
        if text.is_empty() || text == b"void" {
            return Ok(DLDataType { code: code::OPAQUE_HANDLE, bits: 0, lanes: 0 });
        }
        let source = Source::split(text)?;
        match source.family {
            Family::Variant(variants, width) => source.parse_variant(variants, width),
            Family::Sized(code, bits) => source.parse_sized(code, bits, 0),
            Family::Custom => {
                let (code, used) = parse_custom(&source)?;
                source.parse_sized(code, 32, used)
            }
        }
    }
}

/// Writes the text of `dtype`: the empty text for void, `handle` for handles of any width.
///
/// Errors: ValueError when the code is neither one that has a name nor a custom one; for custom codes, what
/// the global function `dtype.get_custom_type_name` raises; MemoryError when `out` refuses the text.
///
/// # Upstream
/// `DLDataTypeToString_` of `src/ffi/dtype.cc`; like there, complex numbers have no name.
pub fn write_dtype(dtype: DLDataType, out: &mut dyn fmt::Write) -> Result<()> {
    let name = match code_name(dtype.code) {
        Some(name) => name,
        None if dtype.code >= CUSTOM_BEGIN => return write_custom(dtype, out),
        None => bail!(VALUE_ERROR, "DLDataType contains unknown type_code={}", dtype.code),
    };
    write_named(name, dtype, out).map_err(|_| error!(MEMORY_ERROR, "no room for the text of a dtype"))
}

/// Returns the text of `dtype` as a String, which is small for all common types.
///
/// Errors: as [`write_dtype`].
///
/// # Upstream
/// `TVMFFIDataTypeToString`.
pub fn to_string(dtype: DLDataType) -> Result<String> {
    if dtype.code >= CUSTOM_BEGIN {
        return custom_to_string(dtype);
    }
    let mut room = [0; SHORT_TEXT_BYTES];
    let mut text = SliceWriter::new(&mut room);
    write_dtype(dtype, &mut text)?;
    let len = text.len;
    String::from_bytes(&room[..len])
}

/// Returns the name of a standard code, or None for complex, unassigned and custom codes.
///
/// # Upstream
/// `DLDataTypeCodeAsCStr` of `include/tvm/ffi/dtype.h`.
pub fn code_name(code: u8) -> Option<&'static str> {
    let named = match code {
        code::INT => "int",
        code::UINT => "uint",
        code::FLOAT => "float",
        code::OPAQUE_HANDLE => "handle",
        code::BFLOAT => "bfloat",
        code::BOOL => "bool",
        code::FLOAT8_E3M4 => "float8_e3m4",
        code::FLOAT8_E4M3 => "float8_e4m3",
        code::FLOAT8_E4M3B11FNUZ => "float8_e4m3b11fnuz",
        code::FLOAT8_E4M3FN => "float8_e4m3fn",
        code::FLOAT8_E4M3FNUZ => "float8_e4m3fnuz",
        code::FLOAT8_E5M2 => "float8_e5m2",
        code::FLOAT8_E5M2FNUZ => "float8_e5m2fnuz",
        code::FLOAT8_E8M0FNU => "float8_e8m0fnu",
        code::FLOAT6_E2M3FN => "float6_e2m3fn",
        code::FLOAT6_E3M2FN => "float6_e3m2fn",
        code::FLOAT4_E2M1FN => "float4_e2m1fn",
        _ => return None,
    };
    Some(named)
}

/// Writes a dtype whose code has a name.
fn write_named(name: &str, dtype: DLDataType, out: &mut dyn fmt::Write) -> fmt::Result {
    if dtype.code == code::OPAQUE_HANDLE {
        let void = dtype.bits == 0 && dtype.lanes == 0;
        return if void { Ok(()) } else { out.write_str(name) };
    }
    out.write_str(name)?;
    let plain_bool = dtype.code == code::BOOL && dtype.bits == 8;
    if dtype.code < code::FLOAT8_E3M4 && !plain_bool {
        write!(out, "{}", dtype.bits)?;
    }
    write_lanes(dtype.lanes, out)
}

/// Writes the lanes part; scalable lanes are stored negated.
fn write_lanes(lanes: u16, out: &mut dyn fmt::Write) -> fmt::Result {
    let lanes = i32::from(lanes.cast_signed());
    if lanes > 1 {
        write!(out, "x{lanes}")
    } else if lanes < -1 {
        write!(out, "xvscalex{}", -lanes)
    } else {
        Ok(())
    }
}

/// Writes a dtype of a custom code.
fn write_custom(dtype: DLDataType, out: &mut dyn fmt::Write) -> Result<()> {
    let name = custom_name(dtype.code)?;
    write!(out, "custom[{}]", Lossy(name.as_bytes()))
        .and_then(|()| write_lanes(dtype.lanes, out))
        .map_err(|_| error!(MEMORY_ERROR, "no room for the text of a dtype"))
}

/// Builds the text of a custom dtype, whose name may have any length.
fn custom_to_string(dtype: DLDataType) -> Result<String> {
    let name = custom_name(dtype.code)?;
    let mut room = [0; SHORT_TEXT_BYTES];
    let mut lanes = SliceWriter::new(&mut room);
    // A slice writer never fails.
    let _ = write_lanes(dtype.lanes, &mut lanes);
    let len = lanes.len;
    let mut text = Buffer::new();
    for part in [&b"custom["[..], name.as_bytes(), b"]", &room[..len]] {
        text.try_extend_from_slice(part)?;
    }
    String::from_bytes(&text)
}

/// Asks the global function for the name of a custom code.
fn custom_name(code: u8) -> Result<String> {
    let name = required_global(GET_CUSTOM_NAME)?;
    name.call(&[AnyView::from(i64::from(code))])?.get::<String>()
}

/// Finds a global function that custom dtypes need.
fn required_global(name: &str) -> Result<Function> {
    match Function::global(name)? {
        Some(function) => Ok(function),
        None => bail!(VALUE_ERROR, "Function {name} not found"),
    }
}

/// A code's floating-point variants: the part of the name behind `float8_` and the like, longest prefix
/// first.
type Variants = &'static [(&'static [u8], u8)];

const FLOAT8: Variants = &[
    (b"e4m3b11fnuz", code::FLOAT8_E4M3B11FNUZ),
    (b"e4m3fnuz", code::FLOAT8_E4M3FNUZ),
    (b"e4m3fn", code::FLOAT8_E4M3FN),
    (b"e5m2fnuz", code::FLOAT8_E5M2FNUZ),
    (b"e8m0fnu", code::FLOAT8_E8M0FNU),
    (b"e3m4", code::FLOAT8_E3M4),
    (b"e4m3", code::FLOAT8_E4M3),
    (b"e5m2", code::FLOAT8_E5M2),
];
const FLOAT6: Variants = &[(b"e2m3fn", code::FLOAT6_E2M3FN), (b"e3m2fn", code::FLOAT6_E3M2FN)];
const FLOAT4: Variants = &[(b"e2m1fn", code::FLOAT4_E2M1FN)];

/// How the text behind the prefix goes on.
#[derive(Clone, Copy)]
enum Family {
    /// Bits and lanes follow; the fields are the code and the bits when none are given.
    Sized(u8, u8),
    /// The name of a narrow float follows; the second field is its width in bits.
    Variant(Variants, u8),
    /// A name in brackets follows.
    Custom,
}

/// Prefixes in the order in which they are tried: the text, its canonical form, and whether a digit must
/// follow.
#[rustfmt::skip]
const PREFIXES: &[(&[u8], &str, bool, Family)] = &[
    (b"int",     "int",     false, Family::Sized(code::INT, 32)),
    (b"i",       "int",     true,  Family::Sized(code::INT, 32)),
    (b"uint",    "uint",    false, Family::Sized(code::UINT, 32)),
    (b"u",       "uint",    true,  Family::Sized(code::UINT, 32)),
    (b"bool",    "bool",    false, Family::Sized(code::BOOL, 8)),
    (b"float8_", "float8_", false, Family::Variant(FLOAT8, 8)),
    (b"fp8_",    "float8_", false, Family::Variant(FLOAT8, 8)),
    (b"f8_",     "float8_", false, Family::Variant(FLOAT8, 8)),
    (b"float6_", "float6_", false, Family::Variant(FLOAT6, 6)),
    (b"fp6_",    "float6_", false, Family::Variant(FLOAT6, 6)),
    (b"f6_",     "float6_", false, Family::Variant(FLOAT6, 6)),
    (b"float4_", "float4_", false, Family::Variant(FLOAT4, 4)),
    (b"fp4_",    "float4_", false, Family::Variant(FLOAT4, 4)),
    (b"f4_",     "float4_", false, Family::Variant(FLOAT4, 4)),
    (b"float",   "float",   false, Family::Sized(code::FLOAT, 32)),
    (b"f",       "float",   true,  Family::Sized(code::FLOAT, 32)),
    (b"handle",  "handle",  false, Family::Sized(code::OPAQUE_HANDLE, 64)),
    (b"bfloat",  "bfloat",  false, Family::Sized(code::BFLOAT, 16)),
    (b"bf",      "bfloat",  true,  Family::Sized(code::BFLOAT, 16)),
    (b"custom",  "custom",  false, Family::Custom),
];

/// A dtype text split into its canonical prefix and the rest; prints as the canonical text, which errors
/// quote.
struct Source<'a> {
    family: Family,
    prefix: &'static str,
    tail: &'a [u8],
}

impl<'a> Source<'a> {
    fn split(text: &'a [u8]) -> Result<Source<'a>> {
        for &(spelled, prefix, before_digit, family) in PREFIXES {
            let Some(tail) = text.strip_prefix(spelled) else { continue };
            if !before_digit || tail.first().is_some_and(u8::is_ascii_digit) {
                return Ok(Source { family, prefix, tail });
            }
        }
        bail!(VALUE_ERROR, "unknown dtype `{}`", Lossy(text))
    }

    /// Parses `[bits][lanes]` from `offset` of the tail on.
    fn parse_sized(&self, code: u8, default_bits: u8, offset: usize) -> Result<DLDataType> {
        let mut scan = Scan { rest: self.tail.get(offset..).unwrap_or_default() };
        let number = scan.number()?;
        let bits = match u8::try_from(number) {
            Ok(0) => default_bits,
            Ok(bits) => bits,
            Err(_) => bail!(VALUE_ERROR, "Bits value {number} is out of range for uint8_t in dtype '{self}'"),
        };
        let lanes = scan.lanes(self, true)?;
        self.finish(&scan, DLDataType { code, bits, lanes })
    }

    /// Parses `variant[lanes]`; a 4-bit float may have an underscore before its lanes.
    fn parse_variant(&self, variants: Variants, bits: u8) -> Result<DLDataType> {
        let underscore = bits == 4;
        for &(name, code) in variants {
            let Some(rest) = self.tail.strip_prefix(name) else { continue };
            let mut scan = Scan { rest };
            match rest.first() {
                None | Some(b'x') => {}
                Some(b'_') if underscore => scan.rest = &rest[1..],
                Some(_) => continue,
            }
            let lanes = scan.lanes(self, false)?;
            return self.finish(&scan, DLDataType { code, bits, lanes });
        }
        bail!(VALUE_ERROR, "unknown float{bits} type `{self}`")
    }

    /// Accepts `dtype` if all text is used.
    fn finish(&self, scan: &Scan<'_>, dtype: DLDataType) -> Result<DLDataType> {
        if !scan.rest.is_empty() {
            bail!(VALUE_ERROR, "unknown dtype `{self}`");
        }
        Ok(dtype)
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix, Lossy(self.tail))
    }
}

/// What is left of a dtype text.
struct Scan<'a> {
    rest: &'a [u8],
}

impl Scan<'_> {
    /// Takes decimal digits; none count as 0.
    fn number(&mut self) -> Result<u32> {
        let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        let value = digits
            .iter()
            .try_fold(0u32, |value, digit| value.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
        match value {
            Some(value) => Ok(value),
            None => bail!(
                VALUE_ERROR,
                "Integer value in dtype string '{}' is out of range for uint32_t",
                Lossy(digits)
            ),
        }
    }

    /// Takes a lanes part, `xN` or `xvscalexN`; none counts as one lane, and so does a lone `xvscale`, as
    /// upstream has it.
    fn lanes(&mut self, source: &Source<'_>, allow_scalable: bool) -> Result<u16> {
        let scalable = self.rest.strip_prefix(b"xvscale").filter(|_| allow_scalable);
        self.rest = scalable.unwrap_or(self.rest);
        let Some(digits) = self.rest.strip_prefix(b"x") else { return Ok(1) };
        self.rest = digits;
        let count = self.number()?;
        if count == 0 {
            bail!(
                VALUE_ERROR,
                "Invalid lanes specification in dtype '{source}'. Lanes must be a positive integer."
            );
        }
        match u16::try_from(count) {
            Ok(lanes) if scalable.is_some() => Ok(lanes.wrapping_neg()),
            Ok(lanes) => Ok(lanes),
            Err(_) => {
                bail!(VALUE_ERROR, "Lanes value {count} is out of range for uint16_t in dtype '{source}'")
            }
        }
    }
}

/// Parses the `[name]` of a custom type; returns its code and how many bytes of the tail it took.
fn parse_custom(source: &Source<'_>) -> Result<(u8, usize)> {
    let Some(name) = source.tail.strip_prefix(b"[") else {
        bail!(VALUE_ERROR, "expected opening brace after 'custom' type in{source}");
    };
    let Some(len) = name.iter().position(|&byte| byte == b']') else {
        bail!(VALUE_ERROR, "expected closing brace after 'custom' type in{source}");
    };
    let name = String::from_bytes(&name[..len])?;
    let code = required_global(GET_CUSTOM_CODE)?.call(&[AnyView::from(&name)])?.get::<i64>()?;
    // Upstream keeps the low byte as well.
    Ok((code.to_le_bytes()[0], len + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (u8, u8, u16) {
        let dtype = DLDataType::parse(text.as_bytes()).unwrap();
        (dtype.code, dtype.bits, dtype.lanes)
    }

    fn refusal(text: &[u8]) -> std::string::String {
        let error = DLDataType::parse(text).unwrap_err();
        assert_eq!(error.kind(), b"ValueError");
        std::string::String::from_utf8(error.message().to_vec()).unwrap()
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
        assert_eq!(refusal(b"int8\xff"), "unknown dtype `int8\u{fffd}`");
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
            assert_eq!(error.kind(), b"ValueError");
            assert!(error.message().starts_with(b"DLDataType contains unknown type_code="));
        }
    }

    #[test]
    fn custom_types_need_their_functions() {
        assert_eq!(refusal(b"custom[ferrite]8"), "Function dtype.get_custom_type_code not found");
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
