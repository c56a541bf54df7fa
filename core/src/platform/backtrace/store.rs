//! Thread-local storage of the last backtrace of each thread, which C reads in place.

use crate::abi::TVMFFIByteArray;
use crate::platform::memory::Buffer;
use crate::platform::sync::per_thread;

struct LastText {
    text: Buffer<u8>,
    array: TVMFFIByteArray,
}

crate::per_thread!(static LAST: LastText = LastText { text: Buffer::new(), array: TVMFFIByteArray::EMPTY });

/// Runs `fill` to replace the stored backtrace, and returns its address. Returns `None` while the
/// thread is ending, if there is no memory to store one, and if called from within `fill`.
pub(super) fn with(fill: impl FnOnce(&mut Buffer<u8>)) -> Option<*const TVMFFIByteArray> {
    per_thread::with(&LAST, |last| {
        fill(&mut last.text);
        last.array = view(&last.text);
        &raw const last.array
    })
}

/// An empty string for C.
pub(super) struct Empty(pub(super) TVMFFIByteArray);

// SAFETY: never written, and points to a constant.
unsafe impl Sync for Empty {}

pub(super) static EMPTY: Empty = Empty(TVMFFIByteArray { data: c"".as_ptr(), size: 0 });

/// Borrows the stored text as a byte array for C.
fn view(text: &Buffer<u8>) -> TVMFFIByteArray {
    if text.is_empty() { EMPTY.0 } else { TVMFFIByteArray::from_slice(text) }
}
