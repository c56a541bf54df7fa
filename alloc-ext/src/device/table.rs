//! Table of registered back ends, by device type. Lookups take no lock and do not allocate; those
//! of remote devices ask the function of [`register_remote`].

use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::platform::sync::critical;
use ferrite_core::value::device;

use super::backend::Backend;
use super::error::type_text;

/// Highest device type that may have a back end.
pub const HIGHEST_TYPE: i32 = 31;

/// Back ends by device type; null where none is registered. A `&dyn` takes two words, so each entry
/// points to a static one instead.
static TABLE: [AtomicPtr<&'static dyn Backend>; HIGHEST_TYPE as usize + 1] =
    [const { AtomicPtr::new(ptr::null_mut()) }; HIGHEST_TYPE as usize + 1];

/// Registers a back end for the devices of its type. It cannot be removed, since its streams,
/// events and memory may be in use. Registering the same static again has no effect.
///
/// # Errors
/// ValueError if the device type is the CPU's, negative, or above [`HIGHEST_TYPE`]; RuntimeError if
/// the type has another back end.
///
/// # Threads
/// Any thread. Does not allocate.
pub fn register(backend: &'static &'static dyn Backend) -> Result<()> {
    let device_type = backend.device_type();
    match slot(device_type) {
        Some(slot) if device_type != device::kind::CPU => {
            let backend = ptr::from_ref(backend).cast_mut();
            // Processors without compare-and-swap have no exchange.
            let earlier = critical(|| {
                let earlier = slot.load(Ordering::Acquire);
                if earlier.is_null() {
                    slot.store(backend, Ordering::Release);
                }
                earlier
            });
            if !earlier.is_null() && earlier != backend {
                plain_bail!(
                    RUNTIME_ERROR,
                    "Device type {} already has another back end",
                    device_type
                );
            }
            Ok(())
        }
        _ => plain_bail!(VALUE_ERROR, "Device type {} cannot have a back end", device_type),
    }
}

fn slot(device_type: i32) -> Option<&'static AtomicPtr<&'static dyn Backend>> {
    TABLE.get(usize::try_from(device_type).ok()?)
}

/// Returns the back end of a device type; `None` if there is none.
#[inline]
pub fn find(device_type: i32) -> Option<&'static dyn Backend> {
    match slot(device_type) {
        // SAFETY: only `register` stores here, and only static references.
        Some(slot) => unsafe { slot.load(Ordering::Acquire).as_ref() }.copied(),
        None => remote::find_remote(device_type),
    }
}

/// Back ends of remote devices, whose types are above [`HIGHEST_TYPE`]: a device of another process
/// or machine has the type that it has there, with the number of its connection.
#[cfg(feature = "std")]
mod remote {
    use super::{AtomicPtr, Backend, Ordering, ptr};

    /// Finds the back end of a remote device type; `None` if its connection is closed.
    pub type FindRemote = fn(device_type: i32) -> Option<&'static dyn Backend>;

    static FIND: AtomicPtr<FindRemote> = AtomicPtr::new(ptr::null_mut());

    /// Registers the function that finds back ends of remote devices. The last registration counts.
    ///
    /// # Threads
    /// Any thread. Does not allocate.
    pub fn register_remote(find: &'static FindRemote) {
        FIND.store(ptr::from_ref(find).cast_mut(), Ordering::Release);
    }

    #[cold]
    pub(super) fn find_remote(device_type: i32) -> Option<&'static dyn Backend> {
        // SAFETY: only `register_remote` stores here, and only static references.
        let find = unsafe { FIND.load(Ordering::Acquire).as_ref() }?;
        find(device_type)
    }
}

/// Remote devices without an operating system: none.
#[cfg(not(feature = "std"))]
mod remote {
    use super::Backend;

    #[inline(always)]
    pub(super) fn find_remote(_: i32) -> Option<&'static dyn Backend> {
        None
    }
}

#[cfg(feature = "std")]
pub use remote::{FindRemote, register_remote};

/// Returns the back end of a device type.
///
/// # Errors
/// InternalError if the build has no back end for the device type.
pub fn get(device_type: i32) -> Result<&'static dyn Backend> {
    match find(device_type) {
        Some(backend) => Ok(backend),
        None => plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (allow_missing) is false: Device API {} is not enabled.",
            type_text(device_type)
        ),
    }
}

/// Returns the registered back ends, ordered by device type.
pub fn registered() -> impl Iterator<Item = &'static dyn Backend> {
    (0..=HIGHEST_TYPE).filter_map(find)
}
