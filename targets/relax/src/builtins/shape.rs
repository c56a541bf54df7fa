//! Builtins for symbolic shapes: the shape heap, which stores their values, and checks against it.

use core::ffi::c_void;

use ferrite_core::abi::DLDevice;
use ferrite_core::error::kind::{RUNTIME_ERROR, TYPE_ERROR, VALUE_ERROR};
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::tensor::Element;
use ferrite_core::value::device;
use ferrite_core::{Any, AnyView, ObjectRef, Shape, Tensor, plain_bail, plain_ensure};

use super::shape_heap::{self, ShapeHeap};
use super::tensor::tensor_of;
use super::{Builtin, Check, integer, refusal};
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.match_shape", match_shape),
    builtin!(packed "vm.builtin.make_shape", make_shape),
    builtin!("vm.builtin.alloc_shape_heap", alloc_shape_heap),
    builtin!(packed "vm.builtin.check_shape_info", check_shape_info),
];

/// Codes of `match_shape`: the condition that an extent must meet.
pub(crate) mod matching {
    /// The extent equals the given value.
    pub const EQUAL: i64 = 0;
    /// Any extent; it is stored in the shape heap.
    pub const STORE: i64 = 1;
    /// Any extent.
    pub const ANYTHING: i64 = 2;
    /// The extent equals a value of the shape heap.
    pub const EQUAL_STORED: i64 = 3;
}

/// Code of `make_shape` for an extent from the shape heap. Code 0 is an extent given as a value.
pub(crate) const LOAD: i64 = 1;

/// Maximum number of values in a shape heap (8 MiB). Models need one for each symbolic extent.
const MOST_HEAP_VALUES: i64 = 1 << 20;

/// Maximum number of extents that are assembled on the stack.
const FEW_EXTENTS: usize = 8;

/// Allocates a shape heap, a vector of int64 on the host. The arguments are (machine, number of
/// values).
fn alloc_shape_heap(_machine: *mut c_void, len: i64) -> Result<Tensor> {
    plain_ensure!(
        len <= MOST_HEAP_VALUES,
        VALUE_ERROR,
        "A shape heap has at most {} values, not {}",
        &MOST_HEAP_VALUES,
        &len
    );
    const CPU: DLDevice = DLDevice { device_type: device::kind::CPU, device_id: 0 };
    Tensor::empty(&[len], i64::DTYPE, CPU)
}

/// Runs `body` on the shape of a tensor or of a Shape.
#[inline(always)]
fn with_shape<R>(value: &AnyView<'_>, body: impl FnOnce(&[i64]) -> Result<R>) -> Result<R> {
    match tensor_of(value) {
        Some(tensor) => body(tensor.shape()),
        None => body(value.get::<Shape>()?.as_slice()),
    }
}

/// Matches a shape, and stores extents in the shape heap. The arguments are (value, heap or None,
/// n, n pairs of code and value, error context).
fn match_shape(args: &[AnyView<'_>]) -> Result<Any> {
    let [value, heap, count, rest @ ..] = args else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.match_shape takes 4 or more arguments, but got {}",
            args.len()
        );
    };
    let count = integer(count)?;
    let pairs = usize::try_from(count).ok().and_then(|count| count.checked_mul(2));
    let Some((pairs, [context, ..])) = pairs.and_then(|pairs| rest.split_at_checked(pairs)) else {
        plain_bail!(
            INTERNAL_ERROR,
            "vm.builtin.match_shape got fewer arguments than {} extents need",
            &count
        );
    };
    let _guard = shape_heap::guard::<true>(heap)?;
    with_shape(value, |shape| {
        if shape.len() * 2 != pairs.len() {
            let check = Check::Equal(
                "input_shape.size() == size",
                shape.len() as i64,
                (pairs.len() / 2) as i64,
            );
            return Err(refusal(RUNTIME_ERROR, check, context, &|out| {
                out.put(b" match_cast shape size mismatch.")
            }));
        }
        let heap = ShapeHeap::from_view(heap);
        for (index, (extent, pair)) in shape.iter().zip(pairs.chunks_exact(2)).enumerate() {
            let [code, value] = pair else { continue };
            let (code, value) = (integer(code)?, integer(value)?);
            match code {
                matching::EQUAL if *extent != value => {
                    let check = Check::Equal("input_shape[i] == reg", *extent, value);
                    return Err(mismatch(check, context, index, b"specified constant"));
                }
                matching::EQUAL | matching::ANYTHING => {}
                matching::STORE => heap.set(value, *extent)?,
                matching::EQUAL_STORED => {
                    let stored = heap.get(value)?;
                    if stored != *extent {
                        let check =
                            Check::Equal("input_shape[i] == heap_data[reg]", *extent, stored);
                        return Err(mismatch(check, context, index, b"a previous populated value"));
                    }
                }
                _ => plain_bail!(INTERNAL_ERROR, "Unknown match shape code: {}", &code),
            }
        }
        Ok(Any::NONE)
    })
}

