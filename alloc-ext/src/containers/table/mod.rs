//! The hash table that Map and Dict share, in the layout that C++ code reads and writes in place.
//!
//! | part | content |
//! |---|---|
//! | `layout` | the fields of a table in its object |
//! | `record` | objects with a table: their allocation and release |
//! | `entry` | key and value of one entry, and the comparison with a key |
//! | `small` | the layout of up to four entries, searched linearly |
//! | `dense` | the layout of more entries: hash chains in one array of slots |
//! | `view` | a table in either layout, while its object is borrowed: lookup and removal |
//! | `insert`, `grow` | insertion; larger storage for a full table |
//! | `build` | bulk construction |
//! | `copy` | copies of whole tables |
//! | `cursor` | iteration over an immutable table |
//!
//! A table starts small, unless it is created for more entries, and becomes dense in the same object when it grows.

pub(super) mod build;
mod copy;
mod cursor;
mod dense;
mod entry;
mod grow;
mod insert;
mod layout;
mod record;
mod small;
mod view;

pub(super) use copy::copy_object;
pub(crate) use cursor::MapCursor;
pub(crate) use entry::missing_key;
pub(super) use insert::insert;
pub(super) use record::allocate_for;
pub(super) use view::Table;
