//! Data types of TVM 0.5 to 0.20: codes, names and element sizes, and their conversion to and from
//! those of tvm-ffi.
//!
//! | type | former (code, bits) | former name | current (code, bits) | bytes per array element before tvm-ffi |
//! |---|---|---|---|---|
//! | bool | 1, 1 | `bool` | 6, 8 | 1 |
//! | float8 e4m3fn (since 0.14) | 6, 8 | `e4m3_float8`, in 0.20 `float8_e4m3fn` | 10, 8 | 1 |
//! | float8 e5m2 (since 0.14) | 7, 8 | `e5m2_float8`, in 0.20 `float8_e5m2` | 12, 8 | 1 |
//! | float4 e2m1fn (0.20) | 8, 4 | `float4_e2m1fn` | 17, 4 | 1 |
//! | integers below 8 bits | 0 or 1, bits | `int4` | the same | 1; packed in tvm-ffi |
//! | other types | as in tvm-ffi | as in tvm-ffi | | as in tvm-ffi |
//!
//! A data type as a value is converted by [`to_current`] and [`to_former`]. The data type of an
//! array also says how its elements are stored. [`of_elements`] and [`of_former_elements`] convert
//! it.
#![forbid(unsafe_code)]

use ferrite_core::abi::DLDataType;
use ferrite_core::value::dtype::{self, code};

use ferrite_core::error::Result;
use ferrite_core::platform::sync::atomic::{AtomicBool, Ordering};
use ferrite_core::{AnyView, String, plain_bail};

/// A narrow float, whose code differs.
struct NarrowFloat {
    /// Code in earlier releases.
    former: u8,
    /// Code in tvm-ffi.
    current: u8,
    bits: u8,
    /// Name in 0.14 to 0.19.
    name: &'static [u8],
    /// Name in 0.20.
    name_in_0_20: &'static [u8],
}

const NARROW: [NarrowFloat; 3] = [
    NarrowFloat {
        former: 6,
        current: code::FLOAT8_E4M3FN,
        bits: 8,
        name: b"e4m3_float8",
        name_in_0_20: b"float8_e4m3fn",
    },
    NarrowFloat {
        former: 7,
        current: code::FLOAT8_E5M2,
        bits: 8,
        name: b"e5m2_float8",
        name_in_0_20: b"float8_e5m2",
    },
    NarrowFloat {
        former: 8,
        current: code::FLOAT4_E2M1FN,
        bits: 4,
        name: b"float4_e2m1fn",
        name_in_0_20: b"float4_e2m1fn",
    },
];

/// Whether a caller has used a name of 0.20 for a narrow float.
static NAMES_OF_0_20: AtomicBool = AtomicBool::new(false);

/// Converts a data type to that of tvm-ffi.
pub fn to_current(former: DLDataType) -> DLDataType {
    let DLDataType { code, bits, .. } = former;
    if (code, bits) == (code::UINT, 1) {
        return DLDataType { code: code::BOOL, bits: 8, ..former };
    }
    match NARROW.iter().find(|float| (float.former, float.bits) == (code, bits)) {
        Some(float) => DLDataType { code: float.current, ..former },
        None => former,
    }
}

/// Converts a data type of tvm-ffi to that of earlier releases.
pub fn to_former(current: DLDataType) -> DLDataType {
    let DLDataType { code, bits, .. } = current;
    if (code, bits) == (code::BOOL, 8) {
        return DLDataType { code: code::UINT, bits: 1, ..current };
    }
    match NARROW.iter().find(|float| (float.current, float.bits) == (code, bits)) {
        Some(float) => DLDataType { code: float.former, ..current },
        None => current,
    }
}

/// Returns the current data type of an array's elements, given their former data type. It has the
/// same size: an element of fewer than 8 bits takes a byte, and becomes an 8-bit integer if tvm-ffi
/// would pack it.
#[inline]
pub fn of_elements(former: DLDataType) -> DLDataType {
    // Common types are told apart by one comparison each.
    if former.bits >= 8 && former.code < NARROW[0].former {
        former
    } else {
        of_special_elements(former)
    }
}

