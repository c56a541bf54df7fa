//! The streams of a thread, side by side; that of the first device, which few threads pass, in a place of its own.
#![forbid(unsafe_code)]

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::plain_bail;
use ferrite_core::sync::per_thread;

use super::Device;

/// In the first place while no other device is there. DLPack's device types begin at 1; should this one get a stream, the
/// place is its.
const NONE: Device = Device::new(0, 0);

per_thread::__thread_local! {
    // Without destructors, hence without a look at whether they were destroyed.
    static FIRST_DEVICE: Cell<Device> = const { Cell::new(NONE) };
    static FIRST_STREAM: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

ferrite_core::per_thread!(
    /// One entry per further device for which a stream was set: a handful, so looking through them is quickest.
    static STREAMS: Buffer<DeviceStream> = Buffer::new()
);

/// The number of a device and its stream.
#[derive(Clone, Copy)]
struct DeviceStream {
    device: Device,
    stream: *mut c_void,
}

/// Sets a stream if it is that of the first device, and tells the one that was set before, or null.
#[inline]
pub(super) fn replace_first(device: Device, stream: *mut c_void) -> Option<*mut c_void> {
    (FIRST_DEVICE.get() == device).then(|| FIRST_STREAM.replace(stream))
}

/// Sets a stream, and tells the one that was set before, or null. The device is one that can be: it may get the first place.
///
/// # Errors
/// MemoryError; RuntimeError when the thread is ending.
pub(super) fn replace(device: Device, stream: *mut c_void) -> Result<*mut c_void> {
    if FIRST_DEVICE.get() == NONE && FIRST_STREAM.get().is_null() && find_further(device).is_null() {
        FIRST_DEVICE.set(device);
    }
    match replace_first(device, stream) {
        Some(original) => Ok(original),
        None => replace_further(DeviceStream { device, stream }),
    }
}

fn replace_further(new: DeviceStream) -> Result<*mut c_void> {
    loop {
        match per_thread::with(&STREAMS, |streams| replace_in(streams, new)) {
            Some(Ok(original)) => return Ok(original),
            Some(Err(len)) => make_room(len)?,
            None => plain_bail!(RUNTIME_ERROR, "This thread is ending and has no streams any more"),
        }
    }
}

/// Sets a stream; without room for it, answers how many there are.
fn replace_in(
    streams: &mut Buffer<DeviceStream>,
    new: DeviceStream,
) -> core::result::Result<*mut c_void, usize> {
    if let Some(present) = streams.iter_mut().find(|present| present.device == new.device) {
        return Ok(core::mem::replace(&mut present.stream, new.stream));
    }
    let len = streams.len();
    if new.stream.is_null() {
        return Ok(ptr::null_mut());
    }
    if len == streams.capacity() {
        return Err(len);
    }
    streams.try_push(new).map(|()| ptr::null_mut()).map_err(|_| len)
}

/// Moves the entries to a larger buffer. It is made while the table is not lent: a refusal makes an error
/// object, maybe by a user's allocator.
fn make_room(len: usize) -> Result<()> {
    let mut larger = Buffer::try_with_capacity(len.saturating_mul(2).max(4))?;
    let smaller = per_thread::with(&STREAMS, |streams| {
        // The making of an error may have added entries.
        if streams.len() < larger.capacity() && larger.try_extend_from_slice(streams).is_ok() {
            core::mem::swap(streams, &mut larger);
        }
        larger
    });
    drop(smaller);
    Ok(())
}

/// The stream that was set for a device, or null.
#[inline]
pub(super) fn find(device: Device) -> *mut c_void {
    if FIRST_DEVICE.get() == device {
        return FIRST_STREAM.get();
    }
    find_further(device)
}

#[cold]
fn find_further(device: Device) -> *mut c_void {
    per_thread::with(&STREAMS, |streams| {
        streams.iter().find(|present| present.device == device).map(|present| present.stream)
    })
    .flatten()
    .unwrap_or(ptr::null_mut())
}
