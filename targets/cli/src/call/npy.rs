//! Tensors in NumPy's file format, versions 1 to 3.
//!
//! ```text
//! 6 bytes   "\x93NUMPY"
//! u8, u8    version
//! u16       length of the header; u32 from version 2
//! header    {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//! elements  in row-major order
//! ```
//! Crates for this format bring a parser of Python's literals and big integers, or a type for each
//! kind of array.

use std::path::Path;

use ferrite::Tensor;
use ferrite::abi::DLDataType;

use crate::failure::{Failure, Outcome};

use super::tensor;

/// Reads a file.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for malformed files, and for arrays that cannot be
/// represented as tensors.
pub fn read(path: &Path) -> Outcome<Tensor> {
    load(path, None)
}

/// Reads a file whose elements are the bits of a type that NumPy does not have, such as bfloat16 or
/// float8_e4m3fn.
///
/// # Errors
/// Same errors as [`read`]; [`Kind::Input`](crate::failure::Kind::Input) for elements of another
/// width.
pub fn read_as(path: &Path, dtype: DLDataType) -> Outcome<Tensor> {
    load(path, Some(dtype))
}

fn load(path: &Path, wanted: Option<DLDataType>) -> Outcome<Tensor> {
    let refuse = |why: String| Failure::input(format!("cannot read {}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let (header, elements) =
        split(&bytes).ok_or_else(|| refuse("it is not a NumPy file, or is truncated".into()))?;
    let (dtype, extents) = parse(header, wanted).map_err(refuse)?;
    tensor::from_bytes(elements, &extents, dtype).map_err(|failure| refuse(failure.to_string()))
}

/// Returns the header and the elements.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (version, rest) = rest.split_first_chunk::<2>()?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (usize::try_from(u32::from_le_bytes(*length)).ok()?, rest)
        }
        _ => return None,
    };
    let (header, elements) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, elements))
}

/// Reads the header. Elements have the type `wanted` if there is one.
fn parse(header: &str, wanted: Option<DLDataType>) -> Result<(DLDataType, Vec<i64>), String> {
    let value = |key: &str| {
        let (_, rest) =
            header.split_once(&format!("'{key}':")).ok_or(format!("the header has no '{key}'"))?;
        Ok::<_, String>(rest.trim_start())
    };
    if !value("fortran_order")?.starts_with("False") {
        return Err("it is in column-major order; save numpy.ascontiguousarray(x)".into());
    }
    let code = value("descr")?.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
    let code = code.ok_or("its elements are records, which tensors do not have")?.0;
    let shape = value("shape")?
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .ok_or("the shape is malformed")?
        .0;
    let extents = shape.split(',').map(str::trim).filter(|text| !text.is_empty());
    let extents =
        extents.map(|text| text.parse().map_err(|_| format!("`{text}` is not an extent")));
    let dtype = wanted.map_or_else(|| dtype(code), |wanted| bits_of(code, wanted))?;
    Ok((dtype, extents.collect::<Result<_, String>>()?))
}

/// Returns the type `wanted` if elements of a type such as `<V2` have its width.
fn bits_of(code: &str, wanted: DLDataType) -> Result<DLDataType, String> {
    let name = tensor::name(wanted);
    let width = usize::from(wanted.bits) * usize::from(wanted.lanes);
    let found = code.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<usize>();
    match found {
        // NumPy has a byte for each number of fewer bits.
        _ if !wanted.bits.is_multiple_of(8) => {
            Err(format!("elements of {name} have no whole bytes"))
        }
        Ok(found) if found * 8 == width && !code.starts_with(FOREIGN_ORDER) => Ok(wanted),
        _ => Err(format!("elements of the type '{code}' are no {name}")),
    }
}

/// Byte-order character of types in the opposite byte order.
const FOREIGN_ORDER: char = if cfg!(target_endian = "big") { '<' } else { '>' };

/// Converts a type such as `<f4`.
fn dtype(code: &str) -> Result<DLDataType, String> {
    let refuse = || format!("elements of the type '{code}' are not supported");
    let (order, rest) = code.split_at_checked(1).ok_or_else(refuse)?;
    let (kind, width) = rest.split_at_checked(1).ok_or_else(refuse)?;
    let native = if cfg!(target_endian = "big") { ">" } else { "<" };
    if order != "|" && order != "=" && order != native {
        return Err(refuse());
    }
    let name = match (kind, width) {
        ("b", "1") => "bool",
        ("i", "1") => "int8",
        ("i", "2") => "int16",
        ("i", "4") => "int32",
        ("i", "8") => "int64",
        ("u", "1") => "uint8",
        ("u", "2") => "uint16",
        ("u", "4") => "uint32",
        ("u", "8") => "uint64",
        ("f", "2") => "float16",
        ("f", "4") => "float32",
        ("f", "8") => "float64",
        ("c", "8") => "complex64",
        ("c", "16") => "complex128",
        ("V", _) => {
            return Err(format!(
                "elements of the type '{code}' have no name: write it in front, as in bfloat16:@FILE"
            ));
        }
        _ => return Err(refuse()),
    };
    tensor::parse_name(name).ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(elements);
        bytes
    }

    const HEADER: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";

    #[test]
    fn header_and_elements_are_separated() {
        let bytes = file(HEADER, &[1, 2, 3]);
        assert_eq!(split(&bytes), Some((HEADER, &[1u8, 2, 3][..])));
        let (dtype, extents) = parse(HEADER, None).unwrap();
        assert_eq!((dtype.bits, extents), (32, vec![2, 1]));
    }

    #[test]
    fn every_truncated_header_is_refused() {
        let bytes = file(HEADER, &[]);
        for length in 0..bytes.len() {
            assert_eq!(split(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn malformed_headers_are_named() {
        for (header, why) in [
            ("{}", "the header has no 'fortran_order'"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", "column-major"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "records"),
            ("{'descr': '<M8', 'fortran_order': False, 'shape': (2,)}", "'<M8'"),
            ("{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}", "bfloat16:@FILE"),
            ("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "'>f4'"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "shape is malformed"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", "`x` is not an extent"),
        ] {
            assert!(parse(header, None).unwrap_err().contains(why), "{header}");
        }
    }
}
