//! Validates ELF files (`cubin`, `hsaco`) before they are passed to a GPU driver. Drivers receive
//! an address without a length and trust the offsets in the file, so a truncated file would make
//! them read out of bounds.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: u64 = 64;
const SEGMENT_BYTES: u64 = 56;
/// `SHT_NULL`: section type without content.
const NULL: u64 = 0;
/// `SHT_NOBITS`: section type whose content is not in the file.
const NOBITS: u64 = 8;

/// Returns `true` if the code begins like a 64-bit little-endian ELF file.
pub fn is_elf(code: &[u8]) -> bool {
    code.starts_with(MAGIC)
}

/// Checks that the file contains all parts that its headers refer to.
///
/// # Errors
/// InternalError for a truncated or malformed file.
pub fn check(kind: &str, file: &[u8]) -> Result<()> {
    plain_ensure!(
        is_complete(file),
        INTERNAL_ERROR,
        "Malformed {} module: the ELF file is truncated or damaged",
        kind
    );
    Ok(())
}

fn is_complete(file: &[u8]) -> bool {
    is_elf(file)
        && file.len() >= HEADER_BYTES
        && sections_fit(file).is_some()
        && segments_fit(file).is_some()
}

/// Returns `None` if a section extends beyond the file.
fn sections_fit(file: &[u8]) -> Option<()> {
    let (start, size, count) =
        (number(file, 0x28, 8)?, number(file, 0x3a, 2)?, number(file, 0x3c, 2)?);
    if count != 0 && size < SECTION_BYTES {
        return None;
    }
    for index in 0..count {
        let section = usize::try_from(start.checked_add(index * size)?).ok()?;
        let (kind, at, bytes) = (
            number(file, section.checked_add(4)?, 4)?,
            number(file, section.checked_add(0x18)?, 8)?,
            number(file, section.checked_add(0x20)?, 8)?,
        );
        // The whole header must be in the file, including fields that are not read.
        number(file, section.checked_add(SECTION_BYTES as usize - 8)?, 8)?;
        if !matches!(kind, NULL | NOBITS) {
            fits(file, at, bytes)?;
        }
    }
    Some(())
}

/// Returns `None` if a segment extends beyond the file.
fn segments_fit(file: &[u8]) -> Option<()> {
    let (start, size, count) =
        (number(file, 0x20, 8)?, number(file, 0x36, 2)?, number(file, 0x38, 2)?);
    if count != 0 && size < SEGMENT_BYTES {
        return None;
    }
    for index in 0..count {
        let segment = usize::try_from(start.checked_add(index * size)?).ok()?;
        number(file, segment.checked_add(SEGMENT_BYTES as usize - 8)?, 8)?;
        fits(
            file,
            number(file, segment.checked_add(8)?, 8)?,
            number(file, segment.checked_add(0x20)?, 8)?,
        )?;
    }
    Some(())
}

fn fits(file: &[u8], at: u64, bytes: u64) -> Option<()> {
    (at.checked_add(bytes)? <= file.len() as u64).then_some(())
}

/// Reads a little-endian integer of `bytes` bytes at an offset. Returns `None` beyond the end of
/// the file.
fn number(file: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(bytes)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::{check, is_elf};
    use crate::payload::{Layout, Payload};
    use ferrite_core::Bytes;
    use ferrite_core::error::Result;

    const MODULE: &[u8] = include_bytes!("../../../tests/programs/device/payloads/hip.bin");

    #[test]
    fn files_of_the_compiler_are_complete_and_their_beginnings_are_not() -> Result<()> {
        let payload = Payload::read(&Layout::HIP, Bytes::new(MODULE)?)?;
        let file = payload.code();
        assert!(is_elf(file));
        check("hip", file)?;
        for len in (0..file.len()).step_by(61) {
            assert!(check("hip", &file[..len]).is_err(), "{len} of {} bytes", file.len());
        }
        Ok(())
    }

    #[test]
    fn offsets_beyond_the_file_are_refused() -> Result<()> {
        let payload = Payload::read(&Layout::HIP, Bytes::new(MODULE)?)?;
        for at in [0x20, 0x28, 0x36, 0x3a, 0x3c, 0x38] {
            let mut file = payload.code().to_vec();
            file[at..at + 2].fill(0xff);
            assert!(check("hip", &file).is_err(), "offset {at:#x}");
        }
        Ok(())
    }
}
