//! Functions by name: a table probed from a hash on, which never shrinks.

use core::ptr::{self, NonNull};

use super::Result;
use super::refusal::{Refusal, refuse};
use crate::abi::TVMFFIObject;
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::sync::critical;
use crate::{config, refcount, release};

/// A name and its function, of which the table owns a reference. Free while there is none; it is stored last.
struct Entry {
    function: AtomicPtr<TVMFFIObject>,
    name: AtomicPtr<u8>,
    len: AtomicUsize,
}

static NAMES: [Entry; config::NAMES] = [const {
    Entry {
        function: AtomicPtr::new(ptr::null_mut()),
        name: AtomicPtr::new(ptr::null_mut()),
        len: AtomicUsize::new(0),
    }
}; config::NAMES];

impl Entry {
    /// Whether this is its name; compared from the end on, where names of one program tend to differ.
    #[inline(always)]
    fn is(&self, name: &[u8]) -> bool {
        let known = self.name.load(Ordering::Relaxed);
        let mut left = name.len();
        if self.len.load(Ordering::Relaxed) != left {
            return false;
        }
        while left != 0 {
            left -= 1;
            // SAFETY: both names are that long, and whoever registered the name keeps it.
            if unsafe { *known.add(left) != *name.as_ptr().add(left) } {
                return false;
            }
        }
        true
    }
}

/// Where a name is, or would be; none when it is not there and the table is full.
#[inline(never)]
fn find(name: &[u8]) -> Option<&'static Entry> {
    // Numbered names, such as `layer_12`, get places in a row.
    let mut at = match *name {
        [.., tens, ones] => usize::from(tens) * 10 + usize::from(ones),
        _ => 0,
    };
    let mut left = config::NAMES;
    while left != 0 {
        let entry = &NAMES[at % config::NAMES];
        if entry.function.load(Ordering::Relaxed).is_null() || entry.is(name) {
            return Some(entry);
        }
        at += 1;
        left -= 1;
    }
    None
}

/// Registers a function, of which the table takes over a reference.
///
/// # Errors
/// RuntimeError when the name is taken, unless `replace`; MemoryError when the table is full.
///
/// # Safety
/// `function` is a function object, a reference of which the caller gives up. The name stays where it is.
#[inline(never)]
pub(super) unsafe fn register(name: &[u8], function: *mut TVMFFIObject, replace: bool) -> Result<()> {
    let (unwanted, refusal) = critical(|| {
        let Some(entry) = find(name) else { return (function, Some(Refusal::Names)) };
        let previous = entry.function.load(Ordering::Relaxed);
        if !previous.is_null() && !replace {
            return (function, Some(Refusal::Taken));
        }
        entry.name.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
        entry.len.store(name.len(), Ordering::Relaxed);
        entry.function.store(function, Ordering::Relaxed);
        (previous, None)
    });
    if !unwanted.is_null() {
        // SAFETY: a reference that the table had, or that it did not take.
        unsafe { release::release_at_once(unwanted) };
    }
    match refusal {
        None => Ok(()),
        Some(refusal) => Err(refuse(refusal)),
    }
}

/// Registers a global function, of which the table keeps a reference of its own.
///
/// # Errors
/// As [`register`].
///
/// # Safety
/// `function` is a live function object. The name stays where it is.
///
/// # Upstream
/// `TVMFFIFunctionSetGlobal`, which copies the name.
pub unsafe fn set(name: &[u8], function: NonNull<TVMFFIObject>, replace: bool) -> Result<()> {
    // SAFETY: the function is alive.
    unsafe {
        refcount::retain(function.as_ptr());
        register(name, function.as_ptr(), replace)
    }
}

/// The function of this name, which the caller owns; null when there is none.
///
/// # Upstream
/// `TVMFFIFunctionGetGlobal`.
pub fn get(name: &[u8]) -> *mut TVMFFIObject {
    // Nobody replaces the function before it is counted.
    critical(|| {
        let function = borrow(name);
        if !function.is_null() {
            // SAFETY: the table owns a reference.
            unsafe { refcount::retain(function) };
        }
        function
    })
}

/// The function of this name, borrowed from the table: whoever replaces it ends it. Null when there is none.
///
/// # Upstream
/// `TVMFFIEnvModLookupFromImports`, where there are no imports.
pub fn borrow(name: &[u8]) -> *mut TVMFFIObject {
    find(name).map_or(ptr::null_mut(), |entry| entry.function.load(Ordering::Relaxed))
}
