//! Error objects, and the raised error of the program.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use super::pool::{Pool, Slot};
use super::refusal::{Refusal, refuse};
use super::{Raised, Result, swap};
use crate::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle};
use crate::sync::atomic::AtomicPtr;
use crate::{config, refcount, release, type_index};

/// An error object.
#[repr(C)]
struct ErrorObject {
    header: TVMFFIObject,
    cell: TVMFFIErrorCell,
}

/// An error object and its texts, the kind first.
#[repr(C)]
struct ErrorSlot {
    object: ErrorObject,
    text: [u8; config::ERROR_BYTES],
}

// SAFETY: it starts with the header.
unsafe impl Slot for ErrorSlot {}

static POOL: Pool<ErrorSlot, { config::ERRORS }> = Pool::new();

#[repr(align(8))]
struct LastResort(UnsafeCell<MaybeUninit<ErrorObject>>);

// SAFETY: what is written is always the same, and the counts change atomically.
unsafe impl Sync for LastResort {}

/// The error when all slots are in use. It never dies.
static LAST_RESORT: LastResort = LastResort(UnsafeCell::new(MaybeUninit::zeroed()));

static RAISED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Takes the raised error, which the caller then owns; null when there is none.
pub fn take() -> *mut TVMFFIObject {
    swap(&RAISED, ptr::null_mut()).cast()
}

/// Raises `error`, or none when it is null, in place of what is raised. Takes over the reference.
///
/// # Safety
/// `error` is null or a reference that the caller owns, to an error object.
#[inline(never)]
unsafe fn replace(error: *mut TVMFFIObject) {
    let previous = swap(&RAISED, error.cast()).cast::<TVMFFIObject>();
    if !previous.is_null() {
        // SAFETY: the slot owned a reference.
        unsafe { release::release_at_once(previous) };
    }
}

/// Raises an error object; null takes the raised one away.
///
/// # Errors
/// TypeError when it is none.
///
/// # Safety
/// `error` is null or points to a live object.
pub unsafe fn set(error: *mut TVMFFIObject) -> Result<()> {
    // SAFETY: the object is alive.
    unsafe {
        if !error.is_null() {
            if (*error).type_index != type_index::ERROR {
                return Err(refuse(Refusal::Type));
            }
            refcount::retain(error);
        }
        replace(error);
    }
    Ok(())
}

/// Raises an error whose message is put together from parts, and cut to what a slot has room for.
///
/// When all slots are in use, the MemoryError that is always there.
///
/// # Safety
/// `kind` and the parts are null or C strings.
#[cold]
#[inline(never)]
pub unsafe fn raise(kind: *const c_char, parts: &[*const c_char]) -> Raised {
    // SAFETY: null is no error; what nobody took makes room. The slot is ours, and the caller vouches for the texts.
    unsafe {
        replace(ptr::null_mut());
        let slot = POOL.claim(type_index::ERROR);
        replace(if slot.is_null() { last_resort() } else { fill(slot, kind, parts) });
    }
    Raised::status()
}

/// The error that needs no slot.
fn last_resort() -> *mut TVMFFIObject {
    let error = LAST_RESORT.0.get().cast::<ErrorObject>();
    // SAFETY: the static has room; whoever reads it finds the same there.
    unsafe {
        // So many strong references that it never dies.
        (*error).header.combined_ref_count = 0x1_4000_0000;
        (*error).header.type_index = type_index::ERROR;
        (*error).cell.kind = TVMFFIByteArray { data: c"MemoryError".as_ptr(), size: 11 };
        (*error).cell.update_backtrace = Some(ignore_backtrace);
    }
    error.cast()
}

/// # Safety
/// The slot is the caller's; the texts are null or C strings.
unsafe fn fill(slot: *mut ErrorSlot, kind: *const c_char, parts: &[*const c_char]) -> *mut TVMFFIObject {
    // SAFETY: the caller's promise. The rest of the cell stays zero.
    unsafe {
        let text = (&raw mut (*slot).text).cast::<u8>();
        let is_missing = kind.is_null() || *kind == 0;
        let kind_end = push(text, slot, if is_missing { c"RuntimeError".as_ptr() } else { kind });
        let mut end = kind_end;
        for part in parts {
            end = push(end, slot, *part);
        }
        let cell = &raw mut (*slot).object.cell;
        (*cell).kind = between(text, kind_end);
        (*cell).message = between(kind_end, end);
        (*cell).update_backtrace = Some(ignore_backtrace);
    }
    slot.cast()
}

/// # Safety
/// Both point into one text, in this order.
unsafe fn between(start: *const u8, end: *const u8) -> TVMFFIByteArray {
    // SAFETY: the caller's promise.
    TVMFFIByteArray { data: start.cast(), size: unsafe { end.offset_from_unsigned(start) } }
}

/// Adds as much of a C string as there is room for, and gives the new end of the text.
///
/// # Safety
/// `end` is the end of the text of `slot`; `text` is null or a C string.
#[inline(never)]
unsafe fn push(end: *mut u8, slot: *mut ErrorSlot, text: *const c_char) -> *mut u8 {
    let (mut end, mut text) = (end, text.cast::<u8>());
    if text.is_null() {
        return end;
    }
    // SAFETY: neither pointer passes its end.
    unsafe {
        while *text != 0 && end != slot.add(1).cast() {
            *end = *text;
            end = end.add(1);
            text = text.add(1);
        }
    }
    end
}

/// Backtraces are not kept.
unsafe extern "C" fn ignore_backtrace(_: TVMFFIObjectHandle, _: *const TVMFFIByteArray, _: i32) {}