#[cold]
fn mismatch(check: Check, context: &AnyView<'_>, index: usize, expected: &[u8]) -> Error {
    refusal(RUNTIME_ERROR, check, context, &|out| {
        out.put(b" match_cast error,  shape[");
        out.put_word(index);
        out.put(b"] mismatch to ");
        out.put(expected);
        out.put(b".");
    })
}

/// Creates a shape from given values and values of the shape heap. The arguments are (heap or None,
/// n, n pairs of code and value).
fn make_shape(args: &[AnyView<'_>]) -> Result<Any> {
    let [heap, count, rest @ ..] = args else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.make_shape takes 2 or more arguments, but got {}",
            args.len()
        );
    };
    let count = integer(count)?;
    let pairs = usize::try_from(count).ok().and_then(|count| rest.get(..count.checked_mul(2)?));
    let Some(pairs) = pairs else {
        plain_bail!(
            INTERNAL_ERROR,
            "vm.builtin.make_shape got fewer arguments than {} extents need",
            &count
        );
    };
    let _guard = shape_heap::guard::<false>(heap)?;
    let heap = ShapeHeap::from_view(heap);
    let extents = pairs.as_chunks::<2>().0.iter().map(|[code, value]| extent(heap, code, value));
    let mut few = [0; FEW_EXTENTS];
    let shape = match few.get_mut(..pairs.len() / 2) {
        Some(few) => {
            for (place, extent) in few.iter_mut().zip(extents) {
                *place = extent?;
            }
            Shape::from_slice(few)?
        }
        None => Shape::try_from_iter(extents)?,
    };
    Ok(shape.into())
}

fn extent(heap: ShapeHeap<'_>, code: &AnyView<'_>, value: &AnyView<'_>) -> Result<i64> {
    let value = integer(value)?;
    match integer(code)? {
        0 => Ok(value),
        LOAD => heap.get(value),
        code => plain_bail!(INTERNAL_ERROR, "Invalid shape code: {}", &code),
    }
}

/// Checks that a value is a Shape. The arguments are (value, number of extents or -1, error
/// context).
fn check_shape_info(args: &[AnyView<'_>]) -> Result<Any> {
    let [value, ndim, context] = args else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.check_shape_info takes 3 arguments, but got {}",
            args.len()
        );
    };
    let object: Option<ObjectRef> = value.try_get()?;
    let Some(shape) = object.as_ref().and_then(ObjectRef::as_class::<Shape>) else {
        return Err(refusal(TYPE_ERROR, Check::That("ptr != nullptr"), context, &|out| {
            out.put(b" expect a Shape but get ");
            out.put_lossy(type_table::type_key_of(value.type_index()));
        }));
    };
    let (ndim, found) = (integer(ndim)?, shape.as_slice().len());
    if ndim != -1 && ndim != found as i64 {
        let check = Check::That("ptr->size == static_cast<uint64_t>(ndim)");
        return Err(refusal(VALUE_ERROR, check, context, &|out| {
            out.put(b" expect Shape with ndim ");
            out.put_number(ndim);
            out.put(b" but get ");
            out.put_word(found);
        }));
    }
    Ok(Any::NONE)
}
