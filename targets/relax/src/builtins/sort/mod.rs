//! Sorting: the functions `tvm.contrib.sort.*`, to which TVM lowers `sort`, `argsort` and `topk`.
//!
//! | file | content |
//! |---|---|
//! | `axis` | one-dimensional slices (lines) of a tensor along an axis |
//! | `key` | the element types that can be sorted, and their order |
//! | `line` | sorting of each line |

mod axis;
mod key;
mod line;

use ferrite_core::error::Result;
use ferrite_core::tensor::{Element, ElementsMut, TensorView};
use ferrite_core::value::dtype;
use ferrite_core::{Any, AnyView, String, plain_bail, plain_ensure};

use super::Builtin;
use super::arguments::{expect, tensor};
use crate::builtin;
use axis::Axis;
use key::{Index, for_index_type, for_key_type};
use line::{Order, sort_lines, sort_lines_of};

/// Builtins for sorting and the k largest elements.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "tvm.contrib.sort.sort", sort),
    builtin!(packed "tvm.contrib.sort.argsort", argsort),
    builtin!(packed "tvm.contrib.sort.argsort_nms", argsort_nms),
    builtin!(packed "tvm.contrib.sort.topk", topk),
];

/// Sorts a tensor along an axis. The arguments are (values, sorted values, axis, whether
/// ascending).
fn sort(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 4, "tvm.contrib.sort.sort")?;
    let (input, output) = (tensor(&args[0])?, tensor(&args[1])?);
    let (axis, order) = (Axis::of(input.as_tensor_ref(), args[2].get()?)?, Order::of(args[3])?);
    let texts = [
        dtype::to_string(input.as_tensor_ref().dtype())?,
        dtype::to_string(output.as_tensor_ref().dtype())?,
    ];
    plain_ensure!(
        input.as_tensor_ref().dtype() == output.as_tensor_ref().dtype(),
        INTERNAL_ERROR,
        "Check failed: data_dtype == out_dtype ({} vs. {}) : ",
        &texts[0],
        &texts[1]
    );
    write_values(input, axis, order, output, axis.len)?;
    Ok(Any::NONE)
}

/// Writes the indices that sort a tensor along an axis. The arguments are (values, indices, axis,
/// whether ascending).
fn argsort(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 4, "tvm.contrib.sort.argsort")?;
    let (input, output) = (tensor(&args[0])?, tensor(&args[1])?);
    let (axis, order) = (Axis::of(input.as_tensor_ref(), args[2].get()?)?, Order::of(args[3])?);
    write_places(input, axis, order, output, axis.len)?;
    Ok(Any::NONE)
}

/// Writes the indices that sort the first values of each line along an axis. The arguments are
/// (values, number of values per line, indices, axis, whether ascending).
fn argsort_nms(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 5, "tvm.contrib.sort.argsort_nms")?;
    let (input, counts, output) = (tensor(&args[0])?, tensor(&args[1])?, tensor(&args[2])?);
    let (axis, order) = (Axis::of(input.as_tensor_ref(), args[3].get()?)?, Order::of(args[4])?);
    let counts = counts.as_slice::<i32>()?;
    plain_ensure!(
        counts.len() >= axis.lines(),
        VALUE_ERROR,
        "{} counts are too few for {} lines",
        counts.len(),
        axis.lines()
    );
    let mut target = writable::<i32>(output, axis.numel())?;
    sort_lines::<f32>(input, axis, order, Some(&counts), &mut |line, sorted| {
        for place in 0..line.len {
            target[line.at(place)] = sorted.get(place).map_or(place, |entry| entry.place) as i32;
        }
    })?;
    Ok(Any::NONE)
}

