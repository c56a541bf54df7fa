//! The engine of the profile `minimal`: functions by name, calls, errors, strings and workspaces without any heap.
//!
//! | file | holds |
//! |---|---|
//! | `pool.rs` | objects in static memory; a slot is free while its type index is zero |
//! | `function.rs` `string.rs` `raised.rs` | the three kinds of objects, and the raised error |
//! | `refusal.rs` | why the library refuses something |
//! | `names.rs` | functions by name: global ones, and those of the system library |
//! | `workspace.rs` | the memory of running kernels: a stack in a buffer of the firmware |
//! | `init_once.rs` | handles made once |
//! | `text.rs` | bytes, C strings and decimal numbers |
//!
//! Capacities are in `config.rs`. Everything starts as zeros, so that registration works before `main` and costs no flash.
//! Nothing here formats text or can panic, and loops copy bytes one by one where `memcpy` would have to be linked.
//!
//! The tables and pools are not those of `heapless`: its maps and vectors copy through `memcpy`, keep keys of a fixed size and
//! bring panics; its pools need an initialisation at run time, and compare-and-swap, which thumbv6m lacks. A slot that is
//! free while a word of its own header is zero needs neither, nor a list of free slots.
//!
//! # Interrupts
//! One core is assumed: what interrupts us ends before we go on. Whatever takes more than one store is changed with interrupts
//! masked (`sync::critical`), but for the end of a workspace, and no code of a user runs meanwhile. The raised error belongs to
//! the program, not to a thread.

use core::ffi::c_int;

use crate::abi::{
    TVMFFIObject, kTVMFFIObjectDeleterFlagBitMaskStrong as STRONG,
    kTVMFFIObjectDeleterFlagBitMaskWeak as WEAK,
};
use crate::refcount;

mod function;
pub mod init_once;
pub mod names;
mod pool;
pub mod raised_error;
mod refusal;
pub mod string;
#[cfg(test)]
mod tests;
pub mod text;
pub mod workspace;

pub use function::create as create_function;
pub use refusal::{Refusal, Result, memory_error};

/// What a deleter is asked for, in this order.
const FLAGS: [c_int; 2] = [STRONG, WEAK];

const _: () = assert!(STRONG == 1 && WEAK == 2);

/// Gives up a strong reference. When it was the last, the deleter runs at once: objects of static pools bound how deep
/// releases nest.
///
/// The deleter is always asked twice, for the content and for the memory: one way for objects with and without weak references.
///
/// # Safety
/// `object` is live, and the caller gives up one strong reference to it.
///
/// # Upstream
/// `Object::DecRef` in `object.h`, which asks once when there are no weak references.
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
