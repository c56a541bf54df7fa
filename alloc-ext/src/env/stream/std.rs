//! Current streams of one thread: an inline slot for the first device, which suffices for most
//! threads, and a list for further devices.
#![forbid(unsafe_code)]

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::per_thread;

use super::key::DeviceKey;

/// Key of an empty inline slot. No DLPack device has it, since device types start at 1. If a stream
/// is set for it nevertheless, it occupies the slot.
const NONE: DeviceKey = DeviceKey::new(0, 0);

per_thread::__thread_local! {
    // Types without destructors, so that access need not check whether the thread-local is
    // destroyed.
    static INLINE_DEVICE: Cell<DeviceKey> = const { Cell::new(NONE) };
    static INLINE_STREAM: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

ferrite_core::per_thread!(
    /// Streams of further devices. There are only a few, so a linear scan is fastest.
    static STREAMS: Buffer<DeviceStream> = Buffer::new()
);

/// A device and its current stream.
#[derive(Clone, Copy)]
struct DeviceStream {
    device: DeviceKey,
    stream: *mut c_void,
}

/// Sets the stream of the device in the inline slot. Returns the previous stream, or null; `None`
/// if the slot has another device.
#[inline]
pub(super) fn replace_inline(device: DeviceKey, stream: *mut c_void) -> Option<*mut c_void> {
    (INLINE_DEVICE.get() == device).then(|| INLINE_STREAM.replace(stream))
}

/// Sets the stream of a device. Returns the previous one, or null. The device must be in range,
/// since it may get the inline slot.
///
/// # Errors
/// MemoryError; RuntimeError if the thread is ending.
pub(super) fn replace(device: DeviceKey, stream: *mut c_void) -> Result<*mut c_void> {
    if INLINE_DEVICE.get() == NONE
        && INLINE_STREAM.get().is_null()
        && find_in_list(device).is_null()
    {
        INLINE_DEVICE.set(device);
    }
    match replace_inline(device, stream) {
        Some(original) => Ok(original),
        None => replace_in_list(DeviceStream { device, stream }),
    }
}

fn replace_in_list(new: DeviceStream) -> Result<*mut c_void> {
    loop {
        match per_thread::with(&STREAMS, |streams| replace_in(streams, new)) {
            Some(Ok(original)) => return Ok(original),
            Some(Err(len)) => grow(len)?,
            None => plain_bail!(RUNTIME_ERROR, "This thread is ending and has no streams any more"),
        }
    }
}

/// Sets the stream of a device in the list. Returns the previous one, or null. If the list is full,
/// returns its length as the error.
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

/// Moves the list to a larger buffer. The buffer is allocated while the list is not borrowed, since
/// the error object of a failed allocation may be created through a user's allocator.
fn grow(len: usize) -> Result<()> {
    let mut larger = Buffer::try_with_capacity(len.saturating_mul(2).max(4))?;
    let smaller = per_thread::with(&STREAMS, |streams| {
        // Creating an error may have added entries.
        if streams.len() < larger.capacity() && larger.try_extend_from_slice(streams).is_ok() {
            core::mem::swap(streams, &mut larger);
        }
        larger
    });
    drop(smaller);
    Ok(())
}

/// Returns the current stream of a device, or null.
#[inline]
pub(super) fn find(device: DeviceKey) -> *mut c_void {
    if INLINE_DEVICE.get() == device {
        return INLINE_STREAM.get();
    }
    find_in_list(device)
}

#[cold]
fn find_in_list(device: DeviceKey) -> *mut c_void {
    per_thread::with(&STREAMS, |streams| {
        streams.iter().find(|present| present.device == device).map(|present| present.stream)
    })
    .flatten()
    .unwrap_or(ptr::null_mut())
}
