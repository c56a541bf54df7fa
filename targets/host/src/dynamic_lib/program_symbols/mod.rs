//! C symbols of a program that contains the library, for the libraries that it loads.
//!
//! A linker exports the symbols of a shared library, but not those of a program, unless the program
//! is linked with `-rdynamic`, which a dependency cannot demand. A library that is linked with
//! `libtvm_ffi` must find its symbols when it is opened, though.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::linker;

#[cfg_attr(
    not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))),
    path = "other.rs"
)]
mod object;
mod symbol;

pub use symbol::Symbol;

/// Symbols of a program.
pub struct SymbolTable {
    /// The symbols, in any order. If the process exports the first one, it exports all.
    pub symbols: &'static [Symbol],
}

/// Table of symbols to export on the first load of a library; null if there is none.
static HIDDEN: AtomicPtr<SymbolTable> = AtomicPtr::new(ptr::null_mut());

/// Offers symbols of the program to the libraries that it will load. They become visible when the
/// first library is opened, unless the process already exports a symbol with the first name: its
/// own, or that of a `libtvm_ffi.so`.
///
/// # Threads
/// Any thread, also before `main`.
pub fn offer(table: &'static SymbolTable) {
    HIDDEN.store(ptr::from_ref(table).cast_mut(), Ordering::Release);
}

/// Shows the symbols that were offered to libraries that are opened after this call. If that fails,
/// the dynamic linker names the symbol that a library lacks.
pub(super) fn show() {
    // SAFETY: the table was stored by `offer`, and is static.
    let Some(table) = (unsafe { HIDDEN.load(Ordering::Acquire).as_ref() }) else {
        return;
    };
    // Two threads may both show them: the addresses are the same.
    if !is_shown(table) {
        object::load(table.symbols);
    }
    HIDDEN.store(ptr::null_mut(), Ordering::Release);
}

/// Returns `true` if the dynamic linker finds a symbol with the name of the table's first symbol,
/// or the table is empty.
fn is_shown(table: &SymbolTable) -> bool {
    table.symbols.first().is_none_or(|symbol| linker::process_shows(symbol.name()))
}

#[cfg(all(
    test,
    target_os = "linux",
    any(target_env = "gnu", all(target_env = "musl", not(target_feature = "crt-static"))),
    not(miri)
))]
mod tests {
    use core::ffi::{CStr, c_void};

    use super::*;

    extern "C" fn two() -> i32 {
        2
    }

    /// Returns the address that the dynamic linker finds.
    fn found(name: &CStr) -> *mut c_void {
        // SAFETY: the name ends in a NUL; only the address is taken.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    }

    #[test]
    fn offered_symbols_are_shown_once() {
        static TABLE: SymbolTable = SymbolTable {
            // SAFETY: nothing else has these names.
            symbols: &unsafe {
                [
                    Symbol::new(c"ferrite_test_two", two as *const c_void),
                    Symbol::new(c"ferrite_test_again", two as *const c_void),
                ]
            },
        };
        offer(&TABLE);
        assert!(found(c"ferrite_test_two").is_null());
        show();
        for name in [c"ferrite_test_two", c"ferrite_test_again"] {
            assert!(ptr::eq(found(name), two as *const c_void), "{name:?}");
        }
        assert!(HIDDEN.load(Ordering::Acquire).is_null() && found(c"ferrite_test_three").is_null());
        // Libraries that name `libtvm_ffi.so` as a dependency need no file of that name.
        let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD;
        // SAFETY: the name ends in a NUL; nothing is loaded, so no initialiser runs.
        let is_loaded = !unsafe { libc::dlopen(c"libtvm_ffi.so".as_ptr(), flags) }.is_null();
        assert_eq!(is_loaded, cfg!(target_env = "gnu"));
    }

    #[test]
    fn symbols_that_the_process_shows_stay() {
        static TABLE: SymbolTable =
            // SAFETY: the process shows the symbol already, so that this one is not used.
            SymbolTable { symbols: &[unsafe { Symbol::new(c"malloc", two as *const c_void) }] };
        assert!(is_shown(&TABLE));
        offer(&TABLE);
        show();
        assert!(!ptr::eq(found(c"malloc"), two as *const c_void));
    }
}
