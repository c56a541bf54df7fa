//! Sequences and maps: their elements and values are rewritten in place, or in a copy from the first change on.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::type_index;

use super::frame::Descent;
use super::mutation::{Node, Step};
use super::mutator::InplaceMode;
use super::unchanged::{UNCHANGED, is_same, is_unchanged};
use crate::containers::Slots;

/// The elements of a container, one after the other.
pub struct SlotsBody<'a> {
    /// Where the element at hand is; None before the first one.
    place: Option<u64>,
    element: AnyView<'a>,
    /// A reference to the element where a callback could take it out of the container.
    held: Any,
    /// The container that gets the changes, unless they are made in place.
    copy: Any,
}

impl<'a> SlotsBody<'a> {
    /// Those of a container; None for any other value.
    pub fn of(value: AnyView<'a>) -> Option<Self> {
        let is_container = matches!(
            value.type_index(),
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT
        );
        is_container.then_some(Self { place: None, element: AnyView::NONE, held: Any::NONE, copy: Any::NONE })
    }

    /// The next element of those that may change.
    ///
    /// # Errors
    /// TypeError for an element that is no value.
    pub fn next(
        &mut self,
        descent: &Descent<'a>,
        is_kept: impl Fn(AnyView<'_>) -> bool,
    ) -> Result<Option<Node<'a>>> {
        let Some(slots) = Slots::of(descent.value) else { return Ok(None) };
        loop {
            let place = self.place.map_or_else(|| slots.first(), |place| slots.next(place));
            // SAFETY: an Array or Map that is held changes at this place only in `feed`, when the element is done; what
            // others may take out is held below.
            let element = place.and_then(|place| unsafe { slots.get(place) });
            let Some(element) = element else { return Ok(None) };
            self.place = place;
            if is_kept(element) {
                continue;
            }
            self.element = element;
            // Looked at before a reference of our own counts.
            let mode = descent.mode.inside(element);
            if slots.may_change() {
                self.held = element.to_owned()?;
            }
            return Ok(Some(Node { value: element, mode, step: Step::Mutate }));
        }
    }

    /// Takes what the element is to be.
    ///
    /// # Errors
    /// MemoryError.
    pub fn feed(&mut self, descent: &Descent<'a>, answer: Any) -> Result<()> {
        let is_kept = is_unchanged(&answer) || is_same(answer.view(), self.element);
        if let Some(place) = self.place
            && !is_kept
        {
            let element = self.element;
            self.target(descent)?.replace(place, element, answer);
        }
        self.held = Any::NONE;
        Ok(())
    }

    /// The container that gets the changes.
    fn target(&mut self, descent: &Descent<'a>) -> Result<Slots<'_>> {
        let source = || Slots::of(descent.value).ok_or_else(not_a_container);
        if descent.mode == InplaceMode::Allow {
            return source();
        }
        if self.copy.is_none() {
            self.copy = source()?.copy()?;
        }
        Slots::of(self.copy.view()).ok_or_else(not_a_container)
    }

    /// The answer for the container.
    pub fn leave(&mut self) -> Any {
        if self.copy.is_none() { UNCHANGED } else { core::mem::take(&mut self.copy) }
    }
}

#[cold]
fn not_a_container() -> ferrite_core::error::Error {
    ferrite_core::plain_error!(INTERNAL_ERROR, "A container turned into something else")
}
