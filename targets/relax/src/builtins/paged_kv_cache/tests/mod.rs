//! Tests of steps, with kernels that record their arguments.

#[cfg(feature = "devices")]
mod streams;

use ferrite_alloc_ext::containers::Array;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::tensor::TensorRef;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Function, Shape, String, Tensor};
use std::sync::{Arc, Mutex};
use std::vec::Vec;

use super::*;
use crate::builtins::testing::{call, failure};

/// Calls of kernels: name, and the int32 arrays among the arguments.
type Log = Arc<Mutex<Vec<(&'static str, Vec<Vec<i32>>)>>>;

const FULL: &str = "Check failed: (!free_page_ids_.empty()) is false: The KV cache is full. No page can be allocated.";

fn kernel(log: &Log, name: &'static str) -> Function {
    let log = log.clone();
    Function::from_packed(move |args| {
        let mut arrays = Vec::new();
        for tensor in args.iter().filter_map(TensorRef::from_view) {
            // SAFETY: nobody writes the tensors meanwhile.
            if let Ok(elements) = unsafe { tensor.as_slice::<i32>() } {
                arrays.push(elements.to_vec());
            }
        }
        log.lock().unwrap().push((name, arrays));
        Ok(Any::NONE)
    })
    .unwrap()
}

/// A cache of one layer with one head of width 1, of pages of 4 tokens, and its recorded calls.
struct Recorded {
    cache: Any,
    dtype: DLDataType,
    device: DLDevice,
    log: Log,
}

impl Recorded {
    fn new(tokens: i64) -> Recorded {
        Recorded::like(&Tensor::from_slice(&[0f32], &[]).unwrap(), tokens, Log::default())
    }

    /// Creates a cache on the device of a scalar.
    fn like(prototype: &Tensor, tokens: i64, log: Log) -> Recorded {
        let sizes = Shape::from_slice(&[4, tokens, 256, 4, 0]).unwrap();
        let (layers, kinds) =
            (Shape::from_slice(&[0, 1]).unwrap(), Shape::from_slice(&[0]).unwrap());
        let compiled = |name| {
            let kernel = [String::new("tirx").unwrap().into(), kernel(&log, name).into()];
            Array::<Any>::try_from_iter(kernel).unwrap()
        };
        let functions =
            ["append", "split", "copy", "debug", "compact"].map(|name| kernel(&log, name));
        let [append, split, copy, debug, compact] = &functions;
        let attention =
            ["ragged", "prefill", "decode", "prefill", "decode", "tree", "tree_new"].map(compiled);
        let (none, merges) = (
            Array::<Any>::new().unwrap(),
            Array::<Function>::try_from_iter([kernel(&log, "merge")]).unwrap(),
        );
        let one = AnyView::from(1i64);
        let mut args = std::vec![sizes.view(), layers.view(), one, one, one, one, kinds.view()];
        args.extend([AnyView::from(false), one, AnyView::from(1.0), AnyView::from(10000.0)]);
        args.extend([AnyView::from(0i64), prototype.view(), append.view(), AnyView::from(0i64)]);
        args.extend(attention.iter().map(AnyView::from));
        args.extend([none.view(), merges.view(), split.view(), copy.view()]);
        args.extend([debug.view(), compact.view()]);
        let cache = call("vm.builtin.paged_attention_kv_cache_create", &args);
        Recorded { cache, dtype: prototype.dtype(), device: prototype.device(), log }
    }

    fn run(&self, name: &str, args: &[AnyView<'_>]) -> Any {
        call(&std::format!("vm.builtin.{name}"), &[&[self.cache.view()], args].concat())
    }

    fn add(&self, ids: core::ops::Range<i64>) {
        ids.for_each(|id| drop(self.run("kv_state_add_sequence", &[id.into()])));
    }

    fn begin(&self, ids: &[i64], lengths: &[i64], parents: Option<&[i64]>) {
        let [ids, lengths] = [ids, lengths].map(|numbers| Shape::from_slice(numbers).unwrap());
        let parents = parents.map(|parents| Shape::from_slice(parents).unwrap());
        let args = [(&ids).into(), (&lengths).into(), (&parents).into()];
        self.run("kv_state_begin_forward", &args);
    }

    fn refuse(&self, ids: &[i64], lengths: &[i64], message: &str) {
        let [ids, lengths] = [ids, lengths].map(|numbers| Shape::from_slice(numbers).unwrap());
        let args = [self.cache.view(), (&ids).into(), (&lengths).into()];
        failure("vm.builtin.kv_state_begin_forward", &args, "InternalError", message);
    }

    /// Calls the attention of the layer. Returns the calls of kernels, without their names.
    fn attend(&self, rows: i64) -> Vec<(&'static str, Vec<Vec<i32>>)> {
        let tensor =
            |shape: [i64; 3]| crate::memory::empty(&shape, self.dtype, self.device).unwrap();
        let (fused, output) = (tensor([rows, 3, 1]), tensor([rows, 1, 1]));
        let args = [0i64.into(), 1.0.into(), (&fused).into(), (&output).into()];
        self.run("attention_kv_cache_attention_with_fused_qkv", &args);
        core::mem::take(&mut *self.log.lock().unwrap())
    }

    fn commit(&self, id: i64, leaf: i64) {
        let [ids, leaves] = [id, leaf].map(|number| Shape::from_slice(&[number]).unwrap());
        let name = "attention_kv_cache_commit_accepted_token_tree_nodes";
        self.run(name, &[(&ids).into(), (&leaves).into()]);
    }

    fn numbers(&self) -> (i64, i64) {
        let number = |name: &str| self.run(name, &[]).get().unwrap();
        (
            number("attention_kv_cache_get_num_available_pages"),
            number("attention_kv_cache_get_total_sequence_length"),
        )
    }
}

fn names(calls: &[(&'static str, Vec<Vec<i32>>)]) -> Vec<&'static str> {
    calls.iter().map(|(name, _)| *name).collect()
}

#[test]
fn a_decode_step_appends_first_and_reads_one_table() {
    let recorded = Recorded::new(32);
    recorded.add(0..2);
    recorded.begin(&[0, 1], &[5, 3], None);
    let calls = recorded.attend(8);
    assert_eq!(names(&calls), ["split", "ragged", "append"]);
    assert_eq!(calls[2].1, [[0, 1, 2, 3, 4, 8, 9, 10]]);
    recorded.begin(&[0, 1], &[1, 1], None);
    // A row of padding.
    let calls = recorded.attend(3);
    assert_eq!(names(&calls), ["split", "append", "decode"]);
    assert_eq!(calls[1].1, [[5, 11]]);
    let table: [&[i32]; 5] = [&[0, 2, 3], &[0, 1, 2], &[2, 4], &[0, 0], &[5, 3]];
    assert_eq!(calls[2].1, table);
}

#[test]
fn a_common_prefix_is_read_once() {
    let recorded = Recorded::new(32);
    recorded.add(0..1);
    recorded.begin(&[0], &[8], None);
    recorded.attend(8);
    recorded.run("kv_state_fork_sequence", &[0i64.into(), 1i64.into(), (-1i64).into()]);
    recorded.begin(&[0, 1], &[2, 2], None);
    let calls = recorded.attend(4);
    assert_eq!(names(&calls), ["split", "ragged", "prefill", "merge", "append"]);
    let table: [&[i32]; 6] = [&[0, 4], &[0, 2], &[0, 1], &[4], &[0], &[8, 9, 8, 9]];
    assert_eq!(calls[2].1, table);
    recorded.begin(&[0, 1], &[2, 1], None);
    let calls = recorded.attend(3);
    let expected = ["split", "ragged", "prefill", "merge", "prefill", "merge", "append"];
    assert_eq!(names(&calls), expected);
    let table: [&[i32]; 6] = [&[0, 2, 3], &[0, 1, 2], &[2, 3], &[2, 2], &[8, 8], &[10, 11, 10]];
    assert_eq!(calls[4].1, table);
}

#[test]
fn a_refused_step_leaves_the_cache_and_the_step_before() {
    let recorded = Recorded::new(8);
    recorded.add(0..2);
    recorded.begin(&[0], &[7], None);
    let before = recorded.numbers();
    recorded.refuse(&[1, 0], &[4, 6], FULL);
    let unknown = "Check failed: (it != seq_map_.end()) is false: The sequence \"5\" cannot be found in KV cache.";
    recorded.refuse(&[0, 5], &[1, 1], unknown);
    let twice = "The sequence \"0\" occurs twice in a step of the KV cache";
    recorded.refuse(&[0, 0], &[1, 1], twice);
    let long = "A step of 257 tokens exceeds the prefill chunk size 256 of the KV cache";
    recorded.refuse(&[0, 1], &[1, 256], long);
    // Its arrays would take more memory than those of the step before have.
    recorded.refuse(&[0], &[200], FULL);
    assert_eq!(recorded.numbers(), before);
    assert_eq!(recorded.attend(7)[2].1, [[0, 1, 2, 3, 4, 5, 6]]);
    recorded.begin(&[0], &[5], None);
    assert_eq!(recorded.numbers(), (0, 12));
}

#[test]
fn an_accepted_branch_moves_to_the_front_of_its_tree() {
    let recorded = Recorded::new(32);
    recorded.add(0..1);
    recorded.begin(&[0], &[3], None);
    recorded.attend(3);
    recorded.begin(&[0], &[4], Some(&[-1, 0, 0, 2]));
    let calls = recorded.attend(4);
    assert_eq!(names(&calls), ["split", "tree_new", "prefill", "merge", "append"]);
    let masks: [&[i32]; 5] = [&[0, 4], &[0, 4], &[3, 4, 4, 5], &[0, 4], &[0, 4, 1, 2, 2, 4, 3, 4]];
    assert_eq!(calls[1].1, masks);
    recorded.commit(0, 3);
    let calls = core::mem::take(&mut *recorded.log.lock().unwrap());
    // Nodes 2 and 3 of the tree at position 3 move down by one.
    assert_eq!(calls, [("compact", std::vec![std::vec![0, 2], std::vec![5, 6, 4, 5]])]);
    assert_eq!(recorded.numbers().1, 6);
}

#[test]
fn a_commit_after_several_steps_counts_from_the_last_one() {
    let recorded = Recorded::new(32);
    recorded.add(0..1);
    recorded.begin(&[0], &[2], Some(&[-1, -1]));
    recorded.begin(&[0], &[3], Some(&[1, 0, 2]));
    let calls = recorded.attend(3);
    assert_eq!(names(&calls), ["split", "append", "tree"]);
    recorded.commit(0, 1);
    let calls = core::mem::take(&mut *recorded.log.lock().unwrap());
    assert_eq!(calls, [("compact", std::vec![std::vec![0, 1], std::vec![3, 2]])]);
    assert_eq!(recorded.numbers().1, 3);
}

#[test]
fn a_call_during_another_one_is_refused() {
    let recorded = Recorded::new(8);
    let failed = "Check failed: (args.size() == 28 || args.size() == 29) is false: Invalid number of KV cache constructor args: 1";
    let create = "vm.builtin.paged_attention_kv_cache_create";
    failure(create, &[AnyView::from(1i64)], "InternalError", failed);
    let object = recorded.cache.as_object().unwrap();
    let guard = ferrite_core::object::borrow::Exclusive::of(object).unwrap();
    let text = "The object of class `ferrite.relax.PagedAttentionKVCache` is in use by a method or borrow that conflicts with this access";
    failure("vm.builtin.kv_state_clear", &[recorded.cache.view()], "RuntimeError", text);
    drop(guard);
    recorded.run("kv_state_clear", &[]);
}
