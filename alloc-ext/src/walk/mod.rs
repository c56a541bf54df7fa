//! The common engine of walks over object graphs, with an explicit stack instead of recursion.
//!
//! | part | purpose |
//! |---|---|
//! | [`Field`], [`Fields`], [`for_each_field`] | reading and writing the reflected fields of a type |
//! | [`Hooks`] | lookup of the hooks that types register for an operation |
//! | [`MaybeOwned`] | a value reached by a walk, borrowed or owned |
//! | [`Elements`], [`Entries`], [`MapSlots`] | reading of containers in place |
//! | [`Children`] | cursor over the elements, entries or fields of one object |
//! | [`Fold`], [`fold`] | the depth-first loop, with an explicit stack of frames |
//! | [`IdentityMap`] | map from visited objects to values, by identity |
//! | [`prefetch_next`] | prefetch hint for the values visited next |
//! | [`sort`] | in-place sort, for map entries that are visited in canonical order |
//! | [`with_callback`], [`CallbackState`] | access to the state of a walk from the callback passed to a hook |
//!
//! Values may nest up to [`MAX_DEPTH`] levels, independently of the size of the thread's stack.
//! Only hooks that call back into the walk nest native calls; [`ferrite_core::platform::stack`]
//! fails such calls before the stack overflows.

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
pub use elements::{Elements, elements_of_array, rest_of};
pub use entries::Entries;
pub(crate) use field::ensure_unshared;
pub use field::{Field, Fields, for_each_field};
pub use fold::{Entered, Fold, MAX_DEPTH, NextChild, fold, reserve_frame};
pub use hooks::Hooks;
pub use identity_map::{IdentityKey, IdentityMap};
#[cfg(feature = "speed")]
pub use map_slots::MapSlots;
pub use maybe_owned::{MaybeOwned, is_unshared_besides_walk, same_number_or_text};
pub use prefetch::prefetch_next;
pub use sort::sort;
