//! States of recurrent models: for each sequence, the last values of each layer's states, so that
//! steps can be taken back.
//!
//! | file | content |
//! |---|---|
//! | `record` | `RnnState`, the object |
//! | `sequences` | which slot each sequence has, and how many steps it can take back |
//! | `storage` | the values, one tensor for each layer and state, and their copies |
//!
//! A tensor of values has the shape (slots, history, state…). Kernels of the model read and write
//! it: they get the tensor, the slots and the history positions of the sequences of a step, and the
//! values.

mod record;
mod sequences;
mod storage;

use ferrite_alloc_ext::containers::Array;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, Shape, Tensor, plain_bail, plain_ensure};

use super::Builtin;
use super::receiver::call_method;
use crate::builtin;
use record::RnnState;
use storage::Storage;

/// Builtins of recurrent states.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.rnn_state_create", create),
    builtin!(packed "vm.builtin.rnn_state_get", |args| call_method("vm.builtin.rnn_state_get", args, get)),
    builtin!(packed "vm.builtin.rnn_state_set", |args| call_method("vm.builtin.rnn_state_set", args, set)),
    builtin!(packed "vm.builtin.rnn_state_debug_get", |args| {
        call_method("vm.builtin.rnn_state_debug_get", args, debug_get)
    }),
];

/// Creates the states of a model. `gets` and `sets` are the kernels of each state, `initial` its
/// value in a new sequence.
fn create(
    layers: i64,
    slots: i64,
    history: i64,
    gets: Array<Function>,
    sets: Array<Function>,
    initial: Array<Tensor>,
) -> Result<RnnState> {
    let states = initial.as_slice().len();
    plain_ensure!(
        layers > 0,
        INTERNAL_ERROR,
        "Check failed: num_layers > 0 ({} vs. 0) : The number of layers should be greater than 0.",
        &layers
    );
    plain_ensure!(
        slots > 0,
        INTERNAL_ERROR,
        "Check failed: reserved_num_seqs > 0 ({} vs. 0) : The number of reserved sequences should be greater than 0.",
        &slots
    );
    plain_ensure!(
        history > 0,
        INTERNAL_ERROR,
        "Check failed: max_history_ > 0 ({} vs. 0) : At least 1 history slot to store the current state",
        &history
    );
    plain_ensure!(
        states > 0,
        INTERNAL_ERROR,
        "Check failed: init_layer_value.size() > 0 (0 vs. 0) : The number of states per layer should be greater than 0."
    );
    for (name, what, count) in
        [("f_gets", "getters", gets.as_slice().len()), ("f_sets", "setters", sets.as_slice().len())]
    {
        plain_ensure!(
            count == states,
            INTERNAL_ERROR,
            "Check failed: {}.size() == init_layer_value.size() ({} vs. {}) : The number of state {} should be the same as the \
             number of states per layer, but got {} and {} respectively.",
            name,
            count,
            states,
            what,
            count,
            states
        );
    }
    RnnState::new(Storage::new(layers, slots, history, [gets, sets], initial)?)
}

/// Copies a state of the sequences of the step into a tensor. The arguments are (layer, state,
/// tensor).
fn get(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, number, target] = args else { return Err(wrong_count(args)) };
    call_kernel(state, false, layer.get()?, number.get()?, target)?;
    Ok(Any::NONE)
}

/// Sets a state of the sequences of the step for the next one. The arguments are (layer, state,
/// tensor). Returns the states.
fn set(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, number, values] = args else { return Err(wrong_count(args)) };
    call_kernel(state, true, layer.get()?, number.get()?, values)?;
    Ok(state.clone().into())
}

/// Calls the kernel that gets or sets a state.
fn call_kernel(
    state: &RnnState,
    sets: bool,
    layer: i64,
    number: i64,
    values: &AnyView<'_>,
) -> Result<()> {
    let storage = state.storage();
    let (tensor, kernel) = storage.state(layer, number, sets)?;
    let [slots, positions] =
        state.with_sequences(|all| all.step(if sets { "Set" } else { "Get" }))?;
    kernel.call_packed(&[tensor.into(), (&slots).into(), (&positions).into(), *values]).map(drop)
}

