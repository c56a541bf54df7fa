//! Frames of the mutation walk: values whose children are being visited.
#![forbid(unsafe_code)]

use ferrite_core::value::any::{Any, AnyView};

use super::fields::FieldsBody;
use super::mutator::InplaceMode;
use super::slots::SlotsBody;
use crate::structural::DefRegion;

/// A value being mutated, and how to finish it.
pub struct MutationTarget<'a> {
    /// The value, kept alive by its container, its parent's frame, or `after`.
    pub value: AnyView<'a>,
    /// Permission to change the value in place.
    pub mode: InplaceMode,
    /// Step to run after the default mutation.
    pub after: After,
    /// Whether the value is added to the context of errors that occur inside it.
    pub is_reported: bool,
}

/// Step to run after the default mutation of a value.
#[derive(Default)]
pub enum After {
    /// No further step.
    #[default]
    Nothing,
    /// A callback has replaced the original by this value, which is the result if its children stay
    /// unchanged.
    Replaced(Any),
    /// A callback is called with the result, and may replace it.
    Callback,
}

impl<'a> MutationTarget<'a> {
    pub fn new(value: AnyView<'a>, mode: InplaceMode) -> Self {
        Self { value, mode, after: After::Nothing, is_reported: true }
    }

    pub fn then(self, after: After) -> Self {
        Self { after, ..self }
    }

    pub fn unreported(self) -> Self {
        Self { is_reported: false, ..self }
    }
}

/// A value whose children are being visited.
pub struct Frame<'a> {
    pub target: MutationTarget<'a>,
    pub body: Body<'a>,
    /// Definition region that contains the value.
    pub region: DefRegion,
}

/// Cursor over the children of a value being mutated.
pub enum Body<'a> {
    /// Elements of a sequence, or values of a map.
    Slots(SlotsBody<'a>),
    /// Fields of any other object.
    Fields(FieldsBody),
}
