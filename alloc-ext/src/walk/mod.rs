//! The one way to walk values: what is inside a value, what was seen on the way, and a stack in a buffer.
//!
//! | part | holds |
//! |---|---|
//! | [`Field`], [`Fields`], [`for_each_field`] | the reflected fields of a type: reading and writing them |
//! | [`Hooks`] | what types registered for an operation |
//! | [`MaybeOwned`] | a value on the way, lent or owned |
//! | [`Elements`], [`Entries`], [`MapSlots`] | containers, read in place |
//! | [`Children`] | elements, entries or fields of one value, in order |
//! | [`Fold`], [`fold`] | the loop over them, with frames in a buffer |
//! | [`IdentityMap`] | what is known of objects that were met before |
//! | [`prefetch_next`] | a hint to the processor |
//! | [`sort`] | what has no order of its own |
//! | [`lend`], [`CallbackState`] | the state of a walk while a registered hook runs, which may call back into it |
//!
//! Values may nest as deep as [`MAX_DEPTH`] whatever stack the thread has. Only hooks that call back can nest calls:
//! [`ferrite_core::stack`] ends that before the stack does.

mod callback_state;
mod children;
mod elements;
mod entries;
mod field;
mod fold;
mod hooks;
mod identity_map;
mod map_or_dict;
#[cfg(feature = "speed")]
mod map_slots;
mod maybe_owned;
mod prefetch;
mod sort;

pub use callback_state::{CallbackState, HookState, with_callback};
pub use children::{Children, ChildrenKind};
#[cfg(feature = "speed")]
pub use elements::elements_of_array;
pub use elements::{Elements, rest_of};
pub use entries::Entries;
pub use field::{Field, Fields, for_each_field};
pub use fold::{Entered, Fold, MAX_DEPTH, NextChild, fold, reserve_frame};
pub use hooks::Hooks;
pub use identity_map::{IdentityKey, IdentityMap};
#[cfg(feature = "speed")]
pub use map_slots::MapSlots;
pub use maybe_owned::{MaybeOwned, is_unshared_while_owned, same_number_or_text};
pub use prefetch::prefetch_next;
pub use sort::sort;
