//! The streams of a board in a list, which grows by one at a time: a table takes 200 bytes of code more.

use core::ffi::c_void;
use core::mem::{self, MaybeUninit};
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::sync::per_thread;

use super::DeviceStream;

/// The stream of a device for which one was set.
struct Entry {
    device: DeviceStream,
    next: List,
}

/// An entry in a block of a buffer, or none.
struct List(Option<&'static mut Entry>);

ferrite_core::per_thread!(static STREAMS: List = List(None));

/// Boards keep theirs for ever; only where this is tested do threads come and go.
impl Drop for List {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            // SAFETY: the block was one of a buffer for a single entry, and the list was its owner.
            drop(unsafe { Buffer::from_raw_parts(entry.into(), 1, 1) });
        }
    }
}

/// Sets a stream, and tells the one that was set before, or null.
///
/// # Errors
/// MemoryError.
pub(super) fn replace(new: DeviceStream) -> Result<*mut c_void> {
    // Made while the list is not lent: a refusal makes an error object, maybe by a user's allocator.
    let mut room = Buffer::<MaybeUninit<Entry>>::new();
    loop {
        let original = per_thread::with(&STREAMS, |streams| {
            if let Some(present) = entry_of(streams, new.device_type, new.device_id) {
                return Some(mem::replace(&mut present.stream, new.stream));
            }
            if !new.stream.is_null() {
                let room = mem::take(&mut room);
                if room.capacity() == 0 {
                    return None;
                }
                let mut place = room.into_raw_parts().0.cast::<Entry>();
                let next = List(streams.0.take());
                // SAFETY: the place is that of one entry, which nobody else has.
                streams.0 = Some(unsafe {
                    place.write(Entry { device: new, next });
                    place.as_mut()
                });
            }
            Some(ptr::null_mut())
        });
        // Only threads that end have no list any more.
        match original.unwrap_or(Some(ptr::null_mut())) {
            Some(original) => return Ok(original),
            None => room = Buffer::try_with_capacity(1)?,
        }
    }
}

/// The stream that was set for a device.
pub(super) fn find(device_type: i32, device_id: i32) -> Option<*mut c_void> {
    per_thread::with(&STREAMS, |streams| {
        entry_of(streams, device_type, device_id).map(|present| present.stream)
    })
    .flatten()
}

fn entry_of(streams: &mut List, device_type: i32, device_id: i32) -> Option<&mut DeviceStream> {
    let mut next = streams;
    while let Some(entry) = &mut next.0 {
        if entry.device.is_of(device_type, device_id) {
            return Some(&mut entry.device);
        }
        next = &mut entry.next;
    }
    None
}
