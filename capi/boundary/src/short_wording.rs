//! Short wording of error messages, for the profile `core`. Arguments are identified by their
//! number, counted from 1, and types by their index, as listed in `c_api.h`: type keys would link
//! the strings of the type table into every program.

use ferrite_core::error::Error;
use ferrite_core::error::message::Arg;

/// Identification of an argument in error messages: its number.
#[derive(Clone, Copy)]
pub struct Name(u8);

/// Creates the identification of an argument from its number, counted from 1. The name is ignored.
#[inline(always)]
pub const fn arg(number: u8, _: &'static str) -> Name {
    Name(number)
}

impl From<Name> for Arg<'_> {
    fn from(name: Name) -> Self {
        Arg::from(name.0)
    }
}

/// Returns the identification of a type in messages: its index.
pub fn type_name(type_index: i32) -> i32 {
    type_index
}

/// Creates the ValueError for a negative element count.
pub fn negative_count(name: Name, count: i32) -> Error {
    super::impossible_size(name, count.into())
}
