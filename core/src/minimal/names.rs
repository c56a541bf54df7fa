//! Functions by name: a table probed from a hash on, which never shrinks.

use core::ptr::{self, NonNull};

use super::Result;
use super::refusal::{Refusal, refuse};
use crate::abi::TVMFFIObject;
use crate::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use crate::sync::critical;
use crate::{config, refcount, release};

/// A name and its function, of which the table owns a reference. Only touched in critical sections.
struct Entry {
    function: AtomicPtr<TVMFFIObject>,
    name: AtomicPtr<u8>,
    /// See [`mark`]; zero when the entry is free.
    mark: AtomicU32,
}

static NAMES: [Entry; config::NAMES] = [const {
    Entry {
        function: AtomicPtr::new(ptr::null_mut()),
        name: AtomicPtr::new(ptr::null_mut()),
        mark: AtomicU32::new(0),
    }
}; config::NAMES];

/// The last two bytes of a name, if it has them, and its length, which is below 65,535.
#[inline(always)]
fn mark(name: &[u8]) -> u32 {
    let end = match *name {
        [.., last_but_one, last] => u32::from(u16::from_ne_bytes([last_but_one, last])),
        _ => 0,
    };
    ((name.len() as u32 + 1) << 16) | end
}

impl Entry {
    /// Whether the name is this, given that the mark is: words first, then what is left of them at the front.
    #[inline(always)]
    fn is(&self, name: &[u8]) -> bool {
        let (known, name, mut left) = (self.name.load(Ordering::Relaxed), name.as_ptr(), name.len());
        // SAFETY: both names are that long, and whoever registered the name keeps it.
        unsafe {
            while left >= 4 {
                left -= 4;
                if known.add(left).cast::<u32>().read_unaligned()
                    != name.add(left).cast::<u32>().read_unaligned()
                {
                    return false;
                }
            }
            while left != 0 {
                left -= 1;
                if *known.add(left) != *name.add(left) {
                    return false;
                }
            }
        }
        true
    }
}

/// Where a name is, or would be; none when it is not there and the table is full.
#[inline(never)]
fn find(name: &[u8]) -> Option<&'static Entry> {
    let mark = mark(name);
    // Fibonacci hashing: the multiplier is 2^32 divided by the golden ratio.
    let mut at = mark.wrapping_mul(0x9E37_79B1) as usize >> 24;
    let mut left = config::NAMES;
    while left != 0 {
        let entry = &NAMES[at % config::NAMES];
        let known = entry.mark.load(Ordering::Relaxed);
        if known == 0 || (known == mark && entry.is(name)) {
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
/// RuntimeError when the name is taken, unless `replace`; MemoryError when the table is full, or the name absurdly long.
///
/// # Safety
/// `function` is a function object, a reference of which the caller gives up. The name stays where it is.
#[inline(never)]
pub(super) unsafe fn register(name: &[u8], function: *mut TVMFFIObject, replace: bool) -> Result<()> {
    let (unwanted, refusal) = critical(|| {
        let Some(entry) = find(name).filter(|_| name.len() < 0xFFFF) else {
            return (function, Some(Refusal::Names));
        };
        let previous = entry.function.load(Ordering::Relaxed);
        if !previous.is_null() && !replace {
            return (function, Some(Refusal::Taken));
        }
        entry.name.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
        entry.mark.store(mark(name), Ordering::Relaxed);
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
/// RuntimeError when the name is taken, unless `replace`; MemoryError when the table is full, or the name absurdly long.
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

/// The function of this name; null when there is none. With `retain` the caller owns it, otherwise it is borrowed from the table,
/// and whoever replaces it ends it.
///
/// # Upstream
/// `TVMFFIFunctionGetGlobal`; `TVMFFIEnvModLookupFromImports`, where there are no imports.
pub fn get(name: &[u8], retain: bool) -> *mut TVMFFIObject {
    // Nobody registers or replaces a function before the one that was found is counted.
    critical(|| {
        let Some(entry) = find(name) else { return ptr::null_mut() };
        let function = entry.function.load(Ordering::Relaxed);
        if retain && !function.is_null() {
            // SAFETY: the table owns a reference.
            unsafe { refcount::retain(function) };
        }
        function
    })
}
