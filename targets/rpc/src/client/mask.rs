//! Session masks: the device types under which a process knows the devices of a session.
#![forbid(unsafe_code)]

use ferrite_alloc_ext::device::HIGHEST_TYPE;
use ferrite_core::abi::DLDevice;

/// Maximum number of sessions of a process.
pub(super) const SESSIONS: usize = 32;

/// Number of device types that a session has.
pub(super) const TYPES: usize = HIGHEST_TYPE as usize + 1;

/// Factor of the session number in a masked device type.
const FACTOR: i32 = 128;

/// Splits a masked device type into the number of the session and the type; `None` if it is not a
/// valid one.
pub(super) fn split(device_type: i32) -> Option<(u8, i32)> {
    let number = u8::try_from(device_type.div_euclid(FACTOR).checked_sub(1)?).ok()?;
    let plain = device_type.rem_euclid(FACTOR);
    (usize::from(number) < SESSIONS && plain <= HIGHEST_TYPE).then_some((number, plain))
}

/// Adds the mask of a session to a device; `None` if a session cannot have such a device.
pub(super) fn add(number: u8, device: DLDevice) -> Option<DLDevice> {
    let device_type = device.device_type;
    if !(1..=HIGHEST_TYPE).contains(&device_type) || usize::from(number) >= SESSIONS {
        return None;
    }
    Some(DLDevice { device_type: device_type + FACTOR * (i32::from(number) + 1), ..device })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_tvm() {
        let cpu = DLDevice { device_type: 1, device_id: 3 };
        let remote = add(0, cpu).unwrap();
        assert_eq!((remote.device_type, remote.device_id), (129, 3));
        assert_eq!(split(129), Some((0, 1)));
        assert_eq!(split(128 * 32 + 31), Some((31, 31)));
    }

    #[test]
    fn other_numbers_are_not_masked_types() {
        for device_type in [i32::MIN, -129, -1, 0, 1, 127, 128 + 32, 128 * 33 + 1, i32::MAX] {
            assert_eq!(split(device_type), None, "{device_type}");
        }
        for device_type in [i32::MIN, -1, 0, 32, i32::MAX] {
            assert!(add(0, DLDevice { device_type, device_id: 0 }).is_none(), "{device_type}");
        }
        assert!(add(32, DLDevice { device_type: 1, device_id: 0 }).is_none());
    }
}
