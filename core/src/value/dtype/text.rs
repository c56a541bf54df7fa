//! Parsing and formatting of the dtypes that upstream names.
#![forbid(unsafe_code)]

use super::code::{self, CUSTOM_BEGIN};
use super::custom;
use super::source::Source;
use super::spellings::{self, CUSTOM, name_of};
use crate::abi::{DLDataType, TVMFFIAny};
use crate::error::Result;
use crate::error::message::SHORT;
use crate::platform::text::{Lossy, Writer};
use crate::value::{store_forwarding, string};
use crate::{error, plain_error};
use core::fmt;
use core::mem::MaybeUninit;

/// Buffer size for the name of any dtype with a standard code. The longest has 31 bytes
/// (`float8_e4m3b11fnuz` and lanes).
const SHORT_TEXT_BYTES: usize = 32;

impl DLDataType {
    /// Parses a dtype, such as `float32`, `i8x4`, `bf16`, `float8_e4m3fn`, `int32xvscalex4` or
    /// `custom[name]`.
    ///
    /// The empty string and `void` are the void type. No byte beyond `text` is read. Allocates only
    /// for a custom type, whose code is looked up by the global function
    /// `dtype.get_custom_type_code`.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::abi::DLDataType;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let dtype = DLDataType::parse(b"bfloat16x4")?;
    /// assert_eq!((dtype.bits, dtype.lanes), (16, 4));
    /// assert_eq!(DLDataType::parse(b"floaty").unwrap_err().kind_bytes(), b"ValueError");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError if the string is not a dtype, or if bits or lanes are out of range; for custom
    /// types, errors of the global function. Microcontroller builds know custom types only with the
    /// feature `custom-dtypes`.
    ///
    /// # Upstream
    /// `StringViewToDLDataType_` of `src/ffi/dtype.cc`. Decimal numbers of more than 64 bits are
    /// out of range here, where upstream takes them modulo 2^64.
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
/// ValueError if the code is neither custom nor has a name; for custom codes, errors of the global
/// function `dtype.get_custom_type_name`; MemoryError if `out` fails.
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

/// Writes the name of `dtype`, as [`to_string`](super::to_string) returns it, to a cell as a string
/// value, which the caller then owns. The previous content of the cell is not released.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::dtype::to_string;

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
        let lanes =
            "Invalid lanes specification in dtype 'int8x0'. Lanes must be a positive integer.";
        assert_eq!(refusal(b"int8x0"), lanes);
        assert_eq!(
            refusal(b"int300"),
            "Bits value 300 is out of range for uint8_t in dtype 'int300'"
        );
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
