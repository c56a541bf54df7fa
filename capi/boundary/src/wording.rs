//! Full wording of error messages: arguments are identified by name, types by key.

use ferrite_core::error::Error;
use ferrite_core::error::message::Arg;
use ferrite_core::names::type_table;
use ferrite_core::plain_error;

/// Identification of an argument in error messages: its name.
#[derive(Clone, Copy)]
pub struct Name(&'static str);

/// Creates the identification of an argument from its name. The number is ignored.
#[inline(always)]
pub const fn arg(_: u8, name: &'static str) -> Name {
    Name(name)
}

impl From<Name> for Arg<'_> {
    fn from(name: Name) -> Self {
        Arg::from(name.0)
    }
}

/// Returns the identification of a type in messages: its key.
pub fn type_name(type_index: i32) -> &'static [u8] {
    type_table::type_key_of(type_index)
}

/// Creates the ValueError for a negative element count.
#[cold]
pub fn negative_count(name: Name, count: i32) -> Error {
    plain_error!(VALUE_ERROR, "The number of `{}` must not be negative, got {}", name, count)
}
