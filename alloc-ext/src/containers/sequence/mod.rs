//! Element storage shared by Array and List, in the memory layout that C++ code reads and writes in
//! place.
//!
//! | part | content |
//! |---|---|
//! | `record` | sequence objects: layout, allocation and release |
//! | `block` | separate block of a List: growth and removal |
//! | `cells` | elements of a borrowed sequence: access, insertion and removal |

mod block;
mod cells;
mod record;

pub(super) use cells::{Seq, position_of, reverse};
pub(super) use record::{allocate_in_place, allocate_with_block};
