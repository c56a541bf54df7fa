//! Paged key-value caches: keys and values of the tokens of many sequences, in pages that sequences
//! with a common prefix share.
//!
//! A model creates the cache and passes it the kernels of attention. The serving program adds
//! sequences and begins each step; the model then calls the cache once for each layer.
//!
//! | file | content |
//! |---|---|
//! | `record` | `PagedCache`, the object |
//! | `methods` | `vm.builtin.kv_state_*` for caches: sequences and steps |
//! | `cache` | `Cache`, the parts of a cache |
//! | `config`, `kernels` | sizes, layers and kernels, read from the arguments of the constructor |
//! | `pages` | free list and reference counts of pages |
//! | `sequence`, `sequences` | page table, window and token tree of a sequence; sequences by id |
//! | `growth` | growth of a sequence by the tokens of a step, and the slide of its window |
//! | `tree`, `commit` | token trees, and the acceptance of a branch |
//! | `step` | planning a step, and the contents of its arrays |
//! | `arrays` | the block of memory of the arrays, and their tensors |
//! | `storage` | tensors of pages, and buffers of a step |
//! | `attention` | calls of the kernels |
//! | `debug`, `checkpoint` | cached values of a sequence, for tests and for files |
//! | `arity` | error of a wrong number of arguments |
//! | `device_array` | int32 arrays of calls outside of steps |
//!
//! # Upstream
//! `src/runtime/vm/paged_kv_cache.cc`. Sequences have tables of counted pages here, where upstream
//! has a tree of blocks; see the page of differences for what upstream computes otherwise.

mod arity;
mod arrays;
mod attention;
mod cache;
mod checkpoint;
mod commit;
mod config;
mod debug;
mod device_array;
mod growth;
mod kernels;
pub(super) mod methods;
mod pages;
mod record;
mod sequence;
mod sequences;
mod step;
mod storage;
mod tree;

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView};

use super::Builtin;
use super::receiver::call_method;
use crate::builtin;
use cache::Cache;
use record::PagedCache;

/// Creates the builtin of a method of caches.
macro_rules! method {
    ($name:literal, $method:path) => {
        builtin!(packed $name, |args| call_method($name, args, $method))
    };
}

/// Builtins of paged key-value caches.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.paged_attention_kv_cache_create", create),
    method!("vm.builtin.attention_kv_cache_attention_with_fused_qkv", attention::fused_attention),
    method!("vm.builtin.attention_kv_cache_attention_with_shared_kv", attention::shared_attention),
    method!("vm.builtin.attention_kv_cache_self_attention", attention::self_attention),
    method!("vm.builtin.attention_kv_cache_cross_attention", attention::cross_attention),
    method!("vm.builtin.attention_kv_cache_append_mla_kv", attention::append_latent),
    method!("vm.builtin.attention_kv_cache_merge_attn_output_inplace", attention::merge_outputs),
    method!("vm.builtin.attention_kv_cache_get_query_positions", methods::query_positions),
    method!("vm.builtin.attention_kv_cache_empty", methods::is_empty),
    method!("vm.builtin.attention_kv_cache_get_num_available_pages", methods::available_pages),
    method!("vm.builtin.attention_kv_cache_get_total_sequence_length", methods::total_length),
    method!("vm.builtin.attention_kv_cache_get_sequence_length", methods::sequence_length),
    method!("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq", methods::set_window),
    method!("vm.builtin.attention_kv_cache_commit_accepted_token_tree_nodes", commit::commit_trees),
    method!("vm.builtin.attention_kv_cache_debug_get_kv", debug::get_keys_and_values),
    method!("vm.builtin.attention_kv_cache_debug_get_kv_mla", debug::get_latent),
    method!("vm.builtin.attention_kv_cache_get_checkpoint_metadata", checkpoint::get_metadata),
    method!("vm.builtin.attention_kv_cache_get_layout_hash", checkpoint::get_layout_hash),
    method!("vm.builtin.attention_kv_cache_export_page_group", checkpoint::export_group),
    method!("vm.builtin.attention_kv_cache_prepare_import", checkpoint::prepare_import),
    method!("vm.builtin.attention_kv_cache_import_page_group", checkpoint::import_group),
    method!("vm.builtin.attention_kv_cache_finish_import", checkpoint::finish_import),
    method!("vm.builtin.kv_cache_disagg_prepare_recv", methods::refuse_transfer),
    method!("vm.builtin.kv_cache_disagg_mark_send", methods::refuse_transfer),
];

/// Creates a cache. The arguments are 28 values that the compiler's front end writes, and one more,
/// which is not used.
fn create(args: &[AnyView<'_>]) -> Result<Any> {
    PagedCache::new(Cache::from_arguments(args)?).map(Any::from)
}

#[cfg(test)]
mod tests;
