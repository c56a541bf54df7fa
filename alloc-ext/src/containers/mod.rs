//! Array, List, Map and Dict, laid out as C++ clients read and write them in place.
//!
//! | type | changes | storage |
//! |---|---|---|
//! | [`Array`] | copied on write while shared | elements in the object |
//! | [`List`] | seen by all holders | elements in a block that growth replaces |
//! | [`Map`] | copied on write while shared | up to four entries side by side, more in a hash table |
//! | [`Dict`] | seen by all holders | the same tables, switched inside the object |
//!
//! A [`Tuple`] is an Array of a fixed number of elements, each of a type of its own.
//!
//! Each has an untyped twin ([`ArrayObject`] and so on), which works on [`Any`](ferrite_core::any::Any) values and is
//! what signatures call `ffi.Array`; the typed ones convert at the border and cost nothing else.
//!
//! Everything that needs memory can fail with a MemoryError and then leaves the container as it was. Releasing a
//! container releases its elements in a loop, however deep they nest.
//!
//! Objects from C++ code are used as they are, with their own deleters, and ours may be grown in place by C++ code. Side
//! blocks therefore come from `malloc` on hosts.

mod array;
mod array_object;
mod big_int_key;
mod cell;
#[cfg(any(test, not(feature = "std")))]
mod container;
mod convert;
mod dict;
mod dict_object;
pub mod functions;
mod jump;
pub mod key;
mod list;
mod list_object;
mod map;
mod map_ahead;
#[cfg_attr(not(feature = "std"), path = "map_at_once/none.rs")]
mod map_at_once;
mod map_base;
mod map_build;
mod map_chain;
mod map_cursor;
mod map_dense;
mod map_entry;
mod map_find;
mod map_in_place;
#[cfg_attr(not(feature = "std"), path = "map_insert_in_place.rs")]
mod map_insert;
mod map_object;
mod map_order;
mod map_relocate;
mod map_small;
mod map_table;
mod map_twin;
mod seq;
mod seq_record;
mod slots;
mod storage;
mod tuple;
mod typed;

#[cfg(test)]
pub(crate) mod faults;
#[cfg(test)]
mod hook_tests;
#[cfg(test)]
mod tests;

pub use array::{Array, ArrayIter};
pub use array_object::ArrayObject;
pub(crate) use cell::is_borrowed_form;
#[cfg(any(test, not(feature = "std")))]
pub(crate) use container::Container;
pub(crate) use convert::referent;
pub use dict::{Dict, DictIter};
pub use dict_object::{DictEntries, DictObject};
pub use list::{List, ListIter};
pub use list_object::ListObject;
pub use map::{Map, MapIter};
pub(crate) use map_cursor::MapCursor;
pub(crate) use map_entry::missing_key;
pub use map_object::{MapEntries, MapObject};
pub(crate) use slots::Slots;
pub use tuple::{Tuple, TupleTypes};
