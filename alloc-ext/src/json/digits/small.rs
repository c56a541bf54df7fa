//! Size-optimised conversion of integers to decimal, one digit at a time.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Writer;

/// Appends an int in decimal.
///
/// # Errors
/// MemoryError.
pub(crate) fn write_int(out: &mut Buffer<u8>, value: i64) -> Result<()> {
    let mut text = [0; 20];
    let mut writer = Writer::new(&mut text);
    writer.put_number(value);
    let len = writer.wanted;
    Ok(out.try_extend_from_slice(text.get(..len).unwrap_or_default())?)
}
