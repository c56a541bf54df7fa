//! Nodes of the mutation walk: values to mutate, and how to finish them.
#![forbid(unsafe_code)]

use ferrite_core::value::any::{Any, AnyView};

use super::mutator::InplaceMode;

/// Part of the mutation of a value to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The whole mutation: callbacks and the default mutation.
    Mutate,
    /// The default mutation: by the hook of the type, otherwise by fields.
    Default,
    /// The hook of a container. The caller of the hook adds the value to the context of errors.
    Hook,
}

/// A value to mutate.
pub struct Node<'a> {
    /// The value, kept alive by its container or its parent's frame.
    pub value: AnyView<'a>,
    /// Permission to change the value in place.
    pub mode: InplaceMode,
    /// Part of the mutation to run.
    pub step: Step,
}

/// A value being mutated, and the step that completes it.
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

    pub fn without_report(self) -> Self {
        Self { is_reported: false, ..self }
    }
}
