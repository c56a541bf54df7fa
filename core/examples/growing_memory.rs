//! A WebAssembly module over the library's memory, for `tests/embedded/wasm/memory.mjs`:
//!
//! ```text
//! cargo build --release -p ferrite-ffi-core --no-default-features --features growing-memory \
//!   --target wasm32-unknown-unknown --example growing_memory
//! ```
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "its only user is the test")]

use core::alloc::Layout;
use core::ptr::NonNull;

use ferrite_core::Tensor;
use ferrite_core::abi::DLDevice;
use ferrite_core::platform::memory;
use ferrite_core::tensor::Element;
use ferrite_core::value::device::kind;

const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Returns a block of `bytes` bytes at a multiple of 16, or null.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(bytes: usize) -> *mut u8 {
    let layout = Layout::from_size_align(bytes, 16).ok();
    layout.and_then(memory::allocate).map_or(core::ptr::null_mut(), NonNull::as_ptr)
}

/// Frees a block of [`allocate`].
///
/// # Safety
/// The block must come from [`allocate`] and no longer be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(block: *mut u8) {
    let Some(block) = NonNull::new(block) else { return };
    // SAFETY: the caller's promise; the size of a layout does not count.
    unsafe { memory::release(block, Layout::from_size_align_unchecked(0, 16)) };
}

#[unsafe(no_mangle)]
pub extern "C" fn set_limit(bytes: usize) {
    memory::set_limit(bytes);
}

#[unsafe(no_mangle)]
pub extern "C" fn grown() -> usize {
    memory::stats().capacity
}

/// Creates a tensor of `bytes` bytes and drops it. Returns the length of the error's kind and
/// message, which it writes to `text`, or 0.
///
/// # Safety
/// `text` must have 256 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn make_tensor(bytes: u32, text: *mut u8) -> usize {
    let Err(error) = Tensor::empty(&[i64::from(bytes)], u8::DTYPE, CPU) else { return 0 };
    let parts = error.kind_bytes().iter().chain(b": ").chain(error.message_bytes());
    // SAFETY: the caller guarantees the bytes.
    parts.take(256).enumerate().map(|(at, byte)| unsafe { text.add(at).write(*byte) }).count()
}
