//! Packs parameter values into one buffer in the formats of the drivers. Each function allocates
//! nothing, and returns the number of bytes used, or `None` if the buffer is too small.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::{plain_bail, plain_ensure};

use super::{Launch, Parameter};

/// Packs all values, each aligned to its size, as in the argument buffer of HIP.
pub fn pack_aligned(launch: &Launch<'_>, buffer: &mut [u8]) -> Option<usize> {
    let mut used = 0usize;
    for (parameter, value) in launch.parameters() {
        let bytes = parameter.bytes();
        let start = used.next_multiple_of(bytes);
        buffer.get_mut(used..start)?.fill(0);
        used = start + bytes;
        buffer.get_mut(start..used)?.copy_from_slice(value.to_le_bytes().get(..bytes)?);
    }
    Some(used)
}

/// Packs the scalars in slots of 8 bytes, as in push constants and uniform buffers of Vulkan and
/// Metal.
pub fn pack_slots_of_8(launch: &Launch<'_>, buffer: &mut [u8]) -> Option<usize> {
    let mut used = 0;
    for (_, value) in scalars(launch) {
        buffer.get_mut(used..used + 8)?.copy_from_slice(&value.to_le_bytes());
        used += 8;
    }
    Some(used)
}

/// Packs the scalars in slots of 4 bytes, as in the uniform buffer of WebGPU, whose numbers have 32
/// bits. Returns `None` if the buffer is too small.
///
/// # Errors
/// ValueError for a 64-bit scalar that does not fit into 32 bits.
pub fn pack_slots_of_4(launch: &Launch<'_>, buffer: &mut [u8]) -> Result<Option<usize>> {
    let mut used = 0;
    for (parameter, value) in scalars(launch) {
        let Some(slot) = buffer.get_mut(used..used + 4) else { return Ok(None) };
        slot.copy_from_slice(&narrowed(parameter, *value)?.to_le_bytes());
        used += 4;
    }
    Ok(Some(used))
}

fn scalars<'a>(launch: &'a Launch<'_>) -> impl Iterator<Item = (Parameter, &'a u64)> {
    launch.parameters().filter(|(parameter, _)| !parameter.is_handle())
}

/// Converts a scalar to 32 bits. Floats are rounded.
fn narrowed(parameter: Parameter, value: u64) -> Result<u32> {
    match parameter {
        Parameter::Int64 => match i32::try_from(value.cast_signed()) {
            Ok(number) => Ok(number.cast_unsigned()),
            Err(_) => plain_bail!(
                VALUE_ERROR,
                "A scalar is {}, which does not fit the 32 bits that numbers of WebGPU have",
                &value.cast_signed()
            ),
        },
        Parameter::Float64 => {
            let number = f64::from_bits(value);
            let rounded = number as f32;
            plain_ensure!(
                rounded.is_finite() || !number.is_finite(),
                VALUE_ERROR,
                "A scalar is too large for the 32 bits that numbers of WebGPU have"
            );
            Ok(rounded.to_bits())
        }
        _ => Ok(value as u32),
    }
}
