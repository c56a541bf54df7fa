//! Sorting of each line of a tensor.

use ferrite_core::AnyView;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorView;

use super::axis::{Axis, Line};
use super::key::{Key, for_key_type};

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

    /// Returns an integer whose ascending order is this order of ranks.
    fn apply(self, rank: i64) -> i64 {
        match self {
            Order::Ascending => rank,
            Order::Descending => !rank,
        }
    }
}

/// An element of a line, ordered by its rank, then by its place. So the sort is stable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedPlace {
    rank: i64,
    /// Index in the line.
    pub(super) place: usize,
}

/// Sorts the first values of each line, as many as `counts` has for the line, or all. Passes the
/// sorted places to `write`.
///
/// # Errors
/// MemoryError; as for [`TensorView::as_slice`].
pub(super) type SortLines = fn(
    input: TensorView<'_>,
    axis: Axis,
    order: Order,
    counts: Option<&[i32]>,
    write: &mut dyn FnMut(Line, &[RankedPlace]),
) -> Result<()>;

/// Returns the function for values of a data type.
///
/// # Errors
/// InternalError for a data type that cannot be sorted.
pub(super) fn sort_lines_of(dtype: DLDataType) -> Result<SortLines> {
    for_key_type!(dtype, K, { Ok(sort_lines::<K> as SortLines) })
}

/// Implements [`SortLines`].
pub(super) fn sort_lines<K: Key>(
    input: TensorView<'_>,
    axis: Axis,
    order: Order,
    counts: Option<&[i32]>,
    write: &mut dyn FnMut(Line, &[RankedPlace]),
) -> Result<()> {
    let values = &input.as_slice::<K>()?;
    let mut entries = Buffer::try_with_capacity(axis.len)?;
    for number in 0..axis.lines() {
        let line = axis.line(number);
        let count = counts.map_or(line.len, |counts| usize::try_from(counts[number]).unwrap_or(0));
        entries.clear();
        for place in 0..count.min(line.len) {
            let rank = order.apply(values[line.at(place)].rank());
            entries.try_push(RankedPlace { rank, place })?;
        }
        sort_entries(&mut entries);
        write(line, &entries);
    }
    Ok(())
}

/// Sorts entries, for all types of values: the library has one copy of the algorithm.
#[inline(never)]
fn sort_entries(entries: &mut [RankedPlace]) {
    entries.sort_unstable();
}
