//! Sorting of each line of a tensor.

use core::cmp::Ordering;

use ferrite_core::AnyView;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorView;

use super::axis::{Axis, Line};
use super::key::Key;

/// Sort order.
#[derive(Clone, Copy)]
pub(super) enum Order {
    Ascending,
    Descending,
}

impl Order {
    /// Returns the sort order given by an argument: whether it is ascending.
    ///
    /// # Errors
    /// TypeError for an argument that is not a boolean.
    pub(super) fn of(ascending: AnyView<'_>) -> Result<Order> {
        Ok(if ascending.get::<bool>()? { Order::Ascending } else { Order::Descending })
    }

    /// Compares two entries by value, then by index. So the sort is stable.
    fn compare<K: Key>(self, one: &IndexedValue<K>, other: &IndexedValue<K>) -> Ordering {
        let keys = match self {
            Order::Ascending => one.key.order(other.key),
            Order::Descending => other.key.order(one.key),
        };
        keys.then(one.place.cmp(&other.place))
    }
}

/// A value and its index in the line.
#[derive(Clone, Copy)]
pub(super) struct IndexedValue<K> {
    pub(super) key: K,
    pub(super) place: usize,
}

/// Sorts each line, and passes the sorted entries to `write`.
///
/// # Errors
/// MemoryError; as for [`TensorView::as_slice`].
pub(super) fn for_each_line<K: Key>(
    input: TensorView<'_>,
    axis: Axis,
    order: Order,
    mut write: impl FnMut(Line, &[IndexedValue<K>]),
) -> Result<()> {
    let values = &input.as_slice::<K>()?;
    let mut entries = Buffer::try_with_capacity(axis.len)?;
    for line in (0..axis.lines()).map(|number| axis.line(number)) {
        sort_start(values, line, line.len, order, &mut entries)?;
        write(line, &entries);
    }
    Ok(())
}

/// Sorts the first `counts[i]` values of each line `i`, and passes the sorted entries to `write`.
///
/// # Errors
/// Same errors as [`for_each_line`].
pub(super) fn for_each_start<K: Key>(
    input: TensorView<'_>,
    axis: Axis,
    order: Order,
    counts: &[i32],
    mut write: impl FnMut(Line, &[IndexedValue<K>]),
) -> Result<()> {
    let values = &input.as_slice::<K>()?;
    let mut entries = Buffer::try_with_capacity(axis.len)?;
    for (line, count) in (0..axis.lines()).map(|number| axis.line(number)).zip(counts) {
        let count = usize::try_from(*count).unwrap_or(0).min(line.len);
        sort_start(values, line, count, order, &mut entries)?;
        write(line, &entries);
    }
    Ok(())
}

fn sort_start<K: Key>(
    values: &[K],
    line: Line,
    count: usize,
    order: Order,
    entries: &mut Buffer<IndexedValue<K>>,
) -> Result<()> {
    entries.clear();
    for place in 0..count {
        entries.try_push(IndexedValue { key: values[line.at(place)], place })?;
    }
    entries.as_mut_slice().sort_unstable_by(|one, other| order.compare(one, other));
    Ok(())
}
