//! Copies between client and tensors: main memory directly, other devices in blocks.

use core::slice;

use super::failure::{Failure, MALFORMED};
use super::handles::Handles;
use super::host::Host;
use super::region::DataRegion;
use crate::wire::{Item, Packet, code, send, send_bytes};

/// Reads tensor and size of a copy. Returns the memory that it is about: clients cut large copies
/// by moving the byte offset, but keep the shape, so that the size counts.
fn region<H: Host>(packet: &mut Packet<'_, H>, handles: &Handles) -> Result<DataRegion, Failure> {
    let head = packet.next_tensor();
    for _ in 0..head.ndim {
        packet.next_u64();
    }
    let (byte_offset, bytes) = (packet.next_size(), packet.next_size());
    packet.check()?;
    handles.region(head.data, head.device)?.part(byte_offset, bytes)
}

/// Borrows the bytes of a region in main memory.
///
/// # Safety
/// The region must be in main memory and have no other user.
unsafe fn bytes_of<'a>(region: &DataRegion) -> &'a mut [u8] {
    if region.bytes == 0 {
        return &mut [];
    }
    // SAFETY: a region is inside of the elements of a live tensor; the caller guarantees the rest.
    unsafe { slice::from_raw_parts_mut(region.place.start(), region.bytes) }
}

/// Serves CopyFromRemote.
pub(super) fn to_client<H: Host>(
    packet: &mut Packet<'_, H>,
    handles: &Handles,
) -> Result<(), Failure> {
    let region = region(packet, handles)?;
    packet.finish()?;
    let host = packet.stream();
    if !region.place.is_main_memory() {
        return blocks::to_client(host, region);
    }
    send_bytes(host, code::COPY_ACK, region.bytes as u64)?;
    // SAFETY: main memory, and the function that wrote it has returned.
    host.write(unsafe { bytes_of(&region) })?;
    Ok(host.flush()?)
}

/// Serves CopyToRemote.
pub(super) fn from_client<H: Host>(
    packet: &mut Packet<'_, H>,
    handles: &Handles,
) -> Result<(), Failure> {
    let region = region(packet, handles)?;
    if packet.left() != region.bytes as u64 {
        return Err(MALFORMED);
    }
    if region.place.is_main_memory() {
        // SAFETY: main memory, and no function runs.
        packet.read(unsafe { bytes_of(&region) })?;
    } else {
        blocks::from_client(packet, region)?;
    }
    Ok(send(packet.stream(), code::RETURN, b"", &[Item::None])?)
}

/// Copies through the memory for arguments.
#[cfg(feature = "devices")]
mod blocks {
    use super::super::devices;
    use super::super::failure::too_long;
    use super::*;

    /// Maximum size of a block in bytes.
    const BLOCK_BYTES: usize = 1 << 18;

    /// Borrows words as a block of at most `bytes` bytes.
    fn block(words: &mut [u64], bytes: usize) -> &mut [u8] {
        let bytes = bytes.min(size_of_val(words));
        // SAFETY: the words have these bytes, any of which is valid.
        unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), bytes) }
    }

    /// Takes memory for one block of a region.
    fn take_block<H: Host>(host: &mut H, region: DataRegion) -> Result<H::Memory, Failure> {
        let bytes = region.bytes.min(BLOCK_BYTES);
        host.take_memory(bytes).ok_or_else(|| too_long(bytes))
    }

    /// Calls `copy` for each part of a region that fits a block.
    fn each_part(
        region: DataRegion,
        block: &mut [u8],
        mut copy: impl FnMut(DataRegion, &mut [u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut done = 0;
        while done < region.bytes {
            let bytes = block.len().min(region.bytes - done);
            let part = region.part(done, bytes)?;
            match block.get_mut(..bytes) {
                Some(block) if bytes != 0 => copy(part, block)?,
                _ => return Err(too_long(1)),
            }
            done += bytes;
        }
        Ok(())
    }

    /// Sends a region. The head of the answer follows the first block, so that a device that cannot
    /// be read is an error of the request; if it fails later, the session ends.
    pub(super) fn to_client<H: Host>(host: &mut H, region: DataRegion) -> Result<(), Failure> {
        let mut memory = take_block(host, region)?;
        let block = block(memory.as_mut(), BLOCK_BYTES);
        let mut is_first = true;
        let outcome = each_part(region, block, |part, block| {
            let read = devices::read_block(part, block);
            if core::mem::take(&mut is_first) {
                read?;
                send_bytes(host, code::COPY_ACK, region.bytes as u64)?;
            } else {
                read.map_err(|_| Failure::Closed)?;
            }
            Ok(host.write(block)?)
        });
        host.return_memory(memory);
        outcome?;
        if is_first {
            send_bytes(host, code::COPY_ACK, 0)?;
        }
        Ok(host.flush()?)
    }

    pub(super) fn from_client<H: Host>(
        packet: &mut Packet<'_, H>,
        region: DataRegion,
    ) -> Result<(), Failure> {
        let mut memory = take_block(packet.stream(), region)?;
        let block = block(memory.as_mut(), BLOCK_BYTES);
        let outcome = each_part(region, block, |part, block| {
            packet.read(block)?;
            devices::write_block(part, block)
        });
        packet.stream().return_memory(memory);
        outcome
    }
}

/// Main memory is the only device.
#[cfg(not(feature = "devices"))]
mod blocks {
    use super::super::failure::refused;
    use super::*;

    const NO_DEVICE: Failure = refused!("InternalError: no such device");

    pub(super) fn to_client<H: Host>(_: &mut H, _: DataRegion) -> Result<(), Failure> {
        Err(NO_DEVICE)
    }

    pub(super) fn from_client<H: Host>(
        _: &mut Packet<'_, H>,
        _: DataRegion,
    ) -> Result<(), Failure> {
        Err(NO_DEVICE)
    }
}
