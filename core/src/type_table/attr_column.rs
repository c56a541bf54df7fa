//! Attributes of types: one column per attribute name, indexed by type index.
//!
//! C readers keep the pointer to a column and index its data in place, so a column never moves. Its data
//! moves when it grows; outgrown data stays readable for ever.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use crate::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFITypeAttrColumn};
use crate::any::AnyView;
use crate::error::{Result, out_of_memory};
use crate::plain_bail;
use crate::type_index::NONE;

use super::REGISTRY;
use super::arena::{Arena, NoMemory};
use super::columns;
use super::register::registered;

/// Room of the first data of a column, at least: the built-in types and a few more.
const FIRST_CAPACITY: i32 = if size_of::<usize>() == 8 { 160 } else { 80 };

const NO_VALUE: TVMFFIAny =
    TVMFFIAny { type_index: NONE, small_str_len: 0, payload: TVMFFIAnyPayload { v_int64: 0 } };

/// One attribute of all types that have it.
#[repr(C)]
pub struct AttrColumn {
    column: UnsafeCell<TVMFFITypeAttrColumn>,
    /// Room of the data; touched only under the registry's lock.
    capacity: UnsafeCell<i32>,
}

// SAFETY: of `column`, begin_index never changes and the other fields are read and written through atomics;
// `capacity` is touched only by holders of the registry's lock, as the arena in their hands shows.
unsafe impl Sync for AttrColumn {}
// SAFETY: the data pointer leads to memory that is never freed and belongs to no thread.
unsafe impl Send for AttrColumn {}

impl AttrColumn {
    pub(super) const fn new() -> Self {
        AttrColumn {
            column: UnsafeCell::new(TVMFFITypeAttrColumn { data: ptr::null(), size: 0, begin_index: 0 }),
            capacity: UnsafeCell::new(0),
        }
    }

    /// The record as C code reads it; valid for ever.
    pub fn as_ptr(&self) -> *const TVMFFITypeAttrColumn {
        self.column.get()
    }

    /// The attribute of a type, None when the type has none. Values stay for ever once registered.
    ///
    /// # Threads
    /// Lock-free, allocates nothing.
    pub fn get(&self, type_index: i32) -> AnyView<'static> {
        let size = self.size().load(Ordering::Acquire);
        if type_index < 0 || type_index >= size {
            return AnyView::NONE;
        }
        // Data seen after a size holds at least that many cells: it was published first.
        let cell = self.data().load(Ordering::Acquire).wrapping_add(type_index as usize);
        // SAFETY: the cell is within published data, which is never freed; its type index is accessed
        // atomically.
        let value_type = unsafe { AtomicI32::from_ptr(&raw mut (*cell).type_index) };
        if value_type.load(Ordering::Acquire) == NONE {
            return AnyView::NONE;
        }
        // SAFETY: a cell with a type index is complete, never changes again and owns its value for ever.
        unsafe { AnyView::from_raw(cell.read()) }
    }

    fn data(&self) -> &AtomicPtr<TVMFFIAny> {
        // SAFETY: the field is aligned, lives as long as the column, and Rust code reaches it through this
        // atomic only.
        unsafe { AtomicPtr::from_ptr((&raw mut (*self.column.get()).data).cast()) }
    }

    fn size(&self) -> &AtomicI32 {
        // SAFETY: as for `data`.
        unsafe { AtomicI32::from_ptr(&raw mut (*self.column.get()).size) }
    }

    /// Puts a value in an empty place, or answers false when the place is taken.
    fn put(
        &self,
        arena: &mut Arena,
        type_index: i32,
        value: TVMFFIAny,
    ) -> core::result::Result<bool, NoMemory> {
        if !self.get(type_index).is_none() {
            return Ok(false);
        }
        self.reserve(arena, type_index + 1)?;
        // SAFETY: `reserve` made room for the place; it is empty, so readers look at its type index only.
        unsafe {
            let cell = self.data().load(Ordering::Relaxed).add(type_index as usize);
            (&raw mut (*cell).small_str_len).write(value.small_str_len);
            (&raw mut (*cell).payload).write(value.payload);
            AtomicI32::from_ptr(&raw mut (*cell).type_index).store(value.type_index, Ordering::Release);
        }
        if type_index >= self.size().load(Ordering::Relaxed) {
            self.size().store(type_index + 1, Ordering::Release);
        }
        Ok(true)
    }

    /// Makes room for `needed` cells, all beyond the present ones empty.
    fn reserve(&self, arena: &mut Arena, needed: i32) -> core::result::Result<(), NoMemory> {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches the capacity.
        let capacity = unsafe { &mut *self.capacity.get() };
        if needed <= *capacity {
            return Ok(());
        }
        let grown = needed.max(capacity.saturating_mul(2)).max(FIRST_CAPACITY);
        let block = arena.array::<TVMFFIAny>(grown as usize)?;
        let size = self.size().load(Ordering::Relaxed) as usize;
        let old = self.data().load(Ordering::Relaxed);
        for index in 0..grown as usize {
            // SAFETY: the new block has room for `grown` cells, the old one holds `size`; writers are
            // serialised, so no cell of the old block changes now.
            unsafe { block.add(index).write(if index < size { old.add(index).read() } else { NO_VALUE }) };
        }
        self.data().store(block.as_ptr(), Ordering::Release);
        *capacity = grown;
        Ok(())
    }
}

/// Gives a type an attribute. The value is retained for ever; type index None makes the column without a
/// value.
///
/// # Errors
/// InternalError for an unknown type; RuntimeError when the type has that attribute; ValueError for a null
/// raw string; MemoryError. No value is changed then.
///
/// # Upstream
/// `TVMFFITypeRegisterAttr`, which does not look whether the type is known.
pub fn register_attr(type_index: i32, name: &[u8], value: AnyView<'_>) -> Result<()> {
    if type_index != NONE {
        registered(type_index)?;
    }
    let value = value.to_owned()?;
    let column = columns::get_or_make(name)?;
    if type_index == NONE {
        return Ok(());
    }
    let put = {
        let mut registry = REGISTRY.lock();
        column.put(&mut registry.arena, type_index, *value.as_raw())
    };
    match put {
        Ok(true) => {
            // The column owns the value now, for ever.
            core::mem::forget(value);
            Ok(())
        }
        Ok(false) => plain_bail!(
            RUNTIME_ERROR,
            "TypeAttr `{}` is already registered for type index {}. To update the stored value, register \
             a mutable container (e.g., Dict/List) once and mutate it in place on subsequent calls.",
            name,
            type_index
        ),
        Err(NoMemory(bytes)) => Err(out_of_memory(bytes)),
    }
}

/// The column of an attribute, for ever at its address; None when no type has had it registered, unless it is one that
/// the library itself looks at.
///
/// # Threads
/// Lock-free, allocates nothing.
///
/// # Upstream
/// `TVMFFIGetTypeAttrColumn`.
pub fn attr_column(name: &[u8]) -> Option<&'static AttrColumn> {
    columns::get(name)
}

/// An attribute of a type, None when the type does not have it. Nothing is inherited from the parent.
///
/// # Threads
/// Lock-free, allocates nothing.
pub fn attr(type_index: i32, name: &[u8]) -> AnyView<'static> {
    attr_column(name).map_or(AnyView::NONE, |column| column.get(type_index))
}
