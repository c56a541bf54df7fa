//! Sequence objects: layout in memory, allocation and release.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};

use ferrite_core::abi::{TVMFFIObject, TVMFFISeqCell};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::{self, ObjectRecord, Space};

use crate::containers::cell::{self, CELL_BYTES};
use crate::containers::storage;

/// Memory layout of an Array or List: the object header, followed by the address and number of the
/// cells.
///
/// ```text
///  0 header   24 data   32 size   40 capacity   48 data_deleter   56 cells of an Array that this library made
/// ```
///
/// # Upstream
/// `SeqBaseObj` in `include/tvm/ffi/container/seq_base.h`.
#[repr(C)]
pub struct SeqRecord {
    header: TVMFFIObject,
    pub(crate) cell: TVMFFISeqCell,
}

const _: () = {
    assert!(offset_of!(SeqRecord, cell) + offset_of!(TVMFFISeqCell, data) == 24);
    assert!(offset_of!(SeqRecord, cell) + offset_of!(TVMFFISeqCell, size) == 32);
    assert!(offset_of!(SeqRecord, cell) + offset_of!(TVMFFISeqCell, capacity) == 40);
    assert!(offset_of!(SeqRecord, cell) + offset_of!(TVMFFISeqCell, data_deleter) == 48);
    assert!(size_of::<SeqRecord>() == 56);
};

// SAFETY: repr(C) with the header first; `destroy` releases the elements and their storage.
unsafe impl ObjectRecord for SeqRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let this: *mut Self = this.cast();
        // SAFETY: the last strong reference is gone, so there is no other user of the record.
        unsafe {
            let len = count((*this).cell.size as usize);
            cell::release_all((*this).cell.data.cast(), len);
            if let Some(release) = (*this).cell.data_deleter {
                release((*this).cell.data);
            }
        }
    }
}

/// Creates an empty sequence object whose cells follow the record, as in an Array.
///
/// # Errors
/// MemoryError.
pub(crate) fn allocate_in_place(
    type_index: i32,
    capacity: usize,
    space: &mut impl Space,
) -> Result<ObjectRef> {
    let bytes = storage::block_bytes(capacity, CELL_BYTES)?;
    let init = |record: *mut SeqRecord| {
        // SAFETY: `record` is ours to fill, and `bytes` bytes follow it.
        unsafe {
            let data = record.add(1).cast::<c_void>();
            (&raw mut (*record).cell).write(TVMFFISeqCell {
                data,
                size: 0,
                capacity: capacity as i64,
                data_deleter: None,
            });
        }
    };
    // SAFETY: `init` writes every field behind the header.
    unsafe { object_alloc::allocate_in::<SeqRecord>(space, type_index, bytes, init) }
}

/// Creates an empty sequence object whose cells are in a separate block, as in a List. No block is
/// allocated for capacity 0.
///
/// # Errors
/// MemoryError.
pub(crate) fn allocate_with_block(type_index: i32, capacity: usize) -> Result<ObjectRef> {
    let block = match storage::block_bytes(capacity, CELL_BYTES)? {
        0 => core::ptr::null_mut(),
        bytes => storage::allocate_block(bytes)?.as_ptr(),
    };
    let init = |record: *mut SeqRecord| {
        let cell = TVMFFISeqCell {
            data: block,
            size: 0,
            capacity: capacity as i64,
            data_deleter: Some(storage::release_block),
        };
        // SAFETY: `record` is ours to fill.
        unsafe { (&raw mut (*record).cell).write(cell) }
    };
    // SAFETY: `init` writes every field behind the header.
    let object = unsafe { object_alloc::allocate::<SeqRecord>(type_index, 0, init) };
    if object.is_err() {
        // SAFETY: the block has no other reference.
        unsafe { storage::release_block(block) }
    }
    object
}

/// Converts a stored number of cells. A negative number, which only a faulty client writes, becomes
/// 0.
#[inline]
pub(crate) fn count(number: usize) -> usize {
    (number as isize).max(0) as usize
}
