//! Sliding windows over the latest rows. Once the cache is full, new rows overwrite the oldest
//! ones, except for the first few rows (attention sinks).

use ferrite_core::error::Result;
use ferrite_core::{Tensor, plain_ensure};

use super::record::{Cache, State};
use super::rows::{check_value, copy_rows, reserve};

/// Writes the rows of a tensor into a window of at most `most` rows.
pub(super) fn write(cache: Cache, value: Tensor, most: i64) -> Result<Cache> {
    write_with_sinks(cache, value, most, 0)
}

/// Writes the rows of a tensor into a window of at most `most` rows. The first `sinks` rows are
/// never overwritten.
pub(super) fn write_with_sinks(
    cache: Cache,
    value: Tensor,
    most: i64,
    sinks: i64,
) -> Result<Cache> {
    let state = cache.state();
    let count = check_value(&state.data, &value)?;
    let room = most.saturating_sub(sinks);
    plain_ensure!(
        count <= room && sinks >= 0,
        INTERNAL_ERROR,
        "Check failed: value->shape[0] <= max_cache_size - num_attention_sinks ({} vs. {}) : dim 0 of value too large",
        &count,
        &room
    );
    let filled = state.filled.saturating_add(count).min(most);
    // Rows that were removed leave the position behind the others.
    let end = state.filled.max(state.position).saturating_add(count).min(most);
    let mut state = reserve(state, end)?;
    let before_wrap = count.min(most.saturating_sub(state.position)).max(0);
    copy_rows((&value, 0), (&state.data, state.position), before_wrap)?;
    state.filled = filled;
    state.position = state.position.saturating_add(count).min(most);
    if before_wrap < count {
        wrap(&mut state, &value, before_wrap, sinks)?;
    }
    cache.set(state);
    Ok(cache)
}

/// Wraps around: writes the rows from `first` on after the sinks.
fn wrap(state: &mut State, value: &Tensor, first: i64, sinks: i64) -> Result<()> {
    let rest = value.shape().first().map_or(0, |count| count - first);
    copy_rows((value, first), (&state.data, sinks), rest)?;
    state.position = sinks + rest;
    Ok(())
}
