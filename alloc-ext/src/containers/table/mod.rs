//! Hash table shared by Map and Dict, in the memory layout that C++ code reads and writes in place.
//!
//! | part | content |
//! |---|---|
//! | `layout` | fields of a table in its object |
//! | `record` | table objects: allocation and release |
//! | `entry` | key and value of one entry, and comparison with a key |
//! | `small` | small layout: up to four entries, searched linearly |
//! | `dense` | dense layout: more entries, in hash chains inside one array of slots |
//! | `view` | borrowed table in either layout: lookup and removal |
//! | `grow` | insertion, and growth of a full table |
//! | `build` | bulk construction |
//! | `copy` | copies of whole tables |
//! | `cursor` | iteration over an immutable table |
//!
//! A table starts small, unless it is created for more entries. When it grows, it becomes dense in
//! the same object.

pub(super) mod build;
mod copy;
mod cursor;
mod dense;
mod entry;
mod grow;
mod layout;
mod record;
mod small;
mod view;

pub(super) use copy::copy_object;
pub(crate) use cursor::MapCursor;
pub(crate) use entry::missing_key;
pub(super) use grow::{LargerStorage, insert};
pub(super) use record::allocate_for;
pub(super) use view::Table;
