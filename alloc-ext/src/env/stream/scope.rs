//! Streams that are current during a call.

use core::ffi::c_void;

use ferrite_core::error::Result;

use super::{DeviceKey, set};

/// Runs `body` with a stream as the current stream of this thread for a device, then restores the
/// previous one, also after a panic. Returns the result of `body`, including its errors, inside the
/// `Ok` value.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::env::stream::{self, DeviceKey};
/// use core::ptr;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let gpu = DeviceKey::new(2, 1);
/// // SAFETY: nothing uses the device in between.
/// let current = unsafe { stream::scope(gpu, ptr::without_provenance_mut(8), || stream::get(gpu).addr())? };
/// assert_eq!((current, stream::get(gpu)), (8, ptr::null_mut()));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Errors of [`set`].
///
/// # Safety
/// Same requirements as [`set`], until `body` returns.
///
/// # Upstream
/// `tvm_ffi.use_torch_stream` of the Python package.
pub unsafe fn scope<R>(
    device: DeviceKey,
    stream: *mut c_void,
    body: impl FnOnce() -> R,
) -> Result<R> {
    // SAFETY: the caller guarantees the stream while it is set.
    let _restored = Restored { device, earlier: unsafe { set(device, stream)? } };
    Ok(body())
}

/// Guard that restores the stream of a device when it is dropped.
struct Restored {
    device: DeviceKey,
    earlier: *mut c_void,
}

impl Drop for Restored {
    fn drop(&mut self) {
        // The device has a place for its stream now, so that this fails only in a thread that is
        // ending, with its streams.
        // SAFETY: the stream was set before, so the code that set it guarantees it.
        let _ = unsafe { set(self.device, self.earlier) };
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::env::stream::get;
    use core::ptr;

    fn scope<R>(device: DeviceKey, stream: *mut c_void, body: impl FnOnce() -> R) -> Result<R> {
        // SAFETY: no device uses the streams of these tests.
        unsafe { super::scope(device, stream, body) }
    }

    #[test]
    fn scopes_nest_and_restore_after_errors_and_panics() {
        let gpu = DeviceKey::new(2, 7);
        let (outer, inner) = (ptr::without_provenance_mut(16), ptr::without_provenance_mut(24));
        let result = scope(gpu, outer, || {
            assert!(scope(gpu, inner, || get(gpu) == inner).unwrap());
            let failed: Result<()> =
                scope(gpu, inner, || Err(ferrite_core::plain_error!(VALUE_ERROR, "failed")))
                    .unwrap();
            let panicked = std::panic::catch_unwind(|| {
                scope(gpu, ptr::without_provenance_mut(24), || {
                    std::panic::resume_unwind(std::boxed::Box::new(()))
                })
            });
            (failed.is_err(), panicked.is_err(), get(gpu) == outer)
        });
        assert_eq!(result.unwrap(), (true, true, true));
        assert!(get(gpu).is_null());
        assert!(scope(DeviceKey::new(-1, 0), outer, || ()).is_err());
    }
}
