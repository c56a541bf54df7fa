//! Tests of the states of recurrent models, with kernels that do what TVM's compiler writes for
//! them.

use super::*;
use crate::builtins::testing::{call, failure};
use ferrite_core::tensor::TensorRef;
use ferrite_core::value::convert::AnyCompatible;

const SLOTS: usize = 3;
const HISTORY: usize = 3;

fn name(function: &str) -> std::string::String {
    std::format!("vm.builtin.{function}")
}

/// Creates a kernel: copies between the values of the step's sequences and the last argument. A
/// kernel that sets writes to the next position.
fn kernel(sets: bool) -> Function {
    Function::from_packed(move |args| {
        let [storage, slots, positions, values] =
            [0, 1, 2, 3].map(|at| TensorRef::from_view(&args[at]).expect("a tensor"));
        let row = storage.shape()[2] as usize;
        // SAFETY: nobody else uses the tensors meanwhile.
        let (slots, positions) =
            unsafe { (slots.as_slice::<i32>()?, positions.as_slice::<i32>()?) };
        // SAFETY: as above.
        let (storage, values) =
            unsafe { (storage.as_mut_slice::<f32>()?, values.as_mut_slice::<f32>()?) };
        for (at, (slot, position)) in slots.iter().zip(positions).enumerate() {
            let position = (*position as usize + usize::from(sets)) % HISTORY;
            let stored = &mut storage[(*slot as usize * HISTORY + position) * row..][..row];
            let value = &mut values[at * row..][..row];
            if sets { stored.copy_from_slice(value) } else { value.copy_from_slice(stored) }
        }
        Ok(Any::NONE)
    })
    .unwrap()
}

/// Creates the states of two layers, with two states each: [0] and [1, 2].
fn states() -> Any {
    let kernels = |sets| Array::try_from_iter([kernel(sets), kernel(sets)]).unwrap();
    let initial = [
        Tensor::from_slice(&[0.0f32], &[1]).unwrap(),
        Tensor::from_slice(&[1.0f32, 2.0], &[2]).unwrap(),
    ];
    let initial = Array::try_from_iter(initial).unwrap();
    let (gets, sets) = (kernels(false), kernels(true));
    let args = [
        2i64.into(),
        (SLOTS as i64).into(),
        (HISTORY as i64).into(),
        gets.view(),
        sets.view(),
        initial.view(),
    ];
    call("vm.builtin.rnn_state_create", &args)
}

