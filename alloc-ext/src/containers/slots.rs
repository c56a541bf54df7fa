//! Slot access to containers: reads and replaces the elements of sequences and the values of maps
//! in place.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::{Exclusive, Shared};
use ferrite_core::value::any::{Any, AnyView};

use super::sequence::Seq;
use super::table::{Table, copy_object};
use super::{ArrayObject, ListObject};

/// Slots of a borrowed container: the elements of an Array or List, or the values of a Map or Dict.
///
/// Slots that no longer exist, because a user callback changed the container, are skipped.
pub(crate) struct Slots<'a> {
    container: ManuallyDrop<ObjectRef>,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Slots<'a> {
    /// Returns the slots of a container; `None` for any other value.
    pub(crate) fn of(value: AnyView<'a>) -> Option<Self> {
        let object = value.object_ptr()?;
        let is_container = matches!(
            value.type_index(),
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT
        );
        // SAFETY: the view keeps the object alive for 'a, and its reference is not given up.
        let container = || ManuallyDrop::new(unsafe { ObjectRef::from_raw(object) });
        is_container.then(|| Self { container: container(), borrowed: PhantomData })
    }

    /// Returns `true` if other references may change the container while it is borrowed here.
    pub(crate) fn may_change(&self) -> bool {
        matches!(self.container.type_index(), type_index::LIST | type_index::DICT)
    }

    /// Borrows a List or Dict for reading; `None` for an Array or Map.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the container.
    pub(crate) fn borrow(&self) -> Result<Option<Shared<&ObjectRef>>> {
        super::borrow(&*self.container)
    }

    /// Returns the slot of the first value; `None` if the container is empty.
    ///
    /// # Safety
    /// The caller must have the container [borrowed](Self::borrow).
    pub(crate) unsafe fn first(&self) -> Option<u64> {
        match self.seq() {
            Some(seq) => (seq.len() > 0).then_some(0),
            None => self.table().first().map(|slot| slot as u64),
        }
    }

    /// Returns the next slot after `slot`; `None` at the end.
    ///
    /// # Safety
    /// The caller must have the container [borrowed](Self::borrow).
    pub(crate) unsafe fn next(&self, slot: u64) -> Option<u64> {
        match self.seq() {
            Some(seq) => slot.checked_add(1).filter(|next| *next < seq.len() as u64),
            None => self.table().next(slot as usize).map(|slot| slot as u64),
        }
    }

    /// Returns a view of the value in `slot`; `None` if the slot no longer exists.
    ///
    /// # Safety
    /// The caller has the container [borrowed](Self::borrow), and the container must keep that
    /// value for `'a`.
    pub(crate) unsafe fn get(&self, slot: u64) -> Option<AnyView<'a>> {
        let cell = match self.seq() {
            Some(seq) => {
                let index = usize::try_from(slot).ok().filter(|index| *index < seq.len())?;
                // SAFETY: the index is below the length.
                unsafe { seq.cells().add(index) }
            }
            None => self.table().entry(slot as usize)?.value(),
        };
        // SAFETY: the cell is initialised; the caller guarantees the life of its value.
        Some(unsafe { AnyView::from_raw(*cell) })
    }

    /// Replaces the value in `slot`, even if the container is shared. Changes nothing if the slot
    /// no longer exists, or if a map's value in it is no longer `old`.
    ///
    /// # Errors
    /// RuntimeError if another thread is using a List or Dict.
    pub(crate) fn replace(&self, slot: u64, old: AnyView<'_>, value: Any) -> Result<()> {
        let replaced = {
            let _borrow = self.may_change().then(|| Exclusive::of(&*self.container)).transpose()?;
            if let Some(seq) = self.seq() {
                let index = usize::try_from(slot).ok().filter(|index| *index < seq.len());
                index.map(|index| seq.replace(index, value))
            } else {
                let entry = self.table().entry(slot as usize);
                // SAFETY: a Dict is borrowed, and a Map that is being rewritten has one owner; no
                // user callback runs here.
                entry.and_then(|entry| unsafe {
                    super::key::same_words(&*entry.value(), old.as_raw())
                        .then(|| entry.replace_value(value))
                })
            }
        };
        drop(replaced);
        Ok(())
    }

    /// Returns a copy of the container with the same values in the same slots.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the container; MemoryError.
    pub(crate) fn copy(&self) -> Result<Any> {
        let _borrow = self.borrow()?;
        let index = self.container.type_index();
        let Some(seq) = self.seq() else {
            return copy_object(index, self.table()).map(Any::new);
        };
        // SAFETY: the borrow excludes writers while the values are copied.
        let values = unsafe { seq.as_slice() };
        match index {
            type_index::ARRAY => ArrayObject::from_slice(values).map(Any::new),
            _ => ListObject::from_slice(values).map(Any::new),
        }
    }

    fn seq(&self) -> Option<Seq<'_>> {
        let is_seq = matches!(self.container.type_index(), type_index::ARRAY | type_index::LIST);
        // SAFETY: just checked.
        is_seq.then(|| unsafe { Seq::of(&self.container) })
    }

    fn table(&self) -> Table<'_> {
        // SAFETY: `of` takes sequences and maps only, and this is called when it is not a sequence.
        unsafe { Table::of(&self.container) }
    }
}
