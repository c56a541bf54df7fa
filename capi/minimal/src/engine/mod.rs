//! The implementation: functions by name, calls, errors, strings and workspaces without a
//! heap.
//!
//! | file | content |
//! |---|---|
//! | `pool.rs` | objects in static memory; a slot is free while its type index is zero |
//! | `function.rs`, `function_object.rs`, `string.rs`, `errors.rs` | function, string and error objects, and the raised error |
//! | `refusal.rs` | the reasons for refusing a request, with their error messages |
//! | `names.rs` | the table of functions by name: global functions, and symbols of the system library |
//! | `workspace.rs` | workspaces of running kernels: a stack of blocks in a buffer provided by the firmware |
//! | `init_once.rs` | one-time initialisation of handles |
//! | `text.rs` | copying bytes, measuring C strings and writing decimal numbers |
//!
//! Capacities are in `capacity.rs`. All state starts as zeros, so that registration works before
//! `main` and costs no flash. This code neither formats text nor panics, and copies single bytes in
//! loops to avoid linking `memcpy`.
//!
//! The collections and pools of `heapless` are not used: its maps and vectors copy with `memcpy`,
//! need keys of a fixed size and can panic; its pools need initialisation at run time, and
//! compare-and-swap, which thumbv6m lacks. A pool that marks free slots by a zero word in the
//! object header needs none of these, nor a free list.
//!
//! # Interrupts
//! One core is assumed: an interrupt handler ends before the interrupted code continues. State that
//! takes more than one store to change is changed with interrupts masked (`sync::critical`), except
//! for the release of a workspace, and no user callback runs meanwhile. The raised error belongs to
//! the program, not to a thread.

use core::ffi::c_int;

use ferrite_core::abi::{
    TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskStrong as STRONG,
    kTVMFFIObjectDeleterFlagBitMaskWeak as WEAK,
};
use ferrite_core::object::refcount;

pub mod capacity;
pub mod errors;
mod function;
mod function_object;
pub mod init_once;
pub mod names;
mod pool;
mod refusal;
pub mod string;
#[cfg(test)]
mod tests;
pub mod text;
pub mod workspace;

pub use function::create as create_function;
pub use refusal::{Refusal, Result, memory_error};

/// The flags passed to a deleter, in this order.
const FLAGS: [c_int; 2] = [STRONG, WEAK];

const _: () = assert!(STRONG == 1 && WEAK == 2);

/// Releases a strong reference. If it was the last, the deleter runs immediately: the static pools
/// bound the depth of nested releases.
///
/// The deleter is always called twice, for the content and for the memory, so that objects with and
/// without weak references share one path.
///
/// # Safety
/// `object` must be live, and the caller transfers one strong reference to it.
///
/// # Upstream
/// `Object::DecRef` in `object.h`, which calls the deleter once if no weak references exist.
#[inline(always)]
pub unsafe fn release(object: *mut TVMFFIObject) {
    let mut half = 0;
    // SAFETY: the caller's promise; the header is readable until the deleter frees the memory.
    unsafe {
        while refcount::release_relaxed(object, half) == 0 {
            let Some(deleter) = (*object).deleter.deleter else { break };
            half += 1;
            deleter(object.cast(), half as c_int);
            if half == FLAGS.len() {
                break;
            }
        }
    }
}
