//! The shape heap: the values of a running function's symbolic shapes, stored in an int64 vector in
//! main memory.

use ferrite_core::error::Result;
use ferrite_core::tensor::{Borrow, TensorRef, TensorView};
use ferrite_core::{AnyView, plain_error};

/// A shape heap, or none (`%void`) in a function without symbolic shapes.
///
/// # Upstream
/// A `DLTensor*` that is not checked.
#[derive(Clone, Copy)]
pub(super) struct ShapeHeap<'a>(Option<TensorRef<'a>>);

impl<'a> ShapeHeap<'a> {
    /// Returns the shape heap in an argument; none unless the argument is a tensor.
    pub(super) fn from_view(view: &AnyView<'a>) -> ShapeHeap<'a> {
        ShapeHeap(TensorRef::from_view(view))
    }

    /// Returns the shape heap in a typed argument.
    pub(super) fn from_argument(tensor: TensorView<'a>) -> ShapeHeap<'a> {
        ShapeHeap(Some(tensor.as_tensor_ref()))
    }

    /// Returns the value at an index.
    ///
    /// # Errors
    /// InternalError without a heap or for an index out of range; TypeError and ValueError for a
    /// tensor that is not a shape heap.
    pub(super) fn get(self, index: i64) -> Result<i64> {
        let values = self.values()?;
        let value = usize::try_from(index).ok().and_then(|index| values.get(index));
        value.copied().ok_or_else(|| out_of_range(index, values.len()))
    }

    /// Stores a value at an index.
    ///
    /// # Errors
    /// Same errors as [`get`](Self::get).
    pub(super) fn set(self, index: i64, value: i64) -> Result<()> {
        let values = match self.0 {
            // SAFETY: the builtin has borrowed the values by [`guard`]; nobody else uses those of a
            // DLTensor pointer.
            Some(heap) => unsafe { heap.as_mut_slice::<i64>() }?,
            None => &mut [],
        };
        let len = values.len();
        match usize::try_from(index).ok().and_then(|index| values.get_mut(index)) {
            Some(place) => *place = value,
            None => return Err(out_of_range(index, len)),
        }
        Ok(())
    }

    fn values(self) -> Result<&'a [i64]> {
        // SAFETY: as in `set`.
        self.0.map_or(Ok(&[]), |heap| unsafe { heap.as_slice::<i64>() })
    }
}

/// Borrows the values of the shape heap in an argument: a program that calls the builtin, or a
/// model, may pass any tensor as a shape heap.
///
/// # Errors
/// RuntimeError if a borrow of the tensor conflicts; ValueError for writes to a read-only tensor.
#[inline(always)]
pub(super) fn guard<'a, const WRITES: bool>(
    heap: &AnyView<'a>,
) -> Result<Option<Borrow<'a, WRITES>>> {
    TensorView::from_value(heap).map(TensorView::guard).transpose()
}

#[cold]
fn out_of_range(index: i64, len: usize) -> ferrite_core::Error {
    plain_error!(INTERNAL_ERROR, "The shape heap has {} values, but number {} was asked for", len, &index; "no value {}", &index)
}

#[cfg(test)]
mod tests {
    use ferrite_core::{AnyView, Shape, Tensor};

    use crate::builtins::testing::{call, failure, read_only};

    #[test]
    fn read_only_tensors_are_not_written() {
        let heap = read_only(&Tensor::from_slice(&[7i64, 1], &[2]).unwrap());
        let (view, shape) = (AnyView::from(&heap), Shape::from_slice(&[9]).unwrap());
        let one = AnyView::from(1i64);
        let text = "The tensor is read-only";
        let args = [9.into(), view, one, one, AnyView::NONE];
        failure("vm.builtin.match_prim_value", &args, "ValueError", text);
        let args = [AnyView::from(&shape), view, one, one, one, AnyView::NONE];
        failure("vm.builtin.match_shape", &args, "ValueError", text);
        assert_eq!(heap.as_slice::<i64>().unwrap(), [7, 1]);
        let made = call("vm.builtin.make_shape", &[view, one, one, 0.into()]);
        assert_eq!(made.get::<Shape>().unwrap().as_slice(), [7]);
    }
}
