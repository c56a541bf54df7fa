//! Decimal digits, one at a time, where size counts.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// Appends a number.
///
/// # Errors
///
/// MemoryError.
pub(super) fn write(out: &mut Buffer<u8>, number: u64) -> Result<()> {
    let mut text = [0; 20];
    let mut start = text.len();
    let mut rest = number;
    while let Some(place) = start.checked_sub(1).and_then(|at| text.get_mut(at)) {
        *place = b'0' + (rest % 10) as u8;
        start -= 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.try_extend_from_slice(text.get(start..).unwrap_or_default())
}
