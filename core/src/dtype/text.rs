//! The text of every dtype that upstream names, read and written.
#![forbid(unsafe_code)]

use core::fmt;

use super::code;
use crate::abi::DLDataType;
use crate::any::{Any, AnyView};
use crate::error::Result;
use crate::function::Function;
use crate::string::String;
use crate::text::{Lossy, Writer};
use crate::{error, plain_bail};

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

/// The names of the standard codes, in their order. Complex numbers have none.
const NAMES: &[u8] = b"int\0uint\0float\0handle\0bfloat\0\0bool\0float8_e3m4\0float8_e4m3\0float8_e4m3b11fnuz\0\
    float8_e4m3fn\0float8_e4m3fnuz\0float8_e5m2\0float8_e5m2fnuz\0float8_e8m0fnu\0float6_e2m3fn\0float6_e3m2fn\0\
    float4_e2m1fn";

/// How many codes have a place in [`NAMES`].
const NAMED: usize = 18;

/// Where each name starts, and where a further one would.
static STARTS: [u8; NAMED + 1] = starts();

const fn starts() -> [u8; NAMED + 1] {
    let mut starts = [0; NAMED + 1];
    let (mut at, mut code) = (0, 0);
    while at < NAMES.len() {
        if NAMES[at] == 0 {
            code += 1;
            starts[code] = at as u8 + 1;
        }
        at += 1;
    }
    assert!(code + 1 == NAMED);
    starts[NAMED] = NAMES.len() as u8 + 1;
    starts
}

/// Bytes of `float8_` and the like.
const NARROW_PREFIX_BYTES: usize = 7;

/// How a text of a sized type may begin: the code, its bits when none are given, and how many letters of the name are
/// enough when a digit follows.
const SIZED: [(u8, u8, usize); 6] = [
    (code::INT, 32, 1),
    (code::UINT, 32, 1),
    (code::BOOL, 8, 0),
    (code::FLOAT, 32, 1),
    (code::OPAQUE_HANDLE, 64, 0),
    (code::BFLOAT, 16, 2),
];

/// Widths of narrow floats in bits, each with the first of its codes; codes of one width follow each other.
const NARROW: [(u8, u8); 3] = [(8, code::FLOAT8_E3M4), (6, code::FLOAT6_E2M3FN), (4, code::FLOAT4_E2M1FN)];

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
        if let Some((tail, bits, code)) = narrow(text) {
            return Source::new(name_of(code).get(..NARROW_PREFIX_BYTES), tail).parse_narrow(bits, code);
        }
        for &(code, bits, short) in &SIZED {
            let name = name_of(code);
            if let Some(tail) = after(text, name).or_else(|| shortened(text, name, short)) {
                return Source::new(Some(name), tail).parse_sized(tail, code, bits);
            }
        }
        match after(text, b"custom") {
            Some(tail) => Source::new(Some(b"custom"), tail).parse_custom(),
            None => Source::new(None, text).unknown(),
        }
    }
}

/// Splits `float8_`, `fp8_`, `f8_` and the like off a text; gives the rest, the bits, and the first code of that width.
fn narrow(text: &[u8]) -> Option<(&[u8], u8, u8)> {
    let rest = after(text, b"f")?;
    let rest = after(rest, b"loat").or_else(|| after(rest, b"p")).unwrap_or(rest);
    let (bits, code) = *NARROW.iter().find(|(bits, _)| rest.first() == Some(&(b'0' + bits)))?;
    Some((after(rest.get(1..)?, b"_")?, bits, code))
}

/// Splits the first letters of a name off a text when a digit follows them.
fn shortened<'a>(text: &'a [u8], name: &[u8], letters: usize) -> Option<&'a [u8]> {
    let tail = after(text, name.get(..letters)?)?;
    (letters != 0 && tail.first()?.is_ascii_digit()).then_some(tail)
}

/// The name of a code, empty when it has none.
#[cfg_attr(not(feature = "std"), inline(never))]
fn name_of(code: u8) -> &'static [u8] {
    match STARTS.get(usize::from(code)..) {
        Some([start, next, ..]) => NAMES.get(usize::from(*start)..usize::from(*next) - 1).unwrap_or_default(),
        _ => b"",
    }
}

/// The text behind a prefix.
#[cfg_attr(not(feature = "std"), inline(never))]
fn after<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    text.split_at_checked(prefix.len()).filter(|(start, _)| *start == prefix).map(|(_, rest)| rest)
}

