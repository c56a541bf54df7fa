//! The element storage that Array and List share, in the layout that C++ code reads and writes in place.
//!
//! | part | content |
//! |---|---|
//! | `record` | objects with a sequence: layout, allocation and release |
//! | `cells` | the elements while the object is borrowed: access, insertion and removal |

mod cells;
mod record;

pub(super) use cells::{Seq, position_of, reverse};
pub(super) use record::{allocate_in_place, allocate_with_block};
