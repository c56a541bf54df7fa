//! Repr of leaves, which are the values without children.
#![forbid(unsafe_code)]

use core::fmt::{self, Write};

use ferrite_core::abi;
use ferrite_core::abi::type_index;
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::names::ffi_functions::{invalid_object, kwargs_object};
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorRef;
use ferrite_core::value::any::Any;
use ferrite_core::value::big_int::BigInt;
use ferrite_core::value::device::type_name;
use ferrite_core::value::dtype;
use ferrite_core::value::shape::Shape;

use super::{int_text, text};
use crate::json;
use crate::walk::prefetch_next;

/// Appends formatted arguments.
pub(super) fn append(out: &mut Buffer<u8>, text: fmt::Arguments<'_>) -> Result<()> {
    out.write_fmt(text).map_err(|_| out_of_memory(out.len()))
}

/// Appends the repr of a value that is not an object. Returns `false` for objects.
pub(super) fn write_plain(out: &mut Buffer<u8>, value: &Any) -> Result<bool> {
    prefetch_next(value);
    let view = value.view();
    match view.type_index() {
        type_index::STATIC_OBJECT_BEGIN.. => return Ok(false),
        type_index::NONE => out.try_extend_from_slice(b"None")?,
        type_index::BOOL if view.payload_bits() != 0 => out.try_extend_from_slice(b"True")?,
        type_index::BOOL => out.try_extend_from_slice(b"False")?,
        type_index::INT => json::write_int(out, view.payload_bits() as i64)?,
        type_index::FLOAT => write_float(out, f64::from_bits(view.payload_bits()))?,
        type_index::DATA_TYPE => write_dtype(out, value.get()?)?,
        type_index::DEVICE => write_device(out, value.get()?)?,
        type_index::SMALL_STR => {
            text::write_string(out, view.bytes_of_string().unwrap_or_default())?
        }
        type_index::SMALL_BYTES => {
            text::write_bytes(out, view.bytes_of_bytes().unwrap_or_default())?
        }
        other => out.try_extend_from_slice(type_table::type_key_of(other))?,
    }
    Ok(true)
}

/// Appends the repr of an object that has neither children nor a hook. Returns `false` for other
/// objects.
pub(super) fn write_leaf_object(
    out: &mut Buffer<u8>,
    value: &Any,
    with_address: bool,
) -> Result<bool> {
    let view = value.view();
    match view.type_index() {
        type_index::BIG_INT => int_text::write_words(out, value.get::<BigInt>()?.words())?,
        type_index::STR => text::write_string(out, view.bytes_of_string().unwrap_or_default())?,
        type_index::BYTES => text::write_bytes(out, view.bytes_of_bytes().unwrap_or_default())?,
        type_index::TENSOR => {
            write_tensor(out, value)?;
            if with_address && let Some(object) = value.as_object() {
                write_address(out, object)?;
            }
        }
        type_index::SHAPE => {
            out.try_extend_from_slice(b"Shape(")?;
            write_list(out, value.get::<Shape>()?.as_slice())?;
            out.try_push(b')')?;
        }
        type_index::OBJECT => return write_singleton(out, value),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Appends `@` and the address of an object.
pub(super) fn write_address(out: &mut Buffer<u8>, object: &ObjectRef) -> Result<()> {
    append(out, format_args!("@{:#x}", object.as_ptr().addr()))
}

fn write_singleton(out: &mut Buffer<u8>, value: &Any) -> Result<bool> {
    let object = value.view().object_ptr().map(|object| object.as_ptr());
    let text: &[u8] = if object == Some(invalid_object().as_ptr()) {
        b"<MISSING>"
    } else if object == Some(kwargs_object().as_ptr()) {
        b"<KWARGS>"
    } else {
        return Ok(false);
    };
    out.try_extend_from_slice(text)?;
    Ok(true)
}

fn write_tensor(out: &mut Buffer<u8>, value: &Any) -> Result<()> {
    let view = value.view();
    let Some(tensor) = TensorRef::from_view(&view) else { return Ok(()) };
    write_dtype(out, tensor.dtype())?;
    out.try_push(b'[')?;
    write_list(out, tensor.shape())?;
    out.try_extend_from_slice(b"]@")?;
    write_device(out, tensor.device())
}

fn write_list(out: &mut Buffer<u8>, numbers: &[i64]) -> Result<()> {
    for (place, number) in numbers.iter().enumerate() {
        if place > 0 {
            out.try_extend_from_slice(b", ")?;
        }
        json::write_int(out, *number)?;
    }
    Ok(())
}

fn write_dtype(out: &mut Buffer<u8>, dtype: abi::DLDataType) -> Result<()> {
    dtype::write_dtype(dtype, out)
}

fn write_device(out: &mut Buffer<u8>, device: abi::DLDevice) -> Result<()> {
    let name = type_name(device.device_type).unwrap_or("unknown");
    append(out, format_args!("{name}:{}", device.device_id))
}

/// Appends a float with six significant digits, like C++ streams and C's `%g`.
///
/// # Errors
/// MemoryError.
fn write_float(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    // Zeros and NaN have a sign, too.
    if value.is_sign_negative() {
        out.try_push(b'-')?;
    }
    if value.is_nan() {
        return Ok(out.try_extend_from_slice(b"nan")?);
    }
    if value.is_infinite() {
        return Ok(out.try_extend_from_slice(b"inf")?);
    }
    if value == 0.0 {
        return Ok(out.try_push(b'0')?);
    }
    json::write_general::<6>(out, value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_six_significant_digits() -> Result<()> {
        // Expected strings from C's printf.
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (0.1, "0.1"),
            (100000.0, "100000"),
            (100000.5, "100000"),
            (100001.5, "100002"),
            (999999.5, "1e+06"),
            (1234567.0, "1.23457e+06"),
            (1e16, "1e+16"),
            (-1e100, "-1e+100"),
            (1e-4, "0.0001"),
            (0.00012345678, "0.000123457"),
            (1e-5, "1e-05"),
            (2.5e-310, "2.5e-310"),
            (f64::MAX, "1.79769e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "-nan"),
        ] {
            let mut out = Buffer::new();
            write_float(&mut out, value)?;
            assert_eq!(core::str::from_utf8(&out), Ok(text));
        }
        Ok(())
    }
}
