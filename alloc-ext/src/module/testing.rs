//! Helpers for the tests of this folder: a library of static symbols, and module implementations.

use core::cell::Cell;
use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::vec::Vec;

use ferrite_core::abi::{TVMFFIAny, TVMFFISafeCallType};
use ferrite_core::error::{Result, raised_error};
use ferrite_core::{Any, Function, String};

use super::library::Library;
use super::{Module, ModuleImpl};

/// A library with given symbols, which counts its live instances.
pub(super) struct FakeLibrary {
    pub symbols: Vec<(&'static CStr, *mut c_void)>,
    pub open: Arc<AtomicUsize>,
}

// SAFETY: the addresses are those of functions, and of cells that the test accesses on its own
// thread.
unsafe impl Send for FakeLibrary {}
// SAFETY: as for Send.
unsafe impl Sync for FakeLibrary {}

impl FakeLibrary {
    pub fn new(symbols: &[(&'static CStr, *mut c_void)]) -> (FakeLibrary, Arc<AtomicUsize>) {
        let open = Arc::new(AtomicUsize::new(1));
        (FakeLibrary { symbols: symbols.to_vec(), open: open.clone() }, open)
    }
}

impl Drop for FakeLibrary {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

// SAFETY: tests provide symbols of the right types, which outlive the library.
unsafe impl Library for FakeLibrary {
    fn symbol(&self, name: &CStr) -> Result<Option<NonNull<c_void>>> {
        Ok(self
            .symbols
            .iter()
            .find(|(known, _)| *known == name)
            .and_then(|(_, address)| NonNull::new(*address)))
    }
}

pub(super) fn address(function: TVMFFISafeCallType) -> *mut c_void {
    function as *mut c_void
}

/// Returns the address of a pointer slot.
pub(super) fn slot_address(slot: &Cell<*mut c_void>) -> *mut c_void {
    slot.as_ptr().cast()
}

/// Safe-call function that doubles its argument. Raises TypeError if its handle is not null.
pub(super) unsafe extern "C" fn double(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    if !handle.is_null() || count != 1 {
        raised_error::set(ferrite_core::error!(TypeError, "expected one argument and no handle"));
        return -1;
    }
    // SAFETY: one argument was passed, and the result is writable.
    unsafe { result.write(Any::from((*args).payload.v_int64 * 2).into_raw()) };
    0
}

/// Safe-call function that returns a heap-allocated string.
pub(super) unsafe extern "C" fn text(
    _: *mut c_void,
    _: *const TVMFFIAny,
    _: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the result is writable.
    unsafe { result.write(Any::from(name("a text of some length")).into_raw()) };
    0
}

pub(super) fn name(text: &str) -> String {
    String::new(text).unwrap()
}

/// Implementation of a module with one function, which returns the module's tag.
pub(super) struct Tagged(pub i64, pub &'static str);

impl ModuleImpl for Tagged {
    fn kind(&self) -> &CStr {
        c"tagged"
    }

    fn get_function(&self, _module: &Module, name: &String) -> Result<Option<Function>> {
        let tag = self.0;
        if name.as_bytes() != self.1.as_bytes() {
            return Ok(None);
        }
        Function::from_packed(move |_| Ok(Any::from(tag))).map(Some)
    }
}

pub(super) fn tagged(tag: i64, function: &'static str) -> Module {
    Module::from_impl(Tagged(tag, function)).unwrap()
}
