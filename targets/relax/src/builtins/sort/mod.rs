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
use line::{Order, for_each_line};

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
    for_key_type!(input.as_tensor_ref().dtype(), K, {
        let mut target = writable::<K>(output, axis.numel())?;
        for_each_line::<K>(input, axis, order, |line, sorted| {
            for (place, entry) in sorted.iter().enumerate() {
                target[line.at(place)] = entry.key;
            }
        })
    })?;
    Ok(Any::NONE)
}

/// Writes the indices that sort a tensor along an axis. The arguments are (values, indices, axis,
/// whether ascending).
fn argsort(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 4, "tvm.contrib.sort.argsort")?;
    let (input, output) = (tensor(&args[0])?, tensor(&args[1])?);
    let (axis, order) = (Axis::of(input.as_tensor_ref(), args[2].get()?)?, Order::of(args[3])?);
    for_key_type!(input.as_tensor_ref().dtype(), K, {
        for_index_type!(output.as_tensor_ref().dtype(), I, {
            let mut target = writable::<I>(output, axis.numel())?;
            for_each_line::<K>(input, axis, order, |line, sorted| {
                for (place, entry) in sorted.iter().enumerate() {
                    target[line.at(place)] = I::from_place(entry.place);
                }
            })
        })
    })?;
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
    line::for_each_start::<f32>(input, axis, order, &counts, |line, sorted| {
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
    let (order, kept) = (Order::of(ascending)?, k.min(axis.len));
    let target_axis = Axis { len: k, ..axis };
    if let Some(values) = values {
        plain_ensure!(
            values.as_tensor_ref().dtype() == input.as_tensor_ref().dtype(),
            INTERNAL_ERROR,
            "The values must have the dtype of the input"
        );
        for_key_type!(input.as_tensor_ref().dtype(), K, {
            let mut target = writable::<K>(values, target_axis.numel())?;
            for_each_line::<K>(input, axis, order, |line, sorted| {
                let line = line.of_len(k);
                for (place, entry) in sorted.iter().take(kept).enumerate() {
                    target[line.at(place)] = entry.key;
                }
            })
        })?;
    }
    if let Some(places) = places {
        for_key_type!(input.as_tensor_ref().dtype(), K, {
            for_index_type!(places.as_tensor_ref().dtype(), I, {
                let mut target = writable::<I>(places, target_axis.numel())?;
                for_each_line::<K>(input, axis, order, |line, sorted| {
                    let line = line.of_len(k);
                    for (place, entry) in sorted.iter().take(kept).enumerate() {
                        target[line.at(place)] = I::from_place(entry.place);
                    }
                })
            })
        })?;
    }
    Ok(Any::NONE)
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
