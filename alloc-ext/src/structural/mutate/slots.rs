//! Default mutation of containers: elements and map values are replaced in place, or in a copy made
//! at the first change.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};

use super::mutator::InplaceMode;
use super::node::{MutationTarget, Node, Step};
use super::unchanged::{UNCHANGED, is_same, is_unchanged};
use crate::containers::Slots;

/// Cursor over the elements of a container being rewritten, with the copy that receives changes.
pub struct SlotsBody<'a> {
    /// Slot index of the current element; `None` before the first.
    place: Option<u64>,
    element: AnyView<'a>,
    /// Owned reference to the current element, if a callback could remove it from the container.
    held: Any,
    /// Copy that receives changes; None before the first change, or if changes are made in place.
    copy: Any,
}

impl<'a> SlotsBody<'a> {
    /// Creates a cursor over the elements of a container; `None` for other values.
    pub fn of(value: AnyView<'a>) -> Option<Self> {
        let is_container = matches!(
            value.type_index(),
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT
        );
        is_container.then_some(Self {
            place: None,
            element: AnyView::NONE,
            held: Any::NONE,
            copy: Any::NONE,
        })
    }

    /// Returns the next element to rewrite, skipping those for which `is_kept` returns `true`;
    /// `None` at the end.
    ///
    /// # Errors
    /// TypeError for an element with an invalid type index; RuntimeError if another thread is
    /// changing the container.
    pub fn next(
        &mut self,
        target: &MutationTarget<'a>,
        is_kept: impl Fn(AnyView<'_>) -> bool,
    ) -> Result<Option<Node<'a>>> {
        let Some(slots) = Slots::of(target.value) else { return Ok(None) };
        let _borrow = slots.borrow()?;
        loop {
            // SAFETY: just borrowed.
            let place = self
                .place
                .map_or_else(|| unsafe { slots.first() }, |place| unsafe { slots.next(place) });
            // SAFETY: an Array or Map that is kept alive changes at this index only in `feed`,
            // after the element is done; an element that others could remove is kept alive below,
            // before the borrow ends.
            let element = place.and_then(|place| unsafe { slots.get(place) });
            let Some(element) = element else { return Ok(None) };
            self.place = place;
            if is_kept(element) {
                continue;
            }
            self.element = element;
            // Determined before `held` adds a reference.
            let mode = target.mode.inside(element);
            if slots.may_change() {
                self.held = element.to_owned()?;
            }
            return Ok(Some(Node { value: element, mode, step: Step::Mutate }));
        }
    }

    /// Stores the result for the current element in the container or its copy, if it changed.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the container; MemoryError.
    pub fn feed(&mut self, target: &MutationTarget<'a>, answer: Any) -> Result<()> {
        let is_kept = is_unchanged(&answer) || is_same(answer.view(), self.element);
        if let Some(place) = self.place
            && !is_kept
        {
            let element = self.element;
            self.target(target)?.replace(place, element, answer)?;
        }
        self.held = Any::NONE;
        Ok(())
    }

    /// Returns the container that receives changes: the original, or a copy made on the first call.
    fn target(&mut self, target: &MutationTarget<'a>) -> Result<Slots<'_>> {
        let source = || Slots::of(target.value).ok_or_else(not_a_container);
        if target.mode == InplaceMode::Allow {
            return source();
        }
        if self.copy.is_none() {
            self.copy = source()?.copy()?;
        }
        Slots::of(self.copy.view()).ok_or_else(not_a_container)
    }

    /// Returns the result for the container: the copy, or [`UNCHANGED`] if there is none.
    pub fn leave(&mut self) -> Any {
        if self.copy.is_none() { UNCHANGED } else { core::mem::take(&mut self.copy) }
    }
}

#[cold]
fn not_a_container() -> ferrite_core::error::Error {
    ferrite_core::plain_error!(INTERNAL_ERROR, "A container turned into something else")
}