fn of_special_elements(former: DLDataType) -> DLDataType {
    let DLDataType { code, bits, lanes } = former;
    let is_bool = (code, bits, lanes) == (code::UINT, 1, 1);
    if bits >= 8 || bits == 0 || is_bool {
        return to_current(former);
    }
    let bytes = (u32::from(bits) * u32::from(lanes)).div_ceil(8);
    let code = if code == code::INT { code::INT } else { code::UINT };
    DLDataType { code, bits: 8, lanes: bytes as u16 }
}

/// Returns the data type under which an array's elements are stored, given their former data type:
/// the same type if tvm-ffi shares it, otherwise a `uint8` vector of the element's size.
pub fn storage_of(former: DLDataType) -> DLDataType {
    let current = of_elements(former);
    if current == former {
        return former;
    }
    DLDataType { code: code::UINT, bits: 8, lanes: u16::from(current.bits / 8) * current.lanes }
}

/// Returns the former data type of an array's elements, given their current data type.
///
/// # Errors
/// TypeError if there is none: packed elements, and narrow floats whose code had another meaning.
#[inline]
pub fn of_former_elements(current: DLDataType) -> Result<DLDataType> {
    if current.bits >= 8 && current.code < code::BOOL {
        Ok(current)
    } else {
        of_former_special(current)
    }
}

fn of_former_special(current: DLDataType) -> Result<DLDataType> {
    let DLDataType { code, bits, lanes } = current;
    let is_whole = (u32::from(bits) * u32::from(lanes)).is_multiple_of(8);
    if (code, bits) == (code::BOOL, 8) && lanes != 1 {
        return Ok(DLDataType { code: code::UINT, ..current });
    }
    let former = to_former(current);
    let has_other_meaning = former == current && NARROW.iter().any(|float| float.former == code);
    if !is_whole || has_other_meaning {
        plain_bail!(
            TYPE_ERROR,
            "Arrays of {} have no data type before tvm-ffi, which {}",
            dtype::to_string(current)?.as_bytes(),
            if is_whole { "used its code for another" } else { "did not pack elements" }
        );
    }
    Ok(former)
}

/// Parses a data type by its name in any release, current abbreviations included. Returns the
/// former data type.
///
/// # Errors
/// ValueError for an unknown name; errors of the lookup of a custom type.
pub fn parse(name: &[u8]) -> Result<DLDataType> {
    for float in NARROW {
        for known in [float.name, float.name_in_0_20] {
            if let Some(lanes) = name.strip_prefix(known).and_then(lanes_of) {
                if known != float.name {
                    NAMES_OF_0_20.store(true, Ordering::Relaxed);
                }
                return Ok(DLDataType { code: float.former, bits: float.bits, lanes });
            }
        }
    }
    DLDataType::parse(name).map(to_former)
}

/// Parses the lanes at the end of a name: empty for one, or `x` and a number.
fn lanes_of(end: &[u8]) -> Option<u16> {
    match end.strip_prefix(b"x") {
        None => end.is_empty().then_some(1),
        Some(digits) => core::str::from_utf8(digits).ok()?.parse().ok().filter(|lanes| *lanes > 0),
    }
}

/// Returns the former data type that an argument gives by its name or as a value.
///
/// # Errors
/// TypeError for another value; errors of [`parse`].
pub fn of_argument(argument: AnyView<'_>) -> Result<DLDataType> {
    match argument.bytes_of_string() {
        Some(name) => parse(name),
        None => argument.get().map(to_former),
    }
}

/// Returns the name of a current data type in earlier releases. Callers that used a name of TVM
/// 0.20 receive the names of 0.20 for narrow floats.
///
/// # Errors
/// ValueError if tvm-ffi has no name for the type; errors of the lookup of a custom type;
/// MemoryError.
pub fn name_of(current: DLDataType) -> Result<String> {
    let former = to_former(current);
    if former.bits == 0 && former.code == code::OPAQUE_HANDLE {
        return String::new("void");
    }
    if former.code >= dtype::CUSTOM_BEGIN {
        // tvm-ffi leaves out the bits.
        let name = dtype::to_string(DLDataType { lanes: 1, ..former })?;
        return with_lanes(name.as_bytes(), Some(former.bits), former.lanes);
    }
    match NARROW.iter().find(|float| (float.former, float.current) == (former.code, current.code)) {
        Some(float) => {
            let is_0_20 = NAMES_OF_0_20.load(Ordering::Relaxed);
            with_lanes(if is_0_20 { float.name_in_0_20 } else { float.name }, None, former.lanes)
        }
        None if former.lanes == 1 => dtype::to_string(current),
        None => dtype::to_string(former), // `uint1x4`
    }
}