/// Returns the name of a standard code, or None for complex, unassigned and custom codes.
///
/// # Upstream
/// `DLDataTypeCodeAsCStr` of `include/tvm/ffi/dtype.h`.
pub fn code_name(code: u8) -> Option<&'static str> {
    core::str::from_utf8(name_of(code)).ok().filter(|name| !name.is_empty())
}

/// Writes the text of `dtype`: the empty text for void, `handle` for handles of any width.
///
/// Errors: ValueError when the code is neither one that has a name nor a custom one; for custom codes, what
/// the global function `dtype.get_custom_type_name` raises; MemoryError when `out` refuses the text.
///
/// # Upstream
/// `DLDataTypeToString_` of `src/ffi/dtype.cc`; like there, complex numbers have no name.
pub fn write_dtype(dtype: DLDataType, out: &mut dyn fmt::Write) -> Result<()> {
    let refused = |_| error!(MEMORY_ERROR, "no room for the text of a dtype");
    if dtype.code >= CUSTOM_BEGIN {
        return write!(out, "{}", Lossy(to_string(dtype)?.as_bytes())).map_err(refused);
    }
    let name = standard_name(dtype.code)?;
    let mut room = [0; SHORT_TEXT_BYTES];
    let mut text = Writer::new(&mut room);
    write_named(name, dtype, &mut text);
    let len = text.wanted;
    write!(out, "{}", Lossy(&room[..len])).map_err(refused)
}

/// Returns the text of `dtype` as a String, which is small for all common types.
///
/// Errors: as [`write_dtype`].
///
/// # Upstream
/// `TVMFFIDataTypeToString`.
pub fn to_string(dtype: DLDataType) -> Result<String> {
    if dtype.code < CUSTOM_BEGIN {
        let name = standard_name(dtype.code)?;
        return String::compose(&|out| write_named(name, dtype, out));
    }
    let name = custom_name(dtype.code)?;
    String::compose(&|out| {
        out.put(b"custom[");
        out.put(name.as_bytes());
        out.put(b"]");
        write_lanes(dtype.lanes, out);
    })
}

#[cfg_attr(not(feature = "std"), inline(never))]
fn standard_name(code: u8) -> Result<&'static [u8]> {
    match name_of(code) {
        b"" => plain_bail!(VALUE_ERROR, "DLDataType contains unknown type_code={}", code),
        name => Ok(name),
    }
}

/// Writes a dtype whose code has a name.
fn write_named(name: &[u8], dtype: DLDataType, out: &mut Writer<'_>) {
    let is_handle = dtype.code == code::OPAQUE_HANDLE;
    if is_handle && dtype.bits == 0 && dtype.lanes == 0 {
        return;
    }
    out.put(name);
    if is_handle {
        return;
    }
    let plain_bool = dtype.code == code::BOOL && dtype.bits == 8;
    if dtype.code < code::FLOAT8_E3M4 && !plain_bool {
        out.put_digits(u64::from(dtype.bits));
    }
    write_lanes(dtype.lanes, out);
}

/// Writes the lanes part; scalable lanes are stored negated.
fn write_lanes(lanes: u16, out: &mut Writer<'_>) {
    let lanes = i32::from(lanes.cast_signed());
    if (-1..=1).contains(&lanes) {
        return;
    }
    out.put(if lanes < 0 { b"xvscalex" } else { b"x" });
    out.put_digits(u64::from(lanes.unsigned_abs()));
}

/// Asks the global function for the name of a custom code.
fn custom_name(code: u8) -> Result<String> {
    ask(GET_CUSTOM_NAME, AnyView::from(i64::from(code)))?.get::<String>()
}

/// Asks a global function that custom dtypes need.
#[inline(never)]
fn ask(name: &str, argument: AnyView<'_>) -> Result<Any> {
    match Function::global(name)? {
        Some(function) => function.call(&[argument]),
        None => plain_bail!(VALUE_ERROR, "Function {} not found", name),
    }
}

/// A dtype text split into its canonical prefix and the rest, which errors quote.
struct Source<'a> {
    prefix: &'static [u8],
    tail: &'a [u8],
}

