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
//! masked (`sync::critical`), and no code of a user runs meanwhile. The raised error belongs to the program, not to a thread.

use core::ffi::{c_int, c_void};
use core::hint::black_box;
use core::num::NonZeroI32;

use core::ptr;

use crate::abi::TVMFFISafeCallType;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::critical;

mod function;
pub mod init_once;
pub mod names;
mod pool;
pub mod raised;
mod refusal;
pub mod string;
mod text;
pub mod workspace;

pub use function::create as create_function;
pub use refusal::{Refusal, refuse};
pub use text::c_str;

/// Something failed, and the error is raised. As long as an `int` that is not 0, so that results without a value are what C
/// wants to have, without a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised(NonZeroI32);

impl Raised {
    /// The status of calls that raised an error.
    pub const FAILURE: Self = Self(NonZeroI32::new(-1).unwrap());

    /// The status of calls that raised an error: kept from the compiler, so that what ends with an error ends with a jump.
    #[inline(always)]
    fn status() -> Self {
        // SAFETY: -1 is not 0.
        Self(unsafe { NonZeroI32::new_unchecked(black_box(-1)) })
    }
}

/// 0, or the status of an error.
#[inline(always)]
pub const fn status(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(raised) => raised.0.get(),
    }
}

/// What was asked for, or an error that is raised already.
pub type Result<T> = core::result::Result<T, Raised>;

/// Puts `new` into `place` and gives what was there; one step for what interrupts us, which needs no barrier.
#[inline(never)]
fn swap(place: &AtomicPtr<c_void>, new: *mut c_void) -> *mut c_void {
    critical(|| {
        let old = place.load(Ordering::Relaxed);
        place.store(new, Ordering::Relaxed);
        old
    })
}

/// Adds a function of the system library under the name of its symbol; one of the same name is replaced.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// `symbol` is a compiled function, and the name stays where it is.
///
/// # Upstream
/// `TVMFFIEnvModRegisterSystemLibSymbol`, which keeps names and addresses apart from the functions.
pub unsafe fn register_symbol(name: &[u8], symbol: TVMFFISafeCallType) -> Result<()> {
    // SAFETY: the caller's promise; the table takes the new reference over.
    unsafe {
        let function = create_function(ptr::null_mut(), symbol, None);
        if function.is_null() { Err(Raised::FAILURE) } else { names::register(name, function, true) }
    }
}
