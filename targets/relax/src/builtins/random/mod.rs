//! Random numbers: the functions `tvm.contrib.random.*`, to which TVM lowers random operators.
//!
//! | file | content |
//! |---|---|
//! | `engine` | the Mersenne Twister, and seeds |
//! | `distribution` | numbers of a range or a normal distribution, as libstdc++ draws them |
//!
//! A call with seeds gives the numbers of TVM's runtime. Each call without seeds starts a separate
//! engine, so calls share no state; TVM has one engine per thread, seeded with the time.

mod distribution;
mod engine;

use ferrite_alloc_ext::device::is_main_memory;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::tensor::{Element, ElementsMut, TensorRef, TensorView};
use ferrite_core::value::device::kind::CPU;
use ferrite_core::value::dtype::code;
use ferrite_core::{Any, AnyView, Tensor, plain_bail, plain_ensure};

use super::Builtin;
use super::arguments::{expect, tensor};
use crate::builtin;
use crate::memory::copy;
use distribution::{Fill, normal, uniform};
use engine::{Engine, combine_seeds};

/// Builtins for random tensors and samples.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "tvm.contrib.random.randint", randint),
    builtin!(packed "tvm.contrib.random.uniform", fill_uniform),
    builtin!(packed "tvm.contrib.random.normal", fill_normal),
    builtin!(packed "tvm.contrib.random.random_fill", random_fill),
    builtin!(packed "tvm.contrib.random.random_fill_for_measure", random_fill),
];

/// Returns the elements of a tensor in main memory, for writing.
///
/// # Errors
/// InternalError for a tensor with another dtype, with gaps, or on a device; RuntimeError while the
/// elements are borrowed; ValueError for a read-only tensor.
fn floats<'a>(out: TensorView<'a>, operation: &'static str) -> Result<ElementsMut<'a, f32>> {
    let tensor = out.as_tensor_ref();
    check_gaps(tensor)?;
    plain_ensure!(
        tensor.dtype() == f32::DTYPE,
        INTERNAL_ERROR,
        "Check failed: (dtype.code == kDLFloat && dtype.bits == 32 && dtype.lanes == 1) is false: "
    );
    check_device(tensor, operation)?;
    // SAFETY: the caller of a builtin passes a tensor for its result; that of a pointer may be
    // written, and nobody else uses it.
    unsafe { out.as_mut_slice::<f32>() }
}

fn check_gaps(tensor: TensorRef<'_>) -> Result<()> {
    plain_ensure!(
        tensor.is_contiguous(),
        INTERNAL_ERROR,
        "Check failed: (ffi::IsContiguous(*data)) is false: "
    );
    Ok(())
}

fn check_device(tensor: TensorRef<'_>, operation: &'static str) -> Result<()> {
    plain_ensure!(
        tensor.device().device_type == CPU,
        INTERNAL_ERROR,
        "Do not support random.{} on this device yet",
        operation
    );
    Ok(())
}

/// Splits the arguments ([seed, second seed,] first, second, tensor) of a distribution.
///
/// # Errors
/// InternalError for another number of arguments; TypeError.
fn split<'a>(
    args: &[AnyView<'a>],
    name: &'static str,
) -> Result<(Engine, f32, f32, TensorView<'a>)> {
    let (seeds, [first, second, out]) = match args {
        [first, second, out] => (None, [first, second, out]),
        [seed, other, first, second, out] => {
            (Some((seed.get::<i64>()?, other.get::<i64>()?)), [first, second, out])
        }
        _ => plain_bail!(
            INTERNAL_ERROR,
            "tvm.contrib.random.{} expects either 3 or 5 arguments, but got {}",
            name,
            args.len()
        ),
    };
    let engine = match seeds {
        None | Some((0, 0)) => Engine::fresh(),
        Some((seed, other)) => Engine::new(combine_seeds(seed, other)),
    };
    Ok((engine, first.get::<f64>()? as f32, second.get::<f64>()? as f32, tensor(out)?))
}

