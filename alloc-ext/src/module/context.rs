//! Context symbols: addresses that are stored into pointer variables of a compiled library when it
//! is loaded.
//!
//! Code that TVM compiles through LLVM calls the runtime through slots: pointer variables such as
//! `__TVMFFIFunctionCall`. [`install_builtin`] provides the built-in symbols;
//! `TVMFFIEnvModRegisterContextSymbol` adds symbols or replaces them.
//!
//! # Upstream
//! `ContextSymbolRegistry` in `library_module.cc`, which has no built-in symbols.

use core::ffi::{CStr, c_void};
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};

use super::library::Library;
use super::symbol_table::{self, SymbolTable};

/// Context symbol: the name of a slot and the address to store in it.
pub struct ContextSymbol {
    name: &'static CStr,
    address: *const c_void,
}

// SAFETY: the address is only passed on, never dereferenced here.
unsafe impl Sync for ContextSymbol {}

impl ContextSymbol {
    /// Creates a symbol that stores `address`, usually of a C function, in the slot `name`.
    ///
    /// # Safety
    /// The address must have the type that libraries with such a slot expect, and stay valid until
    /// the process ends.
    pub const unsafe fn new(name: &'static CStr, address: *const c_void) -> Self {
        ContextSymbol { name, address }
    }
}

/// Table of built-in context symbols, in read-only data.
pub struct ContextTable {
    /// The symbols, in the order in which slots are filled.
    pub symbols: &'static [ContextSymbol],
}

/// Wrapper of registered addresses. Returns the address to store in the slot: the registered
/// address, or the address of a function that forwards to it.
pub struct Wrap(fn(name: &CStr, registered: *mut c_void) -> *mut c_void);

impl Wrap {
    /// Creates a wrapper from its function.
    ///
    /// # Safety
    /// The result of the function must have the type that libraries with a slot `name` expect,
    /// provided that the registered address has.
    pub const unsafe fn new(wrap: fn(name: &CStr, registered: *mut c_void) -> *mut c_void) -> Wrap {
        Wrap(wrap)
    }
}

static BUILTIN: AtomicPtr<ContextTable> = AtomicPtr::new(ptr::null_mut());
static WRAP: AtomicPtr<Wrap> = AtomicPtr::new(ptr::null_mut());
pub(crate) static REGISTERED: SymbolTable = SymbolTable::new();

/// Installs the table of built-in context symbols. Replaces an earlier table.
///
/// # Threads
/// Any thread. Takes no lock and does not allocate.
pub fn install_builtin(table: &'static ContextTable) {
    BUILTIN.store(ptr::from_ref(table).cast_mut(), Ordering::Release);
}

/// Installs the wrapper of registered addresses. Replaces an earlier wrapper.
///
/// # Threads
/// Any thread. Takes no lock and does not allocate.
pub fn install_wrap(wrap: &'static Wrap) {
    WRAP.store(ptr::from_ref(wrap).cast_mut(), Ordering::Release);
}

fn wrapped(name: &CStr, registered: *mut c_void) -> *mut c_void {
    // SAFETY: only `install_wrap` stores here, and only static references.
    match unsafe { WRAP.load(Ordering::Acquire).cast_const().as_ref() } {
        Some(Wrap(wrap)) => wrap(name, registered),
        None => registered,
    }
}

fn builtin() -> &'static [ContextSymbol] {
    let table = BUILTIN.load(Ordering::Acquire);
    // SAFETY: only `install_builtin` stores here, and only static references.
    unsafe { table.as_ref() }.map_or(&[], |table| table.symbols)
}

/// Registers a context symbol: the address to store in slots called `name`, which must not contain
/// NUL. Registering a name again replaces its address for libraries that are loaded later.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// The address must have the type that libraries with such a slot expect, and stay valid until the
/// process ends.
///
/// # Upstream
/// `TVMFFIEnvModRegisterContextSymbol`.
pub unsafe fn register(name: &[u8], address: *mut c_void) -> Result<()> {
    symbol_table::set(&REGISTERED, name, address).map(drop)
}

/// Calls `visit` with the built-in symbols, then with the registered symbols in registration order.
/// A name that is both built-in and registered is visited once, with the registered address.
/// Registered addresses are wrapped.
///
/// # Errors
/// The first error of `visit`, which ends the iteration.
///
/// # Upstream
/// `Module::VisitContextSymbols`.
pub fn for_each(visit: &mut dyn FnMut(&CStr, *mut c_void) -> Result<()>) -> Result<()> {
    for symbol in builtin() {
        if REGISTERED.get(symbol.name.to_bytes()).is_none() {
            visit(symbol.name, symbol.address.cast_mut())?;
        }
    }
    let mut result = Ok(());
    REGISTERED.for_each(|entry| {
        // SAFETY: a NUL follows the name, which lives as long as the entry.
        let name = unsafe { CStr::from_ptr(entry.name_ptr().cast()) };
        result = visit(name, wrapped(name, entry.value.load(Ordering::Acquire)));
        result.is_ok()
    });
    result
}

/// Stores the addresses of all context symbols in the slots of a library.
pub(super) fn fill(library: &dyn Library) -> Result<()> {
    for_each(&mut |name, address| {
        if let Some(slot) = library.symbol(name)? {
            // SAFETY: a symbol of this name is a writable pointer (contract of `Library`).
            unsafe { slot.as_ptr().cast::<*mut c_void>().write_unaligned(address) };
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::library_module::create_library_module;
    use super::super::testing::{FakeLibrary, slot_address};
    use super::*;
    use core::cell::Cell;
    use std::vec::Vec;

    static FIRST: u8 = 1;
    static SECOND: u8 = 2;

    fn address(of: &'static u8) -> *mut c_void {
        ptr::from_ref(of).cast_mut().cast()
    }

    #[test]
    fn slots_of_a_library_are_filled() -> Result<()> {
        static TABLE: ContextTable = ContextTable {
            // SAFETY: no library follows the addresses.
            symbols: &unsafe {
                [
                    ContextSymbol::new(c"ctx_known", (&raw const FIRST).cast()),
                    ContextSymbol::new(c"ctx_replaced", (&raw const FIRST).cast()),
                ]
            },
        };
        install_builtin(&TABLE);
        // SAFETY: as above.
        unsafe {
            register(b"ctx_replaced", address(&FIRST))?;
            register(b"ctx_own", address(&FIRST))?;
            register(b"ctx_replaced", address(&SECOND))?;
        }
        let slots = [(); 3].map(|()| Cell::new(ptr::null_mut()));
        let names = [c"ctx_known", c"ctx_replaced", c"ctx_own"];
        let symbols: Vec<_> = names.into_iter().zip(slots.iter().map(slot_address)).collect();
        create_library_module(FakeLibrary::new(&symbols).0)?;
        assert_eq!(
            slots.map(|slot| slot.get()),
            [address(&FIRST), address(&SECOND), address(&FIRST)]
        );
        let mut seen = Vec::new();
        for_each(&mut |name, address| {
            seen.push((name.to_bytes().to_vec(), address));
            Ok(())
        })?;
        seen.retain(|(name, _)| name.starts_with(b"ctx_"));
        let expected = [("ctx_known", &FIRST), ("ctx_replaced", &SECOND), ("ctx_own", &FIRST)]
            .map(|(name, at)| (name.into(), address(at)));
        assert_eq!(seen, expected);
        Ok(())
    }
}
