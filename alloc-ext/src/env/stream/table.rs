//! The streams of a thread, side by side; that of the first device, which few threads pass, in a place of its own.
#![forbid(unsafe_code)]

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::plain_bail;
use ferrite_core::sync::per_thread;

use super::{DeviceStream, number};

/// The number of no device that can have a stream.
const NONE: u64 = number(-1, -1);

per_thread::__thread_local! {
    // Without destructors, hence without a look at whether they were destroyed.
    static FIRST_DEVICE: Cell<u64> = const { Cell::new(NONE) };
    static FIRST_STREAM: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

ferrite_core::per_thread!(
    /// One entry per further device for which a stream was set: a handful, so looking through them is quickest.
    static STREAMS: Buffer<DeviceStream> = Buffer::new()
);

impl DeviceStream {
    fn is_of(&self, device_type: i32, device_id: i32) -> bool {
        (self.device_type, self.device_id) == (device_type, device_id)
    }
}

/// Sets a stream, and tells the one that was set before, or null.
///
/// # Errors
/// MemoryError; RuntimeError when the thread is ending.
#[inline]
pub(super) fn replace(new: DeviceStream) -> Result<*mut c_void> {
    let device = number(new.device_type, new.device_id);
    let first = FIRST_DEVICE.get();
    if first != device {
        if first != NONE {
            return replace_further(new);
        }
        FIRST_DEVICE.set(device);
    }
    Ok(FIRST_STREAM.replace(new.stream))
}

#[cold]
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
    if let Some(present) = streams.iter_mut().find(|present| present.is_of(new.device_type, new.device_id)) {
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
pub(super) fn find(device_type: i32, device_id: i32) -> *mut c_void {
    if FIRST_DEVICE.get() == number(device_type, device_id) {
        return FIRST_STREAM.get();
    }
    find_further(device_type, device_id)
}

#[cold]
fn find_further(device_type: i32, device_id: i32) -> *mut c_void {
    per_thread::with(&STREAMS, |streams| {
        streams.iter().find(|present| present.is_of(device_type, device_id)).map(|present| present.stream)
    })
    .flatten()
    .unwrap_or(ptr::null_mut())
}