/// Returns a copy of a state of one sequence. The arguments are (layer, state, sequence).
fn debug_get(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, number, sequence] = args else { return Err(wrong_count(args)) };
    let sequence = sequence.get()?;
    let (slot, position) = state.with_sequences(|all| all.place(sequence))?;
    state.storage().copy_of(layer.get()?, number.get()?, slot, position).map(Any::from)
}

/// Removes all sequences.
pub(super) fn clear(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    let fresh = state.storage().no_sequences()?;
    let old = state.with_sequences(|all| core::mem::replace(all, fresh));
    drop(old);
    Ok(Any::NONE)
}

/// Adds a sequence with the initial values. The argument is its number.
pub(super) fn add_sequence(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [sequence] = args else { return Err(wrong_count(args)) };
    let sequence = sequence.get()?;
    let slot = state.with_sequences(|all| all.take_slot(sequence))?;
    match state.storage().initialize(slot) {
        Ok(()) => state.with_sequences(|all| all.add(sequence, slot)),
        Err(error) => {
            state.with_sequences(|all| all.give_back(slot));
            return Err(error);
        }
    }
    Ok(Any::NONE)
}

/// Removes a sequence. The argument is its number.
pub(super) fn remove_sequence(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [sequence] = args else { return Err(wrong_count(args)) };
    let sequence = sequence.get()?;
    state.with_sequences(|all| all.remove(sequence))?;
    Ok(Any::NONE)
}

/// Adds a sequence with the values and the history of another one. The arguments are (sequence, new
/// sequence, position, which is not used).
pub(super) fn fork_sequence(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [parent, child, position] = args else { return Err(wrong_count(args)) };
    let (parent, child) = (parent.get()?, child.get()?);
    position.get::<i64>()?;
    let (from, slot) = state.with_sequences(|all| all.take_slot_to_fork(parent, child))?;
    match state.storage().copy_slot(from, slot) {
        Ok(()) => state.with_sequences(|all| all.fork(parent, child, slot)),
        Err(error) => {
            state.with_sequences(|all| all.give_back(slot));
            return Err(error);
        }
    }
    Ok(Any::NONE)
}

/// Rolls a sequence back. The arguments are (sequence, number of steps).
pub(super) fn take_back(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [sequence, steps] = args else { return Err(wrong_count(args)) };
    let (sequence, steps) = (sequence.get()?, steps.get()?);
    state.with_sequences(|all| all.take_back(sequence, steps))?;
    Ok(Any::NONE)
}

/// Begins a step. The arguments are (sequences, number of tokens of each[, parents of the tokens in
/// each, a chain]).
pub(super) fn begin_forward(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let ([sequences, lengths] | [sequences, lengths, _]) = args else {
        plain_bail!(INTERNAL_ERROR, "KVState BeginForward only accepts 3 or 4 arguments");
    };
    let (sequences, lengths) = (sequences.get::<Shape>()?, lengths.get::<Shape>()?);
    if let Some(tree) = args.get(2).map(|arg| arg.get::<Option<Shape>>()).transpose()?.flatten() {
        sequences::check_chains(lengths.as_slice(), tree.as_slice())?;
    }
    let (sequences, lengths) = (sequences.as_slice(), lengths.as_slice());
    let step = state.with_sequences(|all| all.begin(sequences, lengths))?;
    let views = state.storage().write_places(&step)?;
    let old = state.with_sequences(|all| all.set_views(views));
    drop(old);
    Ok(Any::NONE)
}

/// Ends the step: its sequences have a new value.
pub(super) fn end_forward(state: &RnnState, args: &[AnyView<'_>]) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    state.with_sequences(|all| all.end())?;
    Ok(Any::NONE)
}

#[cold]
fn wrong_count(args: &[AnyView<'_>]) -> ferrite_core::error::Error {
    ferrite_core::plain_error!(
        TYPE_ERROR,
        "A function of a state got {} arguments besides it",
        args.len()
    )
}

#[cfg(test)]
mod tests;
