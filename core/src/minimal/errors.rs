//! Error objects, and the raised error of the program.

use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::ptr;

use super::pool::{ObjectPool, PoolObject};
use super::refusal::{memory_error, runtime_error};
use crate::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle};
use crate::sync::atomic::{AtomicPtr, exchange_relaxed};
use crate::{config, type_index};

/// An error object.
#[repr(C)]
struct ErrorObject {
    header: TVMFFIObject,
    cell: TVMFFIErrorCell,
}

/// An error object followed by its kind and message.
#[repr(C, align(8))]
struct ErrorSlot {
    object: ErrorObject,
    text: [u8; config::ERROR_BYTES],
}

// SAFETY: it starts with the header.
unsafe impl PoolObject for ErrorSlot {}

static POOL: ObjectPool<ErrorSlot, { config::ERRORS }> = ObjectPool::new();

/// The storage of the last-resort error, which has no message.
#[repr(C, align(8))]
struct LastResort {
    object: ErrorObject,
    text: [u8; 12],
}

struct SharedLastResort(UnsafeCell<MaybeUninit<LastResort>>);

// SAFETY: every write stores the same bytes, and the counts change atomically.
unsafe impl Sync for SharedLastResort {}

/// The error used when all slots are in use. Its strong count never reaches zero.
static LAST_RESORT: SharedLastResort = SharedLastResort(UnsafeCell::new(MaybeUninit::zeroed()));

static RAISED: AtomicPtr<TVMFFIObject> = AtomicPtr::new(ptr::null_mut());

/// Raises `error` and takes ownership of its reference, or clears the raised error if null. Returns the previously
/// raised error, if any; its reference is now the caller's.
///
/// # Safety
/// `error` is null, or an error object to which the caller transfers a reference.
#[inline(always)]
pub unsafe fn swap(error: *mut TVMFFIObject) -> *mut TVMFFIObject {
    exchange_relaxed(&RAISED, error)
}

/// Makes an error whose message is concatenated from parts and truncated to the capacity of a slot; owned by the
/// caller.
///
/// If all slots are in use, returns the last-resort MemoryError.
///
/// # Safety
/// `kind` and the parts are null or C strings; `parts` is null or points to `count` of them.
#[inline(always)]
pub unsafe fn create(kind: *const c_char, parts: *const *const c_char, count: i32) -> *mut TVMFFIObject {
    let kind = if kind.is_null() { runtime_error() } else { kind };
    let (slot, kind, count) = match POOL.claim(type_index::ERROR) {
        Some(slot) => (slot.as_ptr(), kind, count),
        None => (last_resort(), memory_error(), 0),
    };
    // SAFETY: the slot is owned here, and the caller vouches for the texts.
    unsafe { fill(slot, kind, parts, count) };
    slot.cast()
}

/// Returns the last-resort error with a reference for the caller. It has space for its kind only.
#[inline(always)]
fn last_resort() -> *mut ErrorSlot {
    let slot = LAST_RESORT.0.get().cast::<ErrorSlot>();
    // SAFETY: the storage is static.
    unsafe {
        (*slot).object.header.type_index = type_index::ERROR;
        (*slot).object.header.combined_ref_count = 0x4000_0000_4000_0000;
    }
    slot
}

/// Fills a slot with an error.
///
/// # Safety
/// The caller owns the slot, which has enough space for the texts or its full size; the texts are null or C strings.
#[inline(always)]
unsafe fn fill(slot: *mut ErrorSlot, kind: *const c_char, parts: *const *const c_char, count: i32) {
    // SAFETY: the caller's promise. The rest of the cell stays zero.
    unsafe {
        let text = (&raw mut (*slot).text).cast::<u8>();
        let kind_end = push(text, slot, kind);
        let (mut end, mut part, mut left) = (kind_end, parts, count);
        while left > 0 && !part.is_null() {
            end = push(end, slot, *part);
            part = part.add(1);
            left -= 1;
        }
        let cell = &raw mut (*slot).object.cell;
        (*cell).kind = between(text, kind_end);
        (*cell).message = between(kind_end, end);
        (*cell).update_backtrace = Some(ignore_backtrace);
    }
}

/// # Safety
/// Both point into one text, `start` first.
unsafe fn between(start: *const u8, end: *const u8) -> TVMFFIByteArray {
    // SAFETY: the caller's promise.
    TVMFFIByteArray { data: start.cast(), size: unsafe { end.offset_from_unsigned(start) } }
}

/// Appends a C string, truncated to the space of the slot; returns the new end of the text.
///
/// # Safety
/// `end` is the end of the text of `slot`; `text` is null or a C string.
#[inline(never)]
unsafe fn push(end: *mut u8, slot: *mut ErrorSlot, text: *const c_char) -> *mut u8 {
    let (mut end, mut text) = (end, text.cast::<u8>());
    if text.is_null() {
        return end;
    }
    // SAFETY: both pointers stay within their bounds.
    unsafe {
        while *text != 0 && end != slot.wrapping_add(1).cast() {
            *end = *text;
            end = end.add(1);
            text = text.add(1);
        }
    }
    end
}

/// Ignores updates: backtraces are not kept.
unsafe extern "C" fn ignore_backtrace(_: TVMFFIObjectHandle, _: *const TVMFFIByteArray, _: i32) {}
