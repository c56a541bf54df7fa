//! The function that walks the entries of a map from outside, one command per call.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::bail;
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::sync::Mutex;

use crate::containers::{DictObject, MapObject};

/// A map whose entries have places.
pub(super) trait Walk {
    fn first_place(&self) -> Option<u64>;
    fn next_place(&self, place: u64) -> Option<u64>;
    fn entry_at(&self, place: u64) -> Option<(Any, Any)>;
}

macro_rules! walk {
    ($($object:ty),*) => {$(
        impl Walk for $object {
            fn first_place(&self) -> Option<u64> {
                <$object>::first_place(self)
            }

            fn next_place(&self, place: u64) -> Option<u64> {
                <$object>::next_place(self, place)
            }

            fn entry_at(&self, place: u64) -> Option<(Any, Any)> {
                <$object>::entry_at(self, place)
            }
        }
    )*};
}

walk!(MapObject, DictObject);

const KEY: i64 = 0;
const VALUE: i64 = 1;

/// Makes a function that stands at the first entry: 0 gives its key, 1 its value, and any other command steps on and
/// tells whether there is another entry.
///
/// It holds the map, and may outlive changes of it: an entry that has gone is an IndexError.
pub(super) fn functor(map: impl Walk + Send + Sync + 'static) -> Result<Function> {
    let place = Mutex::new(map.first_place());
    Function::from_typed(move |command: i64| -> Result<Any> {
        let here = *place.lock();
        match command {
            KEY => entry(&map, here).map(|(key, _)| key),
            VALUE => entry(&map, here).map(|(_, value)| value),
            _ => {
                let next = here.and_then(|here| map.next_place(here));
                *place.lock() = next;
                Ok(Any::from(next.is_some()))
            }
        }
    })
}

fn entry(map: &impl Walk, place: Option<u64>) -> Result<(Any, Any)> {
    match place.and_then(|place| map.entry_at(place)) {
        Some(entry) => Ok(entry),
        None => bail!(INDEX_ERROR, "The iteration stands at no entry"),
    }
}
