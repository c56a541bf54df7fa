//! Builtins of all states of sequences: paged key-value caches, and on hosts recurrent states.

use super::Builtin;
use super::paged_kv_cache::methods as paged;
#[cfg(feature = "all-builtins")]
use super::receiver::call_either;
#[cfg(not(feature = "all-builtins"))]
use super::receiver::call_method;
#[cfg(feature = "all-builtins")]
use super::rnn_state as recurrent;
use crate::builtin;

/// Creates the builtin of a method of caches: firmware has no recurrent states.
#[cfg(not(feature = "all-builtins"))]
macro_rules! method {
    ($name:literal, $paged:path, $recurrent:path) => {
        builtin!(packed $name, |args| call_method($name, args, $paged))
    };
}

/// Creates the builtin of a method that both classes have.
#[cfg(feature = "all-builtins")]
macro_rules! method {
    ($name:literal, $paged:path, $recurrent:path) => {
        builtin!(packed $name, |args| call_either($name, args, $paged, $recurrent))
    };
}

/// Builtins of states of sequences.
pub const BUILTINS: &[Builtin] = &[
    method!("vm.builtin.kv_state_clear", paged::clear, recurrent::clear),
    method!("vm.builtin.kv_state_add_sequence", paged::add_sequence, recurrent::add_sequence),
    method!(
        "vm.builtin.kv_state_remove_sequence",
        paged::remove_sequence,
        recurrent::remove_sequence
    ),
    method!("vm.builtin.kv_state_fork_sequence", paged::fork_sequence, recurrent::fork_sequence),
    method!("vm.builtin.kv_state_popn", paged::pop_tokens, recurrent::take_back),
    method!("vm.builtin.kv_state_begin_forward", paged::begin_forward, recurrent::begin_forward),
    method!("vm.builtin.kv_state_end_forward", paged::end_forward, recurrent::end_forward),
];