fn run(state: &Any, function: &str, args: &[AnyView<'_>]) -> Any {
    call(&name(function), &[&[state.view()], args].concat())
}

fn refuse(state: &Any, function: &str, args: &[AnyView<'_>], message: &str) {
    failure(&name(function), &[&[state.view()], args].concat(), "InternalError", message);
}

fn begin(state: &Any, sequences: &[i64], lengths: &[i64]) {
    let (sequences, lengths) =
        (Shape::from_slice(sequences).unwrap(), Shape::from_slice(lengths).unwrap());
    run(state, "kv_state_begin_forward", &[(&sequences).into(), (&lengths).into()]);
}

/// Takes a step in which the second state of the second layer becomes these values.
fn step(state: &Any, sequences: &[i64], values: &[f32]) {
    begin(state, sequences, &std::vec![1; sequences.len()]);
    let tensor = Tensor::from_slice(values, &[sequences.len() as i64, 2]).unwrap();
    let returned = run(state, "rnn_state_set", &[1i64.into(), 1i64.into(), (&tensor).into()]);
    assert!(returned.as_object().unwrap().ptr_eq(state.as_object().unwrap()));
    run(state, "kv_state_end_forward", &[]);
}

/// Returns the second state of the second layer of a sequence.
fn value(state: &Any, sequence: i64) -> std::vec::Vec<f32> {
    let tensor: Tensor =
        run(state, "rnn_state_debug_get", &[1i64.into(), 1i64.into(), sequence.into()])
            .get()
            .unwrap();
    tensor.as_slice::<f32>().unwrap().to_vec()
}

#[test]
fn a_new_sequence_has_the_initial_values() {
    let state = states();
    run(&state, "kv_state_add_sequence", &[7i64.into()]);
    begin(&state, &[7], &[1]);
    let target = Tensor::from_slice(&[9.0f32; 2], &[1, 2]).unwrap();
    for layer in [0i64, 1] {
        run(&state, "rnn_state_get", &[layer.into(), 1i64.into(), (&target).into()]);
        assert_eq!(target.as_slice::<f32>().unwrap(), [1.0, 2.0]);
    }
    assert_eq!(value(&state, 7), [1.0, 2.0]);
}

#[test]
fn steps_change_their_sequences_and_can_be_taken_back() {
    let state = states();
    (0..3).for_each(|id: i64| drop(run(&state, "kv_state_add_sequence", &[id.into()])));
    step(&state, &[0, 2], &[3.0, 4.0, 5.0, 6.0]);
    assert_eq!(
        [value(&state, 0), value(&state, 1), value(&state, 2)],
        [[3.0, 4.0], [1.0, 2.0], [5.0, 6.0]]
    );
    step(&state, &[2], &[7.0, 8.0]);
    run(&state, "kv_state_popn", &[2i64.into(), 2i64.into()]);
    assert_eq!(value(&state, 2), [1.0, 2.0]);
    let message = "Check failed: n <= it->second.available_history_num (1 vs. 0) : The sequence only has 0 available history in \
                   the space state storage, while the length of rollback is 1 which exceeds the sequence length.";
    refuse(&state, "kv_state_popn", &[2i64.into(), 1i64.into()], message);
    // The history has a place for the value and two to go back to.
    (0..5).for_each(|at| step(&state, &[1], &[at as f32, 0.5]));
    run(&state, "kv_state_popn", &[1i64.into(), 2i64.into()]);
    assert_eq!(value(&state, 1), [2.0, 0.5]);
}

#[test]
fn several_tokens_cannot_be_taken_back() {
    let state = states();
    run(&state, "kv_state_add_sequence", &[0i64.into()]);
    step(&state, &[0], &[3.0, 4.0]);
    begin(&state, &[0], &[2]);
    run(&state, "kv_state_end_forward", &[]);
    let message = "Check failed: n <= it->second.available_history_num (1 vs. 0) : The sequence only has 0 available history in \
                   the space state storage, while the length of rollback is 1 which exceeds the sequence length.";
    refuse(&state, "kv_state_popn", &[0i64.into(), 1i64.into()], message);
}

#[test]
fn a_fork_has_values_and_history_of_its_own() {
    let state = states();
    run(&state, "kv_state_add_sequence", &[0i64.into()]);
    step(&state, &[0], &[3.0, 4.0]);
    run(&state, "kv_state_fork_sequence", &[0i64.into(), 1i64.into(), (-1i64).into()]);
    step(&state, &[0], &[5.0, 6.0]);
    assert_eq!([value(&state, 0), value(&state, 1)], [[5.0, 6.0], [3.0, 4.0]]);
    run(&state, "kv_state_popn", &[1i64.into(), 1i64.into()]);
    assert_eq!([value(&state, 0), value(&state, 1)], [[5.0, 6.0], [1.0, 2.0]]);
}

#[test]
fn slots_are_used_again() {
    let state = states();
    for round in 0..4i64 {
        (0..3)
            .for_each(|id| drop(run(&state, "kv_state_add_sequence", &[(10 * round + id).into()])));
        let full = "Check failed: (!free_slot_ids_.empty()) is false: The Sequence slot is full, cannot accept new sequence.";
        refuse(&state, "kv_state_add_sequence", &[99i64.into()], full);
        match round % 2 {
            0 => (0..3).for_each(|id| {
                drop(run(&state, "kv_state_remove_sequence", &[(10 * round + id).into()]))
            }),
            _ => drop(run(&state, "kv_state_clear", &[])),
        }
    }
}

#[test]
fn mistakes_have_the_texts_of_tvm() {
    let state = states();
    let missing = "Check failed: (it != seq_map_.end()) is false: The sequence \"5\" cannot be found in the space state storage.";
    refuse(&state, "kv_state_remove_sequence", &[5i64.into()], missing);
    refuse(&state, "rnn_state_debug_get", &[0i64.into(), 0i64.into(), 5i64.into()], missing);
    run(&state, "kv_state_add_sequence", &[5i64.into()]);
    let known = "Check failed: (seq_map_.find(seq_id) == seq_map_.end()) is false: The sequence \"5\" is already in the space \
                 state storage.";
    refuse(&state, "kv_state_add_sequence", &[5i64.into()], known);
    let parent = "Check failed: (parent_it != seq_map_.end()) is false: The parent sequence \"6\" cannot be found in space state \
                  storage.";
    refuse(&state, "kv_state_fork_sequence", &[6i64.into(), 7i64.into(), 0i64.into()], parent);
    let negative =
        "Check failed: n >= 0 (-1 vs. 0) : The length of rolling back -1 cannot be negative.";
    refuse(&state, "kv_state_popn", &[5i64.into(), (-1i64).into()], negative);
    let target = Tensor::from_slice(&[0.0f32], &[1]).unwrap();
    let early = "Check failed: (!dirty_aux_data_device_) is false: The auxiliary arrays are not synchronized to device. Please \
                 call `BeginForward` to synchronize before calling `Get`.";
    let first = [0i64.into(), 0i64.into(), AnyView::from(&target)];
    refuse(&state, "rnn_state_get", &first, early);
    let (one, two) = (Shape::from_slice(&[5]).unwrap(), Shape::from_slice(&[1, 1]).unwrap());
    let counts = "Check failed: seq_ids.size() == append_lengths.size() (1 vs. 2) : The seq_ids size (1) and append_lengths size \
                  (2) mismatch.";
    refuse(&state, "kv_state_begin_forward", &[(&one).into(), (&two).into()], counts);
    let tree = "Check failed: token_tree_parent_ptr[matched_pos] == i - 1 (0 vs. -1) : Unexpected token tree for RNN state. RNN \
                state only supports chains as token trees.";
    let (length, wrong) = (Shape::from_slice(&[2]).unwrap(), Shape::from_slice(&[0, 0]).unwrap());
    refuse(
        &state,
        "kv_state_begin_forward",
        &[(&one).into(), (&length).into(), (&wrong).into()],
        tree,
    );
    begin(&state, &[], &[]);
    let empty = "Check failed: cur_batch_size_ > 0 (0 vs. 0) : The curent batch size should be greater than 0.";
    refuse(&state, "rnn_state_get", &first, empty);
    begin(&state, &[5], &[1]);
    for (layer, number) in [(2i64, 0i64), (0, 2), (-1, 0), (0, -1)] {
        let args = [state.view(), layer.into(), number.into(), (&target).into()];
        let text = std::format!("There is no such state of layer {layer}");
        failure("vm.builtin.rnn_state_get", &args, "IndexError", &text);
    }
    run(&state, "rnn_state_get", &first);
    let text = "A function of a state got 2 arguments besides it";
    let unknown = "Check failed: (it != seq_map_.end()) is false: The sequence \"1\" cannot be found in space state.";
    refuse(&state, "kv_state_popn", &[1i64.into(), 1i64.into()], unknown);
    failure(
        "vm.builtin.kv_state_add_sequence",
        &[state.view(), 1i64.into(), 1i64.into()],
        "TypeError",
        text,
    );
    let text = "Cannot convert from type `int` to `ferrite.relax.RnnState`";
    failure("vm.builtin.kv_state_clear", &[3i64.into()], "TypeError", text);
}

#[test]
fn wrong_sizes_are_refused() {
    let none = Array::<Function>::new().unwrap();
    let value = Array::try_from_iter([Tensor::from_slice(&[0.0f32], &[1]).unwrap()]).unwrap();
    let refuse = |sizes: [i64; 3], message: &str| {
        let [layers, slots, history] = sizes.map(AnyView::from);
        let args = [layers, slots, history, none.view(), none.view(), value.view()];
        failure("vm.builtin.rnn_state_create", &args, "InternalError", message);
    };
    let text =
        "Check failed: num_layers > 0 (0 vs. 0) : The number of layers should be greater than 0.";
    refuse([0, 1, 1], text);
    let text = "Check failed: reserved_num_seqs > 0 (0 vs. 0) : The number of reserved sequences should be greater than 0.";
    refuse([1, 0, 1], text);
    let text = "Check failed: max_history_ > 0 (0 vs. 0) : At least 1 history slot to store the current state";
    refuse([1, 1, 0], text);
    let text = "Check failed: f_gets.size() == init_layer_value.size() (0 vs. 1) : The number of state getters should be the same \
                as the number of states per layer, but got 0 and 1 respectively.";
    refuse([1, 1, 1], text);
}
