//! Keys of streams: the device of a stream as one integer.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

/// Highest device type and device id. Far above those of any real machine, even with a remote
/// session encoded in the type.
pub(super) const HIGHEST: i32 = (1 << 24) - 1;

/// Device type and device id packed into one integer, so that one instruction compares both.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)] // C functions take it.
pub struct DeviceKey(u64);

impl DeviceKey {
    /// Packs a device type and a device id.
    #[inline]
    pub const fn new(device_type: i32, device_id: i32) -> DeviceKey {
        DeviceKey((device_type.cast_unsigned() as u64) << 32 | device_id.cast_unsigned() as u64)
    }

    /// Returns the key as bytes.
    #[cfg(not(feature = "std"))]
    pub(super) fn to_bytes(self) -> [u8; 8] {
        self.0.to_ne_bytes()
    }

    /// Returns ValueError for a device type or id out of range.
    pub(super) fn check(self) -> Result<()> {
        let (device_type, device_id) = self.parts();
        check_number("type", device_type)?;
        check_number("id", device_id)
    }

    /// Returns the device type and the device id.
    pub(super) const fn parts(self) -> (i32, i32) {
        ((self.0 >> 32) as i32, self.0 as i32)
    }
}

fn check_number(what: &str, number: i32) -> Result<()> {
    plain_ensure!(
        (0..=HIGHEST).contains(&number),
        VALUE_ERROR,
        "Device {} {} is not in 0 to {}",
        what,
        number,
        HIGHEST
    );
    Ok(())
}