/// Fills a tensor with numbers from `low` up to `high`. The arguments are ([seed, second seed,]
/// low, high, tensor).
fn fill_uniform(args: &[AnyView<'_>]) -> Result<Any> {
    let (mut engine, low, high, out) = split(args, "uniform")?;
    plain_ensure!(
        high > low,
        INTERNAL_ERROR,
        "Check failed: high > low : high must be bigger than low"
    );
    floats(out, "uniform")?.iter_mut().for_each(|place| *place = uniform(&mut engine, low, high));
    Ok(Any::NONE)
}

/// Fills a tensor with normally distributed numbers. The arguments are ([seed, second seed,] mean,
/// standard deviation, tensor).
fn fill_normal(args: &[AnyView<'_>]) -> Result<Any> {
    let (mut engine, mean, deviation, out) = split(args, "normal")?;
    plain_ensure!(
        deviation > 0.0,
        INTERNAL_ERROR,
        "Check failed: scale > 0 : standard deviation must be positive"
    );
    for pair in floats(out, "normal")?.chunks_mut(2) {
        let drawn = normal(&mut engine);
        pair.iter_mut().zip(drawn).for_each(|(place, drawn)| *place = drawn * deviation + mean);
    }
    Ok(Any::NONE)
}

/// Fills a tensor with integers from `low` up to `high`, which is excluded. Bounds outside the
/// range of the dtype are clamped to it. The arguments are (low, high, tensor).
fn randint(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 3, "tvm.contrib.random.randint")?;
    let (low, high, out) = (args[0].get::<i64>()?, args[1].get::<i64>()?, tensor(&args[2])?);
    check_bounds(low, high)?;
    check_gaps(out.as_tensor_ref())?;
    let DLDataType { code, bits, .. } = out.as_tensor_ref().dtype();
    match (code, bits) {
        (code::INT, 8) => {
            fill_integers(out, low, high, i64::from(i8::MIN)..i64::from(i8::MAX) + 1, |x| x as i8)
        }
        (code::INT, 16) => {
            fill_integers(out, low, high, i64::from(i16::MIN)..i64::from(i16::MAX) + 1, |x| {
                x as i16
            })
        }
        (code::INT, 32) => {
            fill_integers(out, low, high, i64::from(i32::MIN)..i64::from(i32::MAX) + 1, |x| {
                x as i32
            })
        }
        (code::UINT, 8) => fill_integers(out, low, high, 0..i64::from(u8::MAX) + 1, |x| x as u8),
        (code::UINT, 16) => fill_integers(out, low, high, 0..i64::from(u16::MAX) + 1, |x| x as u16),
        (code::UINT, 32) => fill_integers(out, low, high, 0..i64::from(u32::MAX) + 1, |x| x as u32),
        _ => plain_bail!(INTERNAL_ERROR, "unknown data type"),
    }?;
    Ok(Any::NONE)
}

fn check_bounds(low: i64, high: i64) -> Result<()> {
    plain_ensure!(
        high > low,
        INTERNAL_ERROR,
        "Check failed: high > low ({} vs. {}) : high must be bigger than low",
        &high,
        &low
    );
    Ok(())
}

fn fill_integers<T: Element>(
    out: TensorView<'_>,
    low: i64,
    high: i64,
    range: core::ops::Range<i64>,
    convert: impl Fn(i64) -> T,
) -> Result<()> {
    check_device(out.as_tensor_ref(), "randint")?;
    let (low, high) = (low.max(range.start), high.min(range.end));
    check_bounds(low, high)?;
    let mut engine = Engine::fresh();
    // SAFETY: as for `floats`.
    for place in unsafe { out.as_mut_slice::<T>() }?.iter_mut() {
        *place = convert(low + i64::from(engine.next()) % (high - low));
    }
    Ok(())
}

/// Fills a tensor of 8, 16, 32 or 64 bits per element with numbers from 1 up to 10: elements of 8
/// bits with whole numbers, others with float16, float32 or float64. The argument is the tensor.
fn random_fill(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 1, "tvm.contrib.random.random_fill")?;
    let target = tensor(&args[0])?;
    let (out, _guard) = (target.as_tensor_ref(), target.write_guard()?);
    let DLDataType { code, bits, .. } = out.dtype();
    let Some(fill) = Fill::of_bits(bits) else {
        plain_bail!(INTERNAL_ERROR, "Doesn't support dtype code {} dtype bits {}", code, bits);
    };
    if is_main_memory(out.device().device_type) {
        fill_bytes(out, fill)?;
        return Ok(Any::NONE);
    }
    let host =
        Tensor::empty(out.shape(), out.dtype(), DLDevice { device_type: CPU, device_id: 0 })?;
    fill_bytes(host.as_tensor_ref(), fill)?;
    // SAFETY: both tensors are alive, and nobody else uses the target meanwhile.
    unsafe { copy(host.dl_tensor(), &*target.as_ptr()) }?;
    Ok(Any::NONE)
}

fn fill_bytes(out: TensorRef<'_>, fill: Fill) -> Result<()> {
    check_gaps(out)?;
    let Some(len) = out.size_bytes() else {
        plain_bail!(VALUE_ERROR, "The tensor has more elements than memory can hold");
    };
    if len == 0 {
        return Ok(());
    }
    let first = out.data_ptr().cast::<u8>().wrapping_add(out.byte_offset() as usize);
    // SAFETY: the tensor has `len` bytes in main memory, and nobody else uses them meanwhile.
    fill.draw(&mut Engine::fresh(), unsafe { core::slice::from_raw_parts_mut(first, len) });
    Ok(())
}

#[cfg(test)]
mod tests;