impl<'a> Source<'a> {
    fn new(prefix: Option<&'static [u8]>, tail: &'a [u8]) -> Source<'a> {
        Source { prefix: prefix.unwrap_or_default(), tail }
    }

    fn unknown<T>(&self) -> Result<T> {
        plain_bail!(VALUE_ERROR, "unknown dtype `{}{}`", self.prefix, self.tail)
    }

    /// Parses `[bits][lanes]`, which is all of the tail or the end of it.
    fn parse_sized(&self, text: &[u8], code: u8, default_bits: u8) -> Result<DLDataType> {
        let (number, rest) = take_number(text)?;
        let bits = match u8::try_from(number) {
            Ok(0) => default_bits,
            Ok(bits) => bits,
            Err(_) => plain_bail!(
                VALUE_ERROR,
                "Bits value {} is out of range for uint8_t in dtype '{}{}'",
                number,
                self.prefix,
                self.tail
            ),
        };
        self.with_lanes(rest, true, code, bits)
    }

    /// Parses `variant[lanes]`; a 4-bit float may have an underscore before its lanes.
    fn parse_narrow(&self, bits: u8, first_code: u8) -> Result<DLDataType> {
        let mut code = first_code;
        while let Some(variant) = after(name_of(code), self.prefix) {
            match after(self.tail, variant) {
                Some(rest @ ([] | [b'x', ..])) => return self.with_lanes(rest, false, code, bits),
                Some([b'_', rest @ ..]) if bits == 4 => return self.with_lanes(rest, false, code, bits),
                _ => code += 1,
            }
        }
        plain_bail!(VALUE_ERROR, "unknown float{} type `{}{}`", bits, self.prefix, self.tail)
    }

    /// Parses the `[name]` of a custom type, whose code a global function tells, and the rest.
    fn parse_custom(&self) -> Result<DLDataType> {
        let Some(name) = after(self.tail, b"[") else {
            plain_bail!(
                VALUE_ERROR,
                "expected opening brace after 'custom' type in{}{}",
                self.prefix,
                self.tail
            );
        };
        let end = name.iter().position(|&byte| byte == b']');
        let Some((name, rest)) = end.and_then(|end| Some((name.get(..end)?, name.get(end + 1..)?))) else {
            plain_bail!(
                VALUE_ERROR,
                "expected closing brace after 'custom' type in{}{}",
                self.prefix,
                self.tail
            );
        };
        let name = String::from_bytes(name)?;
        let code = ask(GET_CUSTOM_CODE, AnyView::from(&name))?;
        // Upstream keeps the low byte as well.
        let code = code.get::<i64>()?;
        self.parse_sized(rest, code as u8, 32)
    }

    /// Parses `xN` or `xvscalexN`, the end of the text; without, there is one lane. Upstream takes `xvscale` alone as well.
    fn with_lanes(&self, text: &[u8], may_scale: bool, code: u8, bits: u8) -> Result<DLDataType> {
        let scaled = after(text, b"xvscale").filter(|_| may_scale);
        let text = scaled.unwrap_or(text);
        let (lanes, rest) = match after(text, b"x") {
            Some(digits) => take_number(digits)?,
            None => (1, text),
        };
        if lanes == 0 {
            plain_bail!(
                VALUE_ERROR,
                "Invalid lanes specification in dtype '{}{}'. Lanes must be a positive integer.",
                self.prefix,
                self.tail
            );
        }
        let Ok(count) = u16::try_from(lanes) else {
            plain_bail!(
                VALUE_ERROR,
                "Lanes value {} is out of range for uint16_t in dtype '{}{}'",
                lanes,
                self.prefix,
                self.tail
            );
        };
        if !rest.is_empty() {
            return self.unknown();
        }
        let is_scaled = scaled.is_some() && text.len() > rest.len();
        Ok(DLDataType { code, bits, lanes: if is_scaled { count.wrapping_neg() } else { count } })
    }
}

/// Splits decimal digits off a text; none count as 0.
#[cfg_attr(not(feature = "std"), inline(never))]
fn take_number(text: &[u8]) -> Result<(u32, &[u8])> {
    let mut value = Some(0u32);
    let mut rest = text;
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
        rest = after;
    }
    match value {
        Some(value) => Ok((value, rest)),
        None => plain_bail!(
            VALUE_ERROR,
            "Integer value in dtype string '{}' is out of range for uint32_t",
            text.get(..text.len() - rest.len()).unwrap_or_default()
        ),
    }
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
