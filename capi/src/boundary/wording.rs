//! Wording of messages: arguments are identified by name, types by key.

use ferrite_core::error::Error;
use ferrite_core::message::Arg;
use ferrite_core::{plain_error, type_table};

/// The name of an argument in messages.
#[derive(Clone, Copy)]
pub(crate) struct Name(&'static str);

/// Names an argument, and ignores its number.
#[inline(always)]
pub(crate) const fn arg(_: u8, name: &'static str) -> Name {
    Name(name)
}

impl From<Name> for Arg<'_> {
    fn from(name: Name) -> Self {
        Arg::from(name.0)
    }
}

/// Names a type in a message.
pub(super) fn type_name(type_index: i32) -> &'static [u8] {
    type_table::type_key_of(type_index)
}

/// Makes the error for a negative number of records.
#[cold]
pub(super) fn negative_count(name: Name, count: i32) -> Error {
    plain_error!(VALUE_ERROR, "The number of `{}` must not be negative, got {}", name, count)
}
