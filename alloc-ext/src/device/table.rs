//! The registered back ends. Readers take no lock and allocate nothing.

use core::ptr;

use ferrite_core::error::{Error, Result};
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::{device, plain_bail, plain_error};

use super::backend::Backend;

/// The highest device type that may have a back end.
pub const HIGHEST_TYPE: i32 = 31;

/// A pointer to a place with a back end, which needs two words; null without one.
static TABLE: [AtomicPtr<&'static dyn Backend>; HIGHEST_TYPE as usize + 1] =
    [const { AtomicPtr::new(ptr::null_mut()) }; HIGHEST_TYPE as usize + 1];

/// Makes `backend` serve the devices of its type, in place of an earlier back end.
///
/// # Errors
/// ValueError when the device type is the CPU's, negative or above [`HIGHEST_TYPE`].
///
/// # Threads
/// Any thread; takes no lock, allocates nothing.
pub fn register(backend: &'static &'static dyn Backend) -> Result<()> {
    let device_type = backend.device_type();
    match slot(device_type) {
        Some(slot) if device_type != device::kind::CPU => {
            slot.store(ptr::from_ref(backend).cast_mut(), Ordering::Release);
            Ok(())
        }
        _ => plain_bail!(VALUE_ERROR, "Device type {} cannot have a back end", device_type),
    }
}

fn slot(device_type: i32) -> Option<&'static AtomicPtr<&'static dyn Backend>> {
    TABLE.get(usize::try_from(device_type).ok()?)
}

/// The back end of a device type.
#[inline]
pub fn find(device_type: i32) -> Option<&'static dyn Backend> {
    // SAFETY: only `register` stores here, and what it stores is static.
    unsafe { slot(device_type)?.load(Ordering::Acquire).as_ref() }.copied()
}

/// The back end of a device type.
///
/// # Errors
/// InternalError when the build has none.
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

/// The back ends, in the order of their device types.
pub fn registered() -> impl Iterator<Item = &'static dyn Backend> {
    (0..=HIGHEST_TYPE).filter_map(find)
}

/// The name of a device type for messages.
fn type_text(device_type: i32) -> &'static str {
    device::type_name(device_type).unwrap_or("of an unknown type")
}

/// The error of an operation that the devices of a type do not have.
#[cold]
pub(super) fn unsupported(what: &str, device_type: i32) -> Error {
    plain_error!(RUNTIME_ERROR, "Devices {} have no {}", type_text(device_type), what)
}
