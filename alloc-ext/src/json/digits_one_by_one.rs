//! Decimal digits, one at a time and in divisions of 32 bits, where size counts.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::text::Writer;

/// Appends a number.
///
/// # Errors
///
/// MemoryError.
pub(super) fn write(out: &mut Buffer<u8>, number: u64) -> Result<()> {
    let mut text = [0; 20];
    let mut writer = Writer::new(&mut text);
    writer.put_digits(number);
    let len = writer.wanted;
    out.try_extend_from_slice(text.get(..len).unwrap_or_default())
}
