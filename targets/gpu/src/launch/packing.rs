//! The forms in which drivers take scalars in one buffer. Each function allocates nothing and gives the bytes that it used, or
//! None when the buffer is too small.
#![forbid(unsafe_code)]

use super::Launch;

/// Packs all values, each aligned to its size: the argument buffer of HIP.
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

/// Packs the scalars in slots of 8 bytes: push constants and uniform buffers of Vulkan and Metal.
pub fn pack_slots_of_8(launch: &Launch<'_>, buffer: &mut [u8]) -> Option<usize> {
    pack_slots(launch, buffer, 8)
}

/// Packs the scalars in slots of 4 bytes: the uniform buffer of WebGPU, whose numbers have 32 bits.
pub fn pack_slots_of_4(launch: &Launch<'_>, buffer: &mut [u8]) -> Option<usize> {
    pack_slots(launch, buffer, 4)
}

fn pack_slots(launch: &Launch<'_>, buffer: &mut [u8], slot_bytes: usize) -> Option<usize> {
    let mut used = 0;
    for (_, value) in launch.parameters().filter(|(parameter, _)| !parameter.is_handle()) {
        let slot = buffer.get_mut(used..used + slot_bytes)?;
        slot.copy_from_slice(value.to_le_bytes().get(..slot_bytes)?);
        used += slot_bytes;
    }
    Some(used)
}