/// Composes the name of a data type.
fn with_lanes(name: &[u8], bits: Option<u8>, lanes: u16) -> Result<String> {
    String::compose(&|out| {
        out.put(name);
        if let Some(bits) = bits {
            out.put_word(bits.into());
        }
        if lanes != 1 {
            out.put(b"x");
            out.put_word(lanes.into());
        }
    })
}

/// Returns the size in bytes of a compact array with elements of a former data type. Returns `None`
/// for a negative extent or a size that overflows.
pub fn array_bytes(shape: &[i64], former: DLDataType) -> Option<usize> {
    ferrite_core::value::shape::data_size_bytes(shape, of_elements(former))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dtype(code: u8, bits: u8, lanes: u16) -> DLDataType {
        DLDataType { code, bits, lanes }
    }

    #[test]
    fn types_as_values_convert_back() {
        for (former, current) in [
            (dtype(1, 1, 1), dtype(6, 8, 1)),
            (dtype(1, 1, 4), dtype(6, 8, 4)),
            (dtype(6, 8, 2), dtype(10, 8, 2)),
            (dtype(7, 8, 1), dtype(12, 8, 1)),
            (dtype(8, 4, 1), dtype(17, 4, 1)),
            (dtype(0, 4, 8), dtype(0, 4, 8)),
            (dtype(2, 32, 1), dtype(2, 32, 1)),
            (dtype(150, 16, 1), dtype(150, 16, 1)),
        ] {
            assert_eq!((to_current(former), to_former(current)), (current, former));
        }
    }

    #[test]
    fn elements_keep_their_size() {
        for (former, current) in [
            (dtype(1, 1, 1), dtype(6, 8, 1)),
            (dtype(1, 1, 12), dtype(1, 8, 2)),
            (dtype(0, 4, 1), dtype(0, 8, 1)),
            (dtype(8, 4, 1), dtype(1, 8, 1)),
            (dtype(6, 8, 4), dtype(10, 8, 4)),
            (dtype(3, 0, 0), dtype(3, 0, 0)),
        ] {
            assert_eq!(of_elements(former), current);
            assert_eq!(
                array_bytes(&[1000], former),
                Some(usize::from(current.bits) / 8 * usize::from(current.lanes) * 1000)
            );
        }
    }

    #[test]
    fn packed_and_newer_types_have_no_former_type() {
        for (current, why) in [
            (dtype(0, 4, 1), "int4"),
            (dtype(17, 4, 1), "float4_e2m1fn"),
            (dtype(7, 8, 1), "float8_e3m4"),
            (dtype(8, 8, 1), "float8_e4m3"),
        ] {
            let error = of_former_elements(current).unwrap_err();
            assert!(core::str::from_utf8(error.message_bytes()).unwrap().contains(why));
        }
        assert_eq!(of_former_elements(dtype(6, 8, 4)).unwrap(), dtype(1, 8, 4));
        assert_eq!(of_former_elements(dtype(17, 4, 2)).unwrap(), dtype(8, 4, 2));
        assert_eq!(of_former_elements(dtype(9, 8, 1)).unwrap(), dtype(9, 8, 1));
    }

    #[test]
    fn names_are_those_of_the_caller() {
        assert_eq!(parse(b"bool").unwrap(), dtype(1, 1, 1));
        assert_eq!(parse(b"e5m2_float8x4").unwrap(), dtype(7, 8, 4));
        assert_eq!(parse(b"uint1x4").unwrap(), dtype(1, 1, 4));
        assert!(
            parse(b"e4m3_float8x0").is_err()
                && parse(b"e4m3_float8 ").is_err()
                && parse(b"e4m3").is_err()
        );
        assert_eq!(name_of(dtype(10, 8, 4)).unwrap(), "e4m3_float8x4");
        assert_eq!(name_of(dtype(6, 8, 2)).unwrap(), "uint1x2");
        assert_eq!(name_of(dtype(3, 0, 0)).unwrap(), "void");
        assert_eq!(parse(b"float8_e4m3fn").unwrap(), dtype(6, 8, 1));
        assert_eq!(name_of(dtype(12, 8, 1)).unwrap(), "float8_e5m2");
    }
}
