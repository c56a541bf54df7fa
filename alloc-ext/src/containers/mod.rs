//! Array, List, Map and Dict, in the memory layout that C++ clients read and write in place.
//!
//! | type | changes | storage |
//! |---|---|---|
//! | [`Array`] | copied on write while shared | elements in the object |
//! | [`List`] | visible to all references | elements in a block that growth replaces |
//! | [`Map`] | copied on write while shared | up to four entries in an array, more in a hash table |
//! | [`Dict`] | visible to all references | like a Map; growth replaces the table inside the object |
//!
//! A [`Tuple`] is an Array with a fixed number of elements, each of its own type.
//!
//! Each container has an untyped counterpart ([`ArrayObject`] and so on), whose elements are
//! [`Any`](ferrite_core::value::any::Any) values and whose name in signatures is `ffi.Array` and so
//! on. The typed containers convert elements on access and have no other overhead.
//!
//! Every operation that allocates can fail with a MemoryError, and then leaves the container
//! unchanged. Releasing a container releases nested elements iteratively, without recursion.
//!
//! A List or Dict may be used by several threads: its methods borrow it while they access its
//! memory, as methods of Rust classes borrow their object
//! ([`borrow`](ferrite_core::object::borrow)). User callbacks do not run during a change.
//!
//! Objects created by C++ code are used in place, with their own deleters, and C++ code may grow
//! objects created here in place. Separate blocks therefore come from `malloc` on hosts.

mod abi_field;
mod array;
mod cell;
#[cfg(any(test, not(feature = "speed")))]
mod container;
mod convert;
mod dict;
#[cfg(feature = "alloc")]
mod from_rust;
#[cfg(not(feature = "client"))]
pub mod functions;
pub mod key;
mod list;
mod map;
mod sequence;
#[cfg(feature = "serde")]
mod serde;
mod slots;
mod storage;
mod table;
mod tuple;
mod typed;

#[cfg(test)]
pub(crate) mod faults;
#[cfg(test)]
mod hook_tests;
#[cfg(test)]
mod tests;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::borrow::Shared;

pub use array::{Array, ArrayIter, ArrayObject};
#[cfg(any(test, not(feature = "speed")))]
pub(crate) use container::Container;
pub(crate) use convert::referent;
pub use dict::{Dict, DictEntries, DictIter, DictObject};
pub(crate) use list::BorrowedElements;
pub use list::{List, ListIter, ListObject};
pub use map::{Map, MapEntries, MapIter, MapObject};
pub(crate) use slots::Slots;
pub(crate) use table::{MapCursor, missing_key};
pub use tuple::{Tuple, TupleTypes};

/// Borrows a List or Dict for reading. Returns `None` for objects of other classes: Arrays and Maps
/// do not change while they are shared.
///
/// # Errors
/// RuntimeError if another thread is changing the container.
#[inline]
pub(crate) fn borrow<O: ferrite_core::object::borrow::Holder>(
    container: O,
) -> Result<Option<Shared<O>>> {
    match container.borrow().type_index() {
        type_index::LIST | type_index::DICT => Shared::of(container).map(Some),
        _ => Ok(None),
    }
}
