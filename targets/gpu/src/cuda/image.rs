//! Formats of CUDA code that the driver loads. The code is validated first, since the driver
//! receives an address without a length.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure};

use crate::elf;

/// Format of loadable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PTX text, compiled by the driver.
    Ptx,
    /// Machine code: an ELF file, or a `fatbin` with several.
    Binary,
}

const FATBIN_MAGIC: [u8; 4] = 0xba55_ed50u32.to_le_bytes();

impl Format {
    /// Parses the format name of a payload: `ptx`, `cubin` or `fatbin`.
    ///
    /// # Errors
    /// InternalError for another name.
    pub(super) fn parse(name: &[u8]) -> Result<Format> {
        match name {
            b"ptx" => Ok(Format::Ptx),
            b"cubin" | b"fatbin" => Ok(Format::Binary),
            _ => plain_bail!(INTERNAL_ERROR, "Unknown CUDA format {}", name),
        }
    }

    /// Returns the name of the format, for `inspect_source`.
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Format::Ptx => b"ptx",
            Format::Binary => b"cubin",
        }
    }

    /// Validates code of this format.
    ///
    /// # Errors
    /// InternalError for code of another format, and for a truncated file.
    pub(super) fn check(self, code: &[u8]) -> Result<()> {
        match self {
            Format::Ptx => {
                // A driver takes text for a binary if it begins like one.
                let is_text = code
                    .iter()
                    .take(4)
                    .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
                plain_ensure!(
                    is_text && !code.is_empty(),
                    INTERNAL_ERROR,
                    "Malformed cuda module: the PTX is not text"
                );
                Ok(())
            }
            Format::Binary if code.starts_with(&FATBIN_MAGIC) => {
                plain_ensure!(
                    fatbin_fits(code).is_some(),
                    INTERNAL_ERROR,
                    "Malformed cuda module: the fatbin is truncated or damaged"
                );
                Ok(())
            }
            Format::Binary => elf::check("cuda", code),
        }
    }

    /// Returns a copy of PTX with the terminating NUL that the driver needs; `None` for binaries.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn terminated(self, code: &[u8]) -> Result<Option<Buffer<u8>>> {
        if self == Format::Binary {
            return Ok(None);
        }
        let mut text = Buffer::try_with_capacity(code.len() + 1)?;
        text.try_extend_from_slice(code)?;
        text.try_push(0)?;
        Ok(Some(text))
    }
}

/// Returns `None` if a fatbin, or one of its entries, extends beyond the bytes. The header stores
/// its own size (16 bits at offset 6) and the size of the entries (64 bits at offset 8). So does
/// each entry (32 bits at 4, 64 bits at 8).
fn fatbin_fits(code: &[u8]) -> Option<()> {
    let mut at = number(code, 6, 2)?;
    let end = at.checked_add(number(code, 8, 8)?)?;
    if at < 16 || end > code.len() {
        return None;
    }
    while at < end {
        let header = number(code, at.checked_add(4)?, 4)?;
        let content = number(code, at.checked_add(8)?, 8)?;
        if header < 16 {
            return None;
        }
        at = at.checked_add(header)?.checked_add(content)?;
    }
    (at == end).then_some(())
}

fn number(code: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let bytes = code.get(at..at.checked_add(bytes)?)?;
    usize::try_from(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))).ok()
}

#[cfg(test)]
mod tests {
    use super::Format;

    fn fatbin(entries: &[usize]) -> Vec<u8> {
        let mut content = Vec::new();
        for bytes in entries {
            content.extend([2, 0, 1, 0, 64, 0, 0, 0]);
            content.extend((*bytes as u64).to_le_bytes());
            content.resize(content.len() + 48 + bytes, 7);
        }
        let mut file = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        file.extend((content.len() as u64).to_le_bytes());
        file.extend(content);
        file
    }

    #[test]
    fn fatbins_are_checked_to_their_end() {
        let whole = fatbin(&[8, 0, 64]);
        assert!(Format::Binary.check(&whole).is_ok());
        for len in 0..whole.len() {
            assert!(Format::Binary.check(&whole[..len]).is_err(), "{len}");
        }
        for at in [6, 8, 15, 20, 24, 31] {
            let mut damaged = whole.clone();
            damaged[at] = 0xff;
            assert!(Format::Binary.check(&damaged).is_err(), "{at}");
        }
    }

    #[test]
    fn ptx_is_text() {
        assert!(Format::Ptx.check(b"//\n.version 8.4").is_ok());
        for other in
            [&b""[..], b"\x7fELF\x02\x01", b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46", b".ve\0"]
        {
            assert!(Format::Ptx.check(other).is_err(), "{other:?}");
        }
    }
}
