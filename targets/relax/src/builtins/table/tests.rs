//! Tests that each builtin can be linked into firmware, or has a reason why it cannot.

use std::collections::BTreeSet;
use std::string::String;
use std::vec::Vec;

use super::GROUPS;

/// The builtins that firmware can link.
const LINKED: &str = include_str!("linked.rs");

/// Builtins that firmware cannot link, by the reason.
const HOSTS_ONLY: &[(&str, &[&str])] = &[
    ("moves tensors between devices: firmware has main memory alone", &["vm.builtin.to_device"]),
    (
        "follows the views that runtime.TVMTensorCreateView makes, which firmware lacks too",
        &["vm.builtin.ensure_zero_offset"],
    ),
    (
        "needs a device with graphs",
        &["vm.builtin.cuda_graph.get_cached_alloc", "vm.builtin.cuda_graph.run_or_capture"],
    ),
    (
        "calls a debug function that a program registers by name: firmware has no global table",
        &["vm.builtin.invoke_debug_func"],
    ),
    (
        "calls functions in Python",
        &[
            "vm.builtin.call_py_func",
            "vm.builtin.clear_py_func_registry",
            "vm.builtin.get_py_func",
            "vm.builtin.register_py_func",
        ],
    ),
    (
        "keeps a cache without pages or a recurrent state: firmware has paged caches",
        &[
            "vm.builtin.attention_kv_cache_append",
            "vm.builtin.attention_kv_cache_array_clear",
            "vm.builtin.attention_kv_cache_array_popn",
            "vm.builtin.attention_kv_cache_create",
            "vm.builtin.attention_kv_cache_update",
            "vm.builtin.attention_kv_cache_view",
            "vm.builtin.attention_kv_cache_window_override",
            "vm.builtin.attention_kv_cache_window_override_with_sinks",
            "vm.builtin.rnn_state_create",
            "vm.builtin.rnn_state_debug_get",
            "vm.builtin.rnn_state_get",
            "vm.builtin.rnn_state_set",
        ],
    ),
    (
        "reads or writes pages for tests, files and other processes",
        &[
            "vm.builtin.attention_kv_cache_debug_get_kv",
            "vm.builtin.attention_kv_cache_debug_get_kv_mla",
            "vm.builtin.attention_kv_cache_export_page_group",
            "vm.builtin.attention_kv_cache_finish_import",
            "vm.builtin.attention_kv_cache_get_checkpoint_metadata",
            "vm.builtin.attention_kv_cache_get_layout_hash",
            "vm.builtin.attention_kv_cache_import_page_group",
            "vm.builtin.attention_kv_cache_prepare_import",
            "vm.builtin.kv_cache_disagg_mark_send",
            "vm.builtin.kv_cache_disagg_prepare_recv",
        ],
    ),
    (
        "samples tokens of language models",
        &[
            "vm.builtin.apply_presence_and_frequency_penalty",
            "vm.builtin.apply_repetition_penalty",
            "vm.builtin.apply_softmax_with_temperature",
            "vm.builtin.multinomial_from_uniform",
            "vm.builtin.sample_top_p_from_logits",
            "vm.builtin.sample_top_p_from_prob",
        ],
    ),
    (
        "reads weights from files",
        &[
            "vm.builtin.param_array_from_cache",
            "vm.builtin.param_array_from_cache_by_name",
            "vm.builtin.param_array_from_cache_by_name_unpacked",
            "vm.builtin.param_module_from_cache",
            "vm.builtin.param_module_from_cache_by_name",
            "vm.builtin.tensor_cache.clear",
            "vm.builtin.tensor_cache.get",
            "vm.builtin.tensor_cache.load",
            "vm.builtin.tensor_cache.remove",
            "vm.builtin.tensor_cache.update",
        ],
    ),
    (
        "has no prefix vm.builtin: firmware takes the name for that of a kernel, and links one",
        &[
            "tvm.contrib.random.normal",
            "tvm.contrib.random.randint",
            "tvm.contrib.random.random_fill",
            "tvm.contrib.random.random_fill_for_measure",
            "tvm.contrib.random.uniform",
            "tvm.contrib.sort.argsort",
            "tvm.contrib.sort.argsort_nms",
            "tvm.contrib.sort.sort",
            "tvm.contrib.sort.topk",
        ],
    ),
];

/// Returns the rows of `linked!`: symbols and names.
fn linked_rows() -> Vec<(&'static str, &'static str)> {
    let rows = LINKED.lines().filter_map(|line| {
        let (symbol, right) = line.trim().split_once(" = ")?;
        Some((symbol, right.strip_suffix("\";")?.split_once(" \"")?.1))
    });
    rows.filter(|(symbol, _)| symbol.starts_with("FerriteModelBuiltin_")).collect()
}

#[test]
fn each_builtin_is_linked_into_firmware_or_has_a_reason() {
    let linked = linked_rows().into_iter().map(|(_, name)| name);
    let hosts_only = HOSTS_ONLY.iter().flat_map(|(_, names)| names.iter().copied());
    let mut listed = BTreeSet::new();
    for name in linked.chain(hosts_only) {
        assert!(listed.insert(name), "{name} is listed twice");
    }
    let all: BTreeSet<_> = GROUPS.iter().copied().flatten().map(|builtin| builtin.name()).collect();
    let missing: Vec<_> = all.difference(&listed).collect();
    assert!(missing.is_empty(), "neither in linked.rs nor with a reason here: {missing:?}");
    let unknown: Vec<_> = listed.difference(&all).collect();
    assert!(unknown.is_empty(), "there is no builtin {unknown:?}");
}

#[test]
fn symbols_of_builtins_are_those_that_models_list() {
    let rows = linked_rows();
    assert!(!rows.is_empty());
    for (symbol, name) in rows {
        // As `builtins_as_c` of targets/model/executable.py writes them.
        let suffix: String = name.trim_start_matches("vm.builtin.").replace('.', "_");
        assert_eq!(symbol.strip_prefix("FerriteModelBuiltin_"), Some(&suffix[..]));
    }
}
