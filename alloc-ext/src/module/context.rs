//! Context symbols: addresses that the loader stores in the pointer slots of a compiled library.
//!
//! Code that TVM compiles through LLVM calls the runtime through slots such as `__TVMFFIFunctionCall`. Some
//! names are known from the start, see [`install_builtin`]; `TVMFFIEnvModRegisterContextSymbol` adds others
//! or replaces these.
//!
//! # Upstream
//! `ContextSymbolRegistry` in `library_module.cc`, which knows no names of its own.

use core::ffi::{CStr, c_void};
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

use super::library::Library;
use super::symbol_table::{self, SymbolTable};

/// A name and the address that belongs in its slot.
pub struct ContextSymbol {
    name: &'static CStr,
    address: *const c_void,
}

// SAFETY: the address is handed on, never followed here.
unsafe impl Sync for ContextSymbol {}

impl ContextSymbol {
    /// A symbol that puts `address`, usually that of a C function, into the slot `name`.
    pub const fn new(name: &'static CStr, address: *const c_void) -> Self {
        ContextSymbol { name, address }
    }
}

/// The names that the program knows from the start, as a table in read-only data.
pub struct ContextTable {
    /// Filled in this order.
    pub symbols: &'static [ContextSymbol],
}

/// Gives the address for the slots of a name that was registered: the registered one, or one that forwards to it.
pub struct Wrap(pub fn(name: &CStr, registered: *mut c_void) -> *mut c_void);

static BUILTIN: AtomicPtr<ContextTable> = AtomicPtr::new(ptr::null_mut());
static WRAP: AtomicPtr<Wrap> = AtomicPtr::new(ptr::null_mut());
pub(crate) static REGISTERED: SymbolTable = SymbolTable::new();

/// Installs the table of names that the program knows from the start, in place of an earlier one.
///
/// # Threads
/// Any thread; takes no lock, allocates nothing.
pub fn install_builtin(table: &'static ContextTable) {
    BUILTIN.store(ptr::from_ref(table).cast_mut(), Ordering::Release);
}

/// Installs what registered addresses are wrapped with, in place of an earlier wrap.
///
/// # Threads
/// As [`install_builtin`].
pub fn install_wrap(wrap: &'static Wrap) {
    WRAP.store(ptr::from_ref(wrap).cast_mut(), Ordering::Release);
}

fn wrapped(name: &CStr, registered: *mut c_void) -> *mut c_void {
    // SAFETY: only `install_wrap` stores here, and what it stores is static.
    match unsafe { WRAP.load(Ordering::Acquire).cast_const().as_ref() } {
        Some(Wrap(wrap)) => wrap(name, registered),
        None => registered,
    }
}

fn builtin() -> &'static [ContextSymbol] {
    let table = BUILTIN.load(Ordering::Acquire);
    // SAFETY: only `install_builtin` stores here, and what it stores is static.
    unsafe { table.as_ref() }.map_or(&[], |table| table.symbols)
}

/// Registers `address` for slots called `name`, in which there is no NUL. Registering a name again replaces its address, for
/// libraries loaded later.
///
/// # Errors
/// `MemoryError`.
///
/// # Upstream
/// `TVMFFIEnvModRegisterContextSymbol`.
pub fn register(name: &[u8], address: *mut c_void) -> Result<()> {
    symbol_table::set(&REGISTERED, name, address).map(drop)
}

/// Visits the names that the program knows from the start, then the registered ones in order of registration.
/// A name that is both comes once, with the registered address or what wraps it.
///
/// # Errors
/// Those of `visit`, which end the walk.
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

/// Stores the address of every name that the library has a slot for.
pub(super) fn fill(library: &dyn Library) -> Result<()> {
    for_each(&mut |name, address| {
        if let Some(slot) = library.symbol(name)? {
            // SAFETY: a symbol of such a name is a writable pointer (contract of `Library`).
            unsafe { slot.as_ptr().cast::<*mut c_void>().write_unaligned(address) };
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::library::create_library_module;
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
            symbols: &[
                ContextSymbol::new(c"ctx_known", (&raw const FIRST).cast()),
                ContextSymbol::new(c"ctx_replaced", (&raw const FIRST).cast()),
            ],
        };
        install_builtin(&TABLE);
        register(b"ctx_replaced", address(&FIRST))?;
        register(b"ctx_own", address(&FIRST))?;
        register(b"ctx_replaced", address(&SECOND))?;
        let slots = [(); 3].map(|()| Cell::new(ptr::null_mut()));
        let names = [c"ctx_known", c"ctx_replaced", c"ctx_own"];
        let symbols: Vec<_> = names.into_iter().zip(slots.iter().map(slot_address)).collect();
        create_library_module(FakeLibrary::new(&symbols).0)?;
        assert_eq!(slots.map(|slot| slot.get()), [address(&FIRST), address(&SECOND), address(&FIRST)]);
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
