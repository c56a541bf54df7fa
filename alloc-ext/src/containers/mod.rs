//! Array, List, Map and Dict, laid out as C++ clients read and write them in place.
//!
//! | type | changes | storage |
//! |---|---|---|
//! | [`Array`] | copied on write while shared | elements in the object |
//! | [`List`] | visible to all references | elements in a block that growth replaces |
//! | [`Map`] | copied on write while shared | up to four entries side by side, more in a hash table |
//! | [`Dict`] | visible to all references | the same tables, switched inside the object |
//!
//! A [`Tuple`] is an Array of a fixed number of elements, each of a type of its own.
//!
//! Each has an untyped twin ([`ArrayObject`] and so on), which works on [`Any`](ferrite_core::any::Any) values and is
//! `ffi.Array` in signatures; the typed containers convert elements on access and cost nothing else.
//!
//! Every operation that allocates can fail with a MemoryError and then leaves the container unchanged. Releasing a
//! container releases nested elements in a loop, without recursion.
//!
//! Objects from C++ code are used as they are, with their own deleters, and ours may be grown in place by C++ code. Side
//! blocks therefore come from `malloc` on hosts.

mod array;
mod cell;
#[cfg(any(test, not(feature = "speed")))]
mod container;
mod convert;
mod dict;
pub mod functions;
pub mod key;
mod list;
mod map;
mod sequence;
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

pub use array::{Array, ArrayIter, ArrayObject};
#[cfg(any(test, not(feature = "speed")))]
pub(crate) use container::Container;
pub(crate) use convert::referent;
pub use dict::{Dict, DictEntries, DictIter, DictObject};
pub use list::{List, ListIter, ListObject};
pub use map::{Map, MapEntries, MapIter, MapObject};
pub(crate) use slots::Slots;
pub(crate) use table::{MapCursor, missing_key};
pub use tuple::{Tuple, TupleTypes};
