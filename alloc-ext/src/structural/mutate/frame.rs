//! A value whose inside is being rewritten.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};

use super::fields::FieldsBody;
use super::mutator::InplaceMode;
use super::slots::SlotsBody;
use crate::structural::DefRegion;

/// A value on the way down.
pub struct Descent<'a> {
    /// The value, which its container, or the frame of that, or `after` holds.
    pub value: AnyView<'a>,
    /// Whether it may be changed where it stands.
    pub mode: InplaceMode,
    /// What happens on the way back.
    pub after: After,
    /// Whether errors get to know that they happened in this value.
    pub is_reported: bool,
}

/// What happens with the answer for a value.
#[derive(Default)]
pub enum After {
    /// Nothing more.
    #[default]
    Nothing,
    /// A callback had replaced the value by this one, which is the answer when the inside of it stays.
    Replaced(Any),
    /// A callback gets it.
    Callback,
}

impl<'a> Descent<'a> {
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

/// A value that was entered.
pub struct Frame<'a> {
    pub descent: Descent<'a>,
    pub body: Body<'a>,
    /// The region of definitions around the value.
    pub region: DefRegion,
}

/// What is inside a value, and how far the walk has come.
pub enum Body<'a> {
    /// The elements of a sequence, or the values of a map.
    Slots(SlotsBody<'a>),
    /// The fields of any other object.
    Fields(FieldsBody),
}
