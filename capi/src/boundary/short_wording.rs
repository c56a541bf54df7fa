//! Wording of messages in the profile `core`, with few texts. Arguments are identified by number, from 1 on, and types
//! by index, as listed in `c_api.h`, since keys would link the type table's texts into every program.

use ferrite_core::error::Error;
use ferrite_core::message::Arg;

/// The name of an argument in messages: its number.
#[derive(Clone, Copy)]
pub(crate) struct Name(u8);

/// Names an argument by its number, from 1 on, and ignores its name in the source.
#[inline(always)]
pub(crate) const fn arg(number: u8, _: &'static str) -> Name {
    Name(number)
}

impl From<Name> for Arg<'_> {
    fn from(name: Name) -> Self {
        Arg::from(name.0)
    }
}

/// Names a type in a message.
pub(super) fn type_name(type_index: i32) -> i32 {
    type_index
}

/// Makes the error for a negative number of records.
pub(super) fn negative_count(name: Name, count: i32) -> Error {
    super::impossible_size(name, count.into())
}
