//! Error objects, and the raised error of the program.

use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::ptr;

use super::capacity;
use super::pool::{ObjectPool, PoolObject};
use super::refusal::{memory_error, runtime_error};
use ferrite_core::abi::{
    TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle, type_index,
};
use ferrite_core::platform::sync::atomic::{AtomicPtr, exchange_relaxed};

/// The record of an error object.
#[repr(C)]
struct ErrorObject {
    header: TVMFFIObject,
    cell: TVMFFIErrorCell,
}

/// A slot of the error pool: an error object followed by its kind and message.
#[repr(C, align(8))]
struct ErrorSlot {
    object: ErrorObject,
    text: [u8; capacity::ERROR_BYTES],
}

// SAFETY: it starts with the header.
unsafe impl PoolObject for ErrorSlot {}

static POOL: ObjectPool<ErrorSlot, { capacity::ERRORS }> = ObjectPool::new();

/// The storage of the last-resort error, which has a kind but no message.
#[repr(C, align(8))]
struct LastResort {
    object: ErrorObject,
    text: [u8; 12],
}

struct SharedLastResort(UnsafeCell<MaybeUninit<LastResort>>);

// SAFETY: every write stores the same bytes, and the counts change atomically.
unsafe impl Sync for SharedLastResort {}

/// The MemoryError used when all slots are in use. Its strong count never reaches zero.
static LAST_RESORT: SharedLastResort = SharedLastResort(UnsafeCell::new(MaybeUninit::zeroed()));

static RAISED: AtomicPtr<TVMFFIObject> = AtomicPtr::new(ptr::null_mut());

/// Raises `error` and takes ownership of its reference, or clears the raised error if `error` is
/// null. Returns the previously raised error, or null; the caller then owns its reference.
///
/// # Safety
/// `error` must be null, or an error object to which the caller transfers a reference.
#[inline(always)]
pub unsafe fn swap(error: *mut TVMFFIObject) -> *mut TVMFFIObject {
    exchange_relaxed(&RAISED, error)
}

/// Creates an error, owned by the caller. Its message is concatenated from `parts` and truncated to
/// the capacity of a slot.
///
/// If all slots are in use, returns the last-resort MemoryError.
///
/// # Safety
/// `kind` and the parts must be null or C strings. `parts` must be null or point to `count` of
/// them.
#[inline(always)]
pub unsafe fn create(
    kind: *const c_char,
    parts: *const *const c_char,
    count: i32,
) -> *mut TVMFFIObject {
    let kind = if kind.is_null() { runtime_error() } else { kind };
    let (slot, kind, count) = match POOL.claim(type_index::ERROR) {
        Some(slot) => (slot.as_ptr(), kind, count),
        None => (last_resort(), memory_error(), 0),
    };
    // SAFETY: the slot is owned here, and the caller guarantees the strings.
    unsafe { fill(slot, kind, parts, count) };
    slot.cast()
}

/// Returns a new reference to the last-resort error, which has space for its kind only.
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

/// Initialises a slot as an error with the given kind and message.
///
/// # Safety
/// The caller must own the slot, which must have its full size or enough space for the strings. The
/// strings must be null or C strings.
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

/// Returns the bytes between two addresses.
///
/// # Safety
/// Both must point into one string, and `start` must not be after `end`.
unsafe fn between(start: *const u8, end: *const u8) -> TVMFFIByteArray {
    // SAFETY: the caller's promise.
    TVMFFIByteArray { data: start.cast(), size: unsafe { end.offset_from_unsigned(start) } }
}

/// Appends a C string to the strings of a slot, truncated to the space of the slot. Returns the new
/// end.
///
/// # Safety
/// `end` must be the end of the strings of `slot`. `text` must be null or a C string.
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

/// The `update_backtrace` callback of errors: ignores updates, because backtraces are not stored.
unsafe extern "C" fn ignore_backtrace(_: TVMFFIObjectHandle, _: *const TVMFFIByteArray, _: i32) {}
