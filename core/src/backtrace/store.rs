//! Thread-local storage of the last backtrace of each thread, which C reads in place.

extern crate std;

use core::cell::{Cell, RefCell};

use crate::abi::TVMFFIByteArray;
use crate::memory::Buffer;

struct LastText {
    text: RefCell<Buffer<u8>>,
    array: Cell<TVMFFIByteArray>,
}

std::thread_local! {
    static LAST: LastText = const {
        LastText {
            text: RefCell::new(Buffer::new()),
            array: Cell::new(TVMFFIByteArray::EMPTY),
        }
    };
}

/// Runs `fill` to replace the stored backtrace, and returns its address. Returns `None` while the thread is ending or
/// if called from within `fill`.
pub(super) fn with(fill: impl FnOnce(&mut Buffer<u8>)) -> Option<*const TVMFFIByteArray> {
    LAST.try_with(|last| {
        let mut text = last.text.try_borrow_mut().ok()?;
        fill(&mut text);
        last.array.set(view(&text));
        Some(last.array.as_ptr().cast_const())
    })
    .ok()?
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
