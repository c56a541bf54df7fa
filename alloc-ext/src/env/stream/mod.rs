//! Current stream of each thread and device.
//!
//! Hosts store the streams of each thread in thread-locals (`std.rs`); on bare metal, all threads
//! share them (`bare.rs`). Both files implement `replace`, `replace_inline` and `find`.

use core::ffi::c_void;

use ferrite_core::error::Result;

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;
mod key;
mod scope;

pub use key::DeviceKey;
pub use scope::scope;

/// Sets the current stream of this thread for a device. Returns the previous stream, or null.
///
/// The stream is neither used here nor owned. On bare metal, all threads share one stream per
/// device.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::env::stream::{self, DeviceKey};
/// use core::ptr;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let gpu = DeviceKey::new(2, 0);
/// let handle = ptr::without_provenance_mut(8);
/// // SAFETY: nothing uses the device in between.
/// unsafe {
///     assert!(stream::set(gpu, handle)?.is_null());
///     assert_eq!(stream::get(gpu), handle);
///     assert_eq!(stream::set(gpu, ptr::null_mut())?, handle);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError if the device type or id is negative or above 16777215; MemoryError; RuntimeError if
/// the thread is ending. After an error the stream is unchanged.
///
/// # Safety
/// The stream must be null or a stream of the device, and stay valid while it is set: kernels and
/// copies of the device use it. In programs with devices, `device::Stream::scope` borrows a stream
/// instead.
///
/// # Upstream
/// `TVMFFIEnvSetStream`, which allocates as many entries as the largest id.
pub unsafe fn set(device: DeviceKey, stream: *mut c_void) -> Result<*mut c_void> {
    device.check()?;
    imp::replace(device, stream)
}

/// Fast path of [`set`] for the device in the thread's inline slot. Returns `None` and changes
/// nothing if another device occupies it. Needs no range check: the device passed it when it got
/// the slot.
///
/// # Safety
/// Same requirements as [`set`].
#[inline]
pub unsafe fn set_inline(device: DeviceKey, stream: *mut c_void) -> Option<*mut c_void> {
    imp::replace_inline(device, stream)
}

/// Returns the current stream of this thread for a device; null if none was set or the device is
/// out of range.
///
/// # Upstream
/// `TVMFFIEnvGetStream`.
#[inline]
pub fn get(device: DeviceKey) -> *mut c_void {
    imp::find(device)
}

#[cfg(test)]
mod tests {
    use super::key::HIGHEST;
    use super::*;
    use core::ptr;

    fn set(device_type: i32, device_id: i32, stream: *mut c_void) -> Result<*mut c_void> {
        // SAFETY: no device uses the streams of these tests.
        unsafe { super::set(DeviceKey::new(device_type, device_id), stream) }
    }

    fn get(device_type: i32, device_id: i32) -> *mut c_void {
        super::get(DeviceKey::new(device_type, device_id))
    }

    fn stream(number: usize) -> *mut c_void {
        ptr::without_provenance_mut(number)
    }

    #[test]
    fn setting_tells_what_was_set() -> Result<()> {
        assert!(get(2, 0).is_null());
        assert!(set(2, 0, stream(16))?.is_null());
        assert_eq!(set(2, 0, stream(32))?, stream(16));
        assert_eq!(get(2, 0), stream(32));
        assert!(get(2, 1).is_null() && get(0, 2).is_null());
        assert_eq!(set(2, 0, ptr::null_mut())?, stream(32));
        assert!(get(2, 0).is_null());
        Ok(())
    }

    #[test]
    fn many_devices_have_their_own() -> Result<()> {
        for id in 0..40 {
            assert!(set(10, id, stream(id as usize * 8 + 8))?.is_null());
        }
        for id in 0..40 {
            assert_eq!(get(10, id), stream(id as usize * 8 + 8));
        }
        assert_eq!(set(HIGHEST, HIGHEST, stream(8))?, ptr::null_mut());
        assert_eq!(get(HIGHEST, HIGHEST), stream(8));
        Ok(())
    }

    #[test]
    fn numbers_that_no_device_has_are_refused() {
        for (device_type, device_id) in
            [(-1, 0), (0, -1), (i32::MAX, 0), (0, i32::MAX), (i32::MIN, i32::MIN)]
        {
            assert_eq!(
                set(device_type, device_id, stream(8)).unwrap_err().kind_bytes(),
                b"ValueError"
            );
            assert!(get(device_type, device_id).is_null());
        }
        let error = set(2, -7, stream(8)).unwrap_err();
        assert_eq!(error.message_bytes(), b"Device id -7 is not in 0 to 16777215");
    }

    /// Runs each order in a new thread, where the inline slot is still empty.
    #[test]
    #[cfg(feature = "std")]
    fn streams_are_remembered_in_any_order_of_settings() {
        const DEVICES: [(i32, i32); 3] = [(0, 0), (7, 0), (7, 1)];
        const STEPS: u32 = if cfg!(miri) { 2 } else { 4 };
        let settings = |mut order: usize| {
            let mut expected = [ptr::null_mut(); 3];
            for step in 1..=STEPS as usize {
                let device = order % 6 / 2;
                let new = if order.is_multiple_of(2) { ptr::null_mut() } else { stream(step * 8) };
                order /= 6;
                let (device_type, device_id) = DEVICES[device];
                let original = core::mem::replace(&mut expected[device], new);
                assert_eq!(set(device_type, device_id, new).unwrap(), original);
                assert_eq!(
                    DEVICES.map(|(device_type, device_id)| get(device_type, device_id)),
                    expected
                );
            }
        };
        for order in 0..6usize.pow(STEPS) {
            assert!(std::thread::spawn(move || settings(order)).join().is_ok(), "order {order}");
        }
    }

    #[test]
    #[cfg(feature = "std")]
    fn threads_have_their_own() -> Result<()> {
        set(4, 0, stream(8))?;
        std::thread::scope(|scope| {
            for thread in 1..5 {
                scope.spawn(move || {
                    assert!(get(4, 0).is_null());
                    assert!(
                        set(4, 0, stream(thread * 64)).is_ok_and(|original| original.is_null())
                    );
                    assert_eq!(get(4, 0), stream(thread * 64));
                });
            }
        });
        assert_eq!(get(4, 0), stream(8));
        Ok(())
    }
}
