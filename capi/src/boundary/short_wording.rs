//! How messages of the profile `core` say what is wrong, in few texts. Arguments go by their number, from 1 on; types go by
//! their index, as `c_api.h` lists them: keys would bring the type table's texts into every program.

use ferrite_core::error::Error;
use ferrite_core::message::Arg;

/// What an argument is called: its number.
#[derive(Clone, Copy)]
pub(crate) struct Name(u8);

/// The name of the argument at a place, from 1 on. What it is called in the source is left out.
#[inline(always)]
pub(crate) const fn arg(number: u8, _: &'static str) -> Name {
    Name(number)
}

impl From<Name> for Arg<'_> {
    fn from(name: Name) -> Self {
        Arg::from(name.0)
    }
}

/// What stands for a type in a message.
pub(super) fn type_name(type_index: i32) -> i32 {
    type_index
}

/// The error for a negative number of records.
pub(super) fn negative_count(name: Name, count: i32) -> Error {
    super::impossible_size(name, count.into())
}
