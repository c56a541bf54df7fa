//! The one way to walk values: what is inside a value, what was seen on the way, and a stack in a buffer.
//!
//! | part | holds |
//! |---|---|
//! | [`Field`], [`Fields`], [`for_each_field`] | the reflected fields of a type: reading and writing them |
//! | [`Hooks`] | what types registered for an operation |
//! | [`Held`] | a value on the way, lent or owned |
//! | [`Elements`], [`Entries`], [`Places`] | containers, read in place |
//! | [`Children`] | elements, entries or fields of one value, in order |
//! | [`Fold`], [`fold`] | the loop over them, with frames in a buffer |
//! | [`Seen`] | what is known of objects that were met before |
//! | [`look_ahead`] | a hint to the processor |
//! | [`sort`] | what has no order of its own |
//! | [`lend`], [`Slot`] | the state of a walk while a registered hook runs, which may call back into it |
//!
//! Values may nest as deep as [`MAX_DEPTH`] whatever stack the thread has. Only hooks that call back can nest calls:
//! [`ferrite_core::stack`] ends that before the stack does.

mod ahead;
mod children;
mod elements;
mod entries;
mod field;
mod fold;
mod held;
mod hooks;
mod map_or_dict;
#[cfg(feature = "speed")]
mod places;
mod seen;
mod slot;
#[cfg_attr(not(feature = "speed"), path = "comb_sort.rs")]
mod sort;

#[cfg(all(test, feature = "speed"))]
mod comb_sort;

pub use ahead::look_ahead;
pub use children::{Children, ChildrenKind};
#[cfg(feature = "speed")]
pub use elements::elements_of_array;
pub use elements::{Elements, rest_of};
pub use entries::Entries;
pub use field::{Field, Fields, for_each_field};
pub use fold::{Descent, Entered, Fold, MAX_DEPTH, fold, room_for_frame};
pub use held::{Held, is_sole_while_held, same_number_or_text};
pub use hooks::Hooks;
#[cfg(feature = "speed")]
pub use places::Places;
pub use seen::{Seen, SeenKey};
pub use slot::{HookState, Slot, lend};
pub use sort::sort;
