//! Builtins that a program lists. Each is a separate symbol, so builtins that no model of the
//! firmware calls are not linked.

use super::*;

unsafe extern "C" {
    /// Null-terminated list of the builtins that the program's models call, written by
    /// `targets/model/executable.py`.
    static FerriteModelBuiltins: [*const core::ffi::c_void; 1];
}

/// A null-terminated list of builtins.
#[repr(transparent)]
pub struct List([*const core::ffi::c_void; COUNT + 1]);

// SAFETY: the builtins are immutable.
unsafe impl Sync for List {}

/// Returns the builtin with this name; `None` if the program does not list it.
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    // SAFETY: the program's list has builtins of this file, and null at its end.
    unsafe {
        let mut place = (&raw const FerriteModelBuiltins).cast::<*const Builtin>();
        while let Some(builtin) = place.read().as_ref() {
            if builtin.name.as_bytes() == name {
                return Some(builtin);
            }
            place = place.add(1);
        }
    }
    None
}

/// Returns the builtin with this name from a group, at compile time.
const fn named(group: &[Builtin], name: &str) -> Builtin {
    let mut at = 0;
    while !is_same(group[at].name.as_bytes(), name.as_bytes()) {
        at += 1;
    }
    group[at]
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

macro_rules! linked {
    ($($(#[$cfg:meta])? $symbol:ident = $group:ident $name:literal;)*) => {$(
        #[doc = concat!("The builtin `", $name, "`.")]
        $(#[$cfg])?
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, reason = "a symbol for C programs")]
        pub static $symbol: Builtin = named($group::BUILTINS, $name);
    )*
        /// The list of all builtins of this file, for programs that run any model.
        pub const ALL: List = List([$($(#[$cfg])? (&raw const $symbol).cast(),)* core::ptr::null()]);
        const COUNT: usize = [$($(#[$cfg])? $name,)*].len();
    };
}

linked! {
    FerriteModelBuiltin_alloc_storage = memory "vm.builtin.alloc_storage";
    FerriteModelBuiltin_alloc_tensor = memory "vm.builtin.alloc_tensor";
    FerriteModelBuiltin_null_value = memory "vm.builtin.null_value";
    FerriteModelBuiltin_memory_manager_clear = memory "vm.builtin.memory_manager.clear";
    FerriteModelBuiltin_check_tensor_info = tensor "vm.builtin.check_tensor_info";
    FerriteModelBuiltin_reshape = tensor "vm.builtin.reshape";
    FerriteModelBuiltin_tensor_to_shape = tensor "vm.builtin.tensor_to_shape";
    FerriteModelBuiltin_match_shape = shape "vm.builtin.match_shape";
    FerriteModelBuiltin_alloc_shape_heap = shape "vm.builtin.alloc_shape_heap";
    FerriteModelBuiltin_make_shape = shape "vm.builtin.make_shape";
    FerriteModelBuiltin_check_shape_info = shape "vm.builtin.check_shape_info";
    FerriteModelBuiltin_make_tuple = tuple "vm.builtin.make_tuple";
    FerriteModelBuiltin_tuple_getitem = tuple "vm.builtin.tuple_getitem";
    FerriteModelBuiltin_tuple_reset_item = tuple "vm.builtin.tuple_reset_item";
    FerriteModelBuiltin_check_tuple_info = tuple "vm.builtin.check_tuple_info";
    FerriteModelBuiltin_copy = control "vm.builtin.copy";
    FerriteModelBuiltin_read_if_cond = control "vm.builtin.read_if_cond";
    FerriteModelBuiltin_make_closure = control "vm.builtin.make_closure";
    FerriteModelBuiltin_invoke_closure = control "vm.builtin.invoke_closure";
    FerriteModelBuiltin_check_func_info = control "vm.builtin.check_func_info";
    FerriteModelBuiltin_shape_of = dynamic "vm.builtin.shape_of";
    FerriteModelBuiltin_call_tir_dyn = dynamic "vm.builtin.call_tir_dyn";
    FerriteModelBuiltin_make_prim_value = prim_value "vm.builtin.make_prim_value";
    FerriteModelBuiltin_match_prim_value = prim_value "vm.builtin.match_prim_value";
    FerriteModelBuiltin_check_string_info = prim_value "vm.builtin.check_string_info";
    FerriteModelBuiltin_check_prim_value_info = prim_value "vm.builtin.check_prim_value_info";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_paged_attention_kv_cache_create = paged_kv_cache "vm.builtin.paged_attention_kv_cache_create";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_attention_with_fused_qkv = paged_kv_cache "vm.builtin.attention_kv_cache_attention_with_fused_qkv";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_attention_with_shared_kv = paged_kv_cache "vm.builtin.attention_kv_cache_attention_with_shared_kv";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_self_attention = paged_kv_cache "vm.builtin.attention_kv_cache_self_attention";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_cross_attention = paged_kv_cache "vm.builtin.attention_kv_cache_cross_attention";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_append_mla_kv = paged_kv_cache "vm.builtin.attention_kv_cache_append_mla_kv";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_merge_attn_output_inplace = paged_kv_cache "vm.builtin.attention_kv_cache_merge_attn_output_inplace";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_get_query_positions = paged_kv_cache "vm.builtin.attention_kv_cache_get_query_positions";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_empty = paged_kv_cache "vm.builtin.attention_kv_cache_empty";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_get_num_available_pages = paged_kv_cache "vm.builtin.attention_kv_cache_get_num_available_pages";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_get_total_sequence_length = paged_kv_cache "vm.builtin.attention_kv_cache_get_total_sequence_length";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_get_sequence_length = paged_kv_cache "vm.builtin.attention_kv_cache_get_sequence_length";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_enable_sliding_window_for_seq = paged_kv_cache "vm.builtin.attention_kv_cache_enable_sliding_window_for_seq";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_attention_kv_cache_commit_accepted_token_tree_nodes = paged_kv_cache "vm.builtin.attention_kv_cache_commit_accepted_token_tree_nodes";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_clear = kv_state "vm.builtin.kv_state_clear";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_add_sequence = kv_state "vm.builtin.kv_state_add_sequence";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_remove_sequence = kv_state "vm.builtin.kv_state_remove_sequence";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_fork_sequence = kv_state "vm.builtin.kv_state_fork_sequence";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_popn = kv_state "vm.builtin.kv_state_popn";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_begin_forward = kv_state "vm.builtin.kv_state_begin_forward";
    #[cfg(feature = "kv-cache")]
    FerriteModelBuiltin_kv_state_end_forward = kv_state "vm.builtin.kv_state_end_forward";
}
