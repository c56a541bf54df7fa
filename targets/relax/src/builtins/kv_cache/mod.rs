//! Attention cache of `nn.KVCache`: rows of keys or values. A model appends rows, and takes views
//! of them.
//!
//! | file | content |
//! |---|---|
//! | `record` | `Cache`, the cache object, with the memory layout of TVM's runtime |
//! | `rows` | copying rows between tensors, and growing a cache |
//! | `window` | sliding windows, where new rows overwrite the oldest |

mod record;
mod rows;
mod window;

use ferrite_alloc_ext::containers::Array;
use ferrite_core::abi::DLTensor;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::{Any, AnyView, Shape, Tensor, plain_ensure};

use super::Builtin;
use crate::builtin;
use crate::memory::{Placement, tensor_over};
use record::{Cache, State};
use rows::{append_rows, check_value, rows_of};

/// Builtins of paged key-value caches.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.attention_kv_cache_create", create),
    builtin!("vm.builtin.attention_kv_cache_update", update),
    builtin!("vm.builtin.attention_kv_cache_append", append),
    builtin!("vm.builtin.attention_kv_cache_window_override", window::write),
    builtin!("vm.builtin.attention_kv_cache_window_override_with_sinks", window::write_with_sinks),
    builtin!(packed "vm.builtin.attention_kv_cache_view", view),
    builtin!("vm.builtin.attention_kv_cache_array_popn", remove_last),
    builtin!("vm.builtin.attention_kv_cache_array_clear", clear),
];

/// Creates a cache with a capacity of `reserved[0]` rows that contains the rows of `initial`. If
/// `filled` is not negative, only the first `filled` rows count.
fn create(initial: Tensor, reserved: Shape, filled: i64) -> Result<Cache> {
    let data = crate::memory::empty(reserved.as_slice(), initial.dtype(), initial.device())?;
    let mut state = append_rows(State { data, filled: 0, position: 0 }, &initial)?;
    if filled >= 0 {
        let slots = rows_of(&state.data);
        plain_ensure!(
            filled <= slots,
            INTERNAL_ERROR,
            "Check failed: init_fill_count <= data->shape[0] ({} vs. {}) : ",
            &filled,
            &slots
        );
        (state.filled, state.position) = (filled, filled);
    }
    Cache::new(state)
}

/// Appends the rows of a tensor. Doubles the capacity when the cache is full.
fn append(cache: Cache, value: Tensor) -> Result<Cache> {
    cache.set(append_rows(cache.state(), &value)?);
    Ok(cache)
}

/// Overwrites all rows.
fn update(cache: Cache, value: Tensor) -> Result<Cache> {
    let State { data, filled, .. } = cache.state();
    let count = check_value(&data, &value)?;
    plain_ensure!(
        count == filled,
        INTERNAL_ERROR,
        "Check failed: value->shape[0] == fill_count ({} vs. {}) : Requested shape do not match the filled count",
        &count,
        &filled
    );
    rows::copy_rows((&value, 0), (&data, 0), count)?;
    Ok(cache)
}

/// Returns the rows as a tensor that shares the memory of the cache. The arguments are (cache[,
/// expected shape]).
fn view(args: &[AnyView<'_>]) -> Result<Any> {
    let ([cache] | [cache, _]) = args else { return Err(wrong_count(args.len())) };
    let State { data, filled, .. } = cache.get::<Cache>()?.state();
    if let [_, expected] = args {
        check_view(&data, filled, &expected.get::<Shape>()?)?;
    }
    let shape = rows::with_rows(&data, filled)?;
    let DLTensor { data: memory, byte_offset, device, dtype, .. } = *data.dl_tensor();
    let placement = Placement { data: memory, byte_offset, device, dtype };
    // SAFETY: the cache has room for so many rows.
    unsafe { tensor_over(Some(data.as_object()), &placement, &shape) }.map(Any::from)
}

#[cold]
fn wrong_count(count: usize) -> ferrite_core::Error {
    ferrite_core::plain_error!(
        VALUE_ERROR,
        "Check failed: (args.size() == 1 || args.size() == 2) is false: `vm.builtin.attention_kv_cache_view` expects 1 or 2 \
         arguments, but got {}.",
        count
    )
}

fn check_view(data: &Tensor, filled: i64, expected: &Shape) -> Result<()> {
    let [rows, extents @ ..] = expected.as_slice() else {
        return Err(ferrite_core::plain_error!(
            INTERNAL_ERROR,
            "The shape of a cache has a dimension for rows"
        ));
    };
    plain_ensure!(
        *rows == filled,
        INTERNAL_ERROR,
        "Check failed: shape[0] == fill_count ({} vs. {}) : Requested shape do not match the filled count",
        rows,
        &filled
    );
    rows::check_extents("shape[i]", extents, data)
}

/// Removes the last `count` rows of each cache.
fn remove_last(caches: Array<Cache>, count: i64) -> Result<()> {
    for cache in caches.iter() {
        let cache = cache?;
        let State { data, filled, position } = cache.state();
        // Upstream reads the count as one without sign.
        let unsigned = count.cast_unsigned();
        plain_ensure!(
            unsigned <= filled.cast_unsigned(),
            INTERNAL_ERROR,
            "Check failed: n <= fill_count ({} vs. {}) : ",
            &unsigned,
            &filled
        );
        cache.set(State { data, filled: filled - count, position });
    }
    Ok(())
}

/// Removes all rows of each cache.
fn clear(caches: Array<Cache>) -> Result<()> {
    for cache in caches.iter() {
        let cache = cache?;
        let State { data, .. } = cache.state();
        cache.set(State { data, filled: 0, position: 0 });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
