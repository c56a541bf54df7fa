//! The program's last backtrace, for C to read: boards have one thread of execution.

use super::view;
use crate::abi::TVMFFIByteArray;
use crate::memory::Buffer;
use crate::sync::Mutex;

struct LastText {
    text: Buffer<u8>,
    array: TVMFFIByteArray,
}

// SAFETY: the array points into the buffer beside it, and the mutex admits one thread at a time.
unsafe impl Send for LastText {}

static LAST: Mutex<LastText> = Mutex::new(LastText { text: Buffer::new(), array: TVMFFIByteArray::EMPTY });

/// Lets `fill` make a text, which replaces the last one, and gives its place. Never none here.
pub(super) fn with(fill: impl FnOnce(&mut Buffer<u8>)) -> Option<*const TVMFFIByteArray> {
    // Filled before the lock is taken: a provider is code of a user.
    let mut text = Buffer::new();
    fill(&mut text);
    let mut last = LAST.lock();
    core::mem::swap(&mut last.text, &mut text);
    last.array = view(&last.text);
    let place = &raw const last.array;
    drop(last);
    Some(place)
}