/// Writes the k largest or smallest values along an axis. The arguments are (values[, top values][,
/// their indices], k, axis, `both`, `values` or `indices`, whether ascending). If k is less than 1,
/// writes all values.
fn topk(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 6, "tvm.contrib.sort.topk")?;
    let (results, [k, axis, kind, ascending]) = split_topk(args)?;
    let input = tensor(&args[0])?;
    let kind = kind.get::<String>()?;
    let (values, places) = match (kind.as_bytes(), results) {
        (b"both", [values, places]) => (Some(tensor(values)?), Some(tensor(places)?)),
        (b"values", [values]) => (Some(tensor(values)?), None),
        (b"indices", [places]) => (None, Some(tensor(places)?)),
        (b"both" | b"values" | b"indices", _) => {
            plain_bail!(TYPE_ERROR, "{} tensors do not take the result `{}`", results.len(), &kind)
        }
        _ => plain_bail!(INTERNAL_ERROR, "Unsupported ret type: {}", &kind),
    };
    let axis = Axis::in_range(input.as_tensor_ref(), axis.get()?)?;
    let k = k.get::<i64>()?;
    let k = if k < 1 { axis.len } else { usize::try_from(k).unwrap_or(usize::MAX) };
    let order = Order::of(ascending)?;
    if let Some(values) = values {
        plain_ensure!(
            values.as_tensor_ref().dtype() == input.as_tensor_ref().dtype(),
            INTERNAL_ERROR,
            "The values must have the dtype of the input"
        );
        write_values(input, axis, order, values, k)?;
    }
    if let Some(places) = places {
        write_places(input, axis, order, places, k)?;
    }
    Ok(Any::NONE)
}

/// Writes the first `len` sorted values of each line to lines of length `len`.
///
/// # Errors
/// InternalError for values that cannot be sorted; errors of [`writable`] and of
/// [`SortLines`](line::SortLines).
fn write_values(
    input: TensorView<'_>,
    axis: Axis,
    order: Order,
    output: TensorView<'_>,
    len: usize,
) -> Result<()> {
    for_key_type!(input.as_tensor_ref().dtype(), K, {
        let mut target = writable::<K>(output, Axis { len, ..axis }.numel())?;
        let values = &input.as_slice::<K>()?;
        sort_lines::<K>(input, axis, order, None, &mut |line, sorted| {
            let target_line = line.of_len(len);
            for (place, entry) in sorted.iter().take(len).enumerate() {
                target[target_line.at(place)] = values[line.at(entry.place)];
            }
        })
    })
}

/// Writes the first `len` sorted places of each line to lines of length `len`.
///
/// # Errors
/// InternalError for values that cannot be sorted, and for places of another data type; errors of
/// [`writable`] and of [`SortLines`](line::SortLines).
fn write_places(
    input: TensorView<'_>,
    axis: Axis,
    order: Order,
    output: TensorView<'_>,
    len: usize,
) -> Result<()> {
    let sort_lines = sort_lines_of(input.as_tensor_ref().dtype())?;
    for_index_type!(output.as_tensor_ref().dtype(), I, {
        let mut target = writable::<I>(output, Axis { len, ..axis }.numel())?;
        sort_lines(input, axis, order, None, &mut |line, sorted| {
            let line = line.of_len(len);
            for (place, entry) in sorted.iter().take(len).enumerate() {
                target[line.at(place)] = I::from_place(entry.place);
            }
        })
    })
}

/// Splits the arguments of `topk` into the result tensors and the last four arguments.
fn split_topk<'a, 'b>(args: &'b [AnyView<'a>]) -> Result<(&'b [AnyView<'a>], [AnyView<'a>; 4])> {
    match args {
        [_, results @ .., k, axis, kind, ascending] => {
            Ok((results, [*k, *axis, *kind, *ascending]))
        }
        _ => plain_bail!(
            TYPE_ERROR,
            "tvm.contrib.sort.topk takes 6 or 7 arguments, but got {}",
            args.len()
        ),
    }
}

/// Returns the elements of a result tensor, for writing.
///
/// # Errors
/// ValueError if there are fewer than `least` elements; as for [`TensorView::as_mut_slice`].
fn writable<T: Element>(tensor: TensorView<'_>, least: usize) -> Result<ElementsMut<'_, T>> {
    // SAFETY: the caller of a builtin passes tensors for its results; that of a pointer may be
    // written, and nobody else uses it.
    let elements = unsafe { tensor.as_mut_slice::<T>() }?;
    plain_ensure!(
        elements.len() >= least,
        VALUE_ERROR,
        "The result has {} elements, where {} are needed",
        elements.len(),
        least
    );
    Ok(elements)
}

#[cfg(test)]
mod tests;
