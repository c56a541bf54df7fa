//! One-dimensional slices (lines) of a tensor along an axis.

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::tensor::TensorRef;

/// An axis of a compact tensor, which divides the tensor into lines.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    /// Product of the extents of the dimensions before the axis.
    pub(super) before: usize,
    /// Number of elements of a line.
    pub(super) len: usize,
    /// Distance between neighbouring elements of a line, in elements.
    pub(super) stride: usize,
}

/// A one-dimensional slice along an axis.
#[derive(Clone, Copy)]
pub(super) struct Line {
    block: usize,
    within: usize,
    stride: usize,
    /// Number of elements of the line.
    pub(super) len: usize,
}

impl Axis {
    /// Returns the axis with this number, which counts from the end if it is negative.
    ///
    /// # Errors
    /// InternalError for an axis that the tensor does not have; ValueError for a negative extent.
    pub(super) fn of(tensor: TensorRef<'_>, number: i64) -> Result<Axis> {
        let ndim = tensor.ndim();
        let index = if number < 0 { number.saturating_add(ndim as i64) } else { number };
        match Axis::find(tensor, index)? {
            Some(axis) => Ok(axis),
            None => plain_bail!(
                INTERNAL_ERROR,
                "Check failed: axis < input->ndim ({} vs. {}) : Axis out of boundary for input ndim {}",
                &index,
                ndim,
                ndim
            ),
        }
    }

    /// Returns the axis with this number like [`of`](Self::of), but with the error message of
    /// `topk`.
    ///
    /// # Errors
    /// Same errors as [`of`](Self::of).
    pub(super) fn in_range(tensor: TensorRef<'_>, number: i64) -> Result<Axis> {
        let ndim = tensor.ndim();
        let index = if number < 0 { number.saturating_add(ndim as i64) } else { number };
        match Axis::find(tensor, index)? {
            Some(axis) => Ok(axis),
            None => plain_bail!(
                INTERNAL_ERROR,
                "Check failed: (axis >= 0 && axis < input->ndim) is false: Axis out of boundary for input ndim {}",
                ndim
            ),
        }
    }

    fn find(tensor: TensorRef<'_>, index: i64) -> Result<Option<Axis>> {
        let shape = tensor.shape();
        if tensor.numel().is_none() {
            plain_bail!(
                VALUE_ERROR,
                "The tensor has a negative extent, or more elements than memory"
            );
        }
        let index = usize::try_from(index).ok().filter(|index| *index < shape.len());
        Ok(index.map(|index| {
            let product = |extents: &[i64]| {
                extents.iter().map(|extent| *extent as usize).fold(1, usize::wrapping_mul)
            };
            let (before, rest) = shape.split_at(index);
            Axis { before: product(before), len: rest[0] as usize, stride: product(&rest[1..]) }
        }))
    }

    /// Returns the number of lines.
    pub(super) fn lines(self) -> usize {
        if self.len == 0 { 0 } else { self.before.saturating_mul(self.stride) }
    }

    /// Returns the number of elements of all lines.
    pub(super) fn numel(self) -> usize {
        self.lines().saturating_mul(self.len)
    }

    /// Returns the line with this number.
    pub(super) fn line(self, number: usize) -> Line {
        Line {
            block: number / self.stride,
            within: number % self.stride,
            stride: self.stride,
            len: self.len,
        }
    }
}

impl Line {
    /// Returns the index in the tensor of an element of the line.
    pub(super) fn at(self, place: usize) -> usize {
        (self.block * self.len + place) * self.stride + self.within
    }

    /// Returns the corresponding line of a tensor whose lines have another length.
    pub(super) fn of_len(self, len: usize) -> Line {
        Line { len, ..self }
    }
}
