//! The common engine of walks over values: children, identity maps, and a stack in a buffer instead of recursion.
//!
//! | part | purpose |
//! |---|---|
//! | [`Field`], [`Fields`], [`for_each_field`] | reading and writing the reflected fields of a type |
//! | [`Hooks`] | hooks that types register for an operation |
//! | [`MaybeOwned`] | a value of the walk, borrowed or owned |
//! | [`Elements`], [`Entries`], [`MapSlots`] | containers, read in place |
//! | [`Children`] | elements, entries or fields of one object, in order |
//! | [`Fold`], [`fold`] | the depth-first loop, with frames in a buffer |
//! | [`IdentityMap`] | state of visited objects, by identity |
//! | [`prefetch_next`] | a prefetch hint |
//! | [`sort`] | canonical order for unordered parts |
//! | [`with_callback`], [`CallbackState`] | the state of a walk while a hook runs, which may call back |
//!
//! Values may nest up to [`MAX_DEPTH`] levels, whatever the size of the thread's stack. Only hooks that call back nest
//! native calls; [`ferrite_core::stack`] limits those before the stack overflows.

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
