//! Conversion of integers to and from decimal digits: eight digits at a time (`fast.rs`), or one at
//! a time with 32-bit divisions (`small.rs`).
//!
//! Both files implement `write_int`. The other functions of `fast.rs` are used by the
//! speed-optimised code for floats and short numbers.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

#[cfg(feature = "speed")]
pub(crate) use fast::write_int;
#[cfg(feature = "speed")]
pub(super) use fast::{power_of_ten, read, write, write_fraction};
#[cfg(not(feature = "speed"))]
pub(crate) use small::write_int;

/// Appends a minus sign if `negative`. Branch-free, since signs are unpredictable.
pub(super) fn write_sign(out: &mut Buffer<u8>, negative: bool) -> Result<()> {
    let len = out.len() + usize::from(negative);
    out.try_push(b'-')?;
    out.truncate(len);
    Ok(())
}
