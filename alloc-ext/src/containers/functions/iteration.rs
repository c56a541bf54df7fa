//! The function that walks the entries of a map from outside, one command per call.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::{Error, Result};
use ferrite_core::function::Function;
use ferrite_core::plain_error;
use ferrite_core::sync::atomic::{AtomicUsize, Ordering};

use crate::containers::{DictObject, MapObject};

/// A map of either class.
pub(super) enum Walked {
    Map(MapObject),
    Dict(DictObject),
}

impl Walked {
    fn first_place(&self) -> Option<u64> {
        match self {
            Self::Map(map) => map.first_place(),
            Self::Dict(dict) => dict.first_place(),
        }
    }

    fn next_place(&self, place: u64) -> Option<u64> {
        match self {
            Self::Map(map) => map.next_place(place),
            Self::Dict(dict) => dict.next_place(place),
        }
    }

    fn key_at(&self, place: u64) -> Option<Any> {
        match self {
            Self::Map(map) => map.key_at(place),
            Self::Dict(dict) => dict.key_at(place),
        }
    }

    fn value_at(&self, place: u64) -> Option<Any> {
        match self {
            Self::Map(map) => map.value_at(place),
            Self::Dict(dict) => dict.value_at(place),
        }
    }
}

const KEY: i64 = 0;
const VALUE: i64 = 1;

/// Where a walk stands: a place, all of which are numbers of things in memory, or the end.
struct Position(AtomicUsize);

impl Position {
    const END: usize = usize::MAX;

    fn new(place: Option<u64>) -> Self {
        Self(AtomicUsize::new(Self::number_of(place)))
    }

    fn number_of(place: Option<u64>) -> usize {
        place.and_then(|place| usize::try_from(place).ok()).unwrap_or(Self::END)
    }

    fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|number| *number != Self::END).map(|number| number as u64)
    }

    fn set(&self, place: Option<u64>) {
        self.0.store(Self::number_of(place), Ordering::Relaxed);
    }
}

/// Makes a function that stands at the first entry: 0 gives its key, 1 its value, and any other command steps on and
/// tells whether there is another entry.
///
/// It holds the map, and may outlive changes of it: an entry that has gone is an IndexError.
pub(super) fn functor(map: Walked) -> Result<Function> {
    let position = Position::new(map.first_place());
    Function::from_typed(move |command: i64| -> Result<Any> {
        let here = position.get();
        match command {
            KEY => here.and_then(|here| map.key_at(here)).ok_or_else(no_entry),
            VALUE => here.and_then(|here| map.value_at(here)).ok_or_else(no_entry),
            _ => {
                let next = here.and_then(|here| map.next_place(here));
                position.set(next);
                Ok(Any::from(next.is_some()))
            }
        }
    })
}

#[cold]
fn no_entry() -> Error {
    plain_error!(INDEX_ERROR, "The iteration stands at no entry")
}
