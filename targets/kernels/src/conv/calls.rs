//! Functions on images.

use ferrite_core::abi::TVMFFIAny;

use super::depthwise::{Depthwise, Floats};
use super::geometry::Parameters;
use super::product::Convolution;
use crate::arguments::{Arguments, Result, shape_value};
use crate::element::Element;
use crate::epilogue::{Activation, BiasAxis, Epilogue};
use crate::matmul::ROWS;

/// `conv2d(x, w, bias, residual, params, activation, lo, hi, out)`.
pub fn conv2d<T: Element>(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let x = args.tensor(0, "x")?.expect_kind(T::KIND)?.expect_rank(4)?;
    let w = args.tensor(1, "w")?.expect_kind(T::KIND)?.expect_rank(4)?;
    let parameters = Parameters::read(&args, 4)?;
    let out = args.tensor(8, "out")?.expect_kind(T::KIND)?.expect_rank(4)?;
    let geometry = parameters.geometry(&args, &x, &out)?;
    let outputs = geometry.outputs * geometry.groups;
    w.expect_shape(&parameters.packed_shape(&args, outputs, geometry.channels)?)?;
    let bias = args.optional(2, "bias")?;
    let residual = args.optional(3, "residual")?;
    let epilogue = Epilogue {
        bias: match bias {
            Some(bias) => bias.expect_kind(T::KIND)?.expect_len(outputs)?.data(),
            None => core::ptr::null(),
        },
        bias_axis: BiasAxis::Rows,
        residual: match residual {
            Some(residual) => residual.expect_kind(T::KIND)?.expect_len(out.len())?.data(),
            None => core::ptr::null(),
        },
        scale: 1.0,
        activation: Activation::read(&args, 5)?,
    };
    if out.len() == 0 {
        return Ok(TVMFFIAny::NONE);
    }
    let (x, w, out) = (x.data::<T>().cast_const(), w.data::<T>().cast_const(), out.data());
    if geometry.is_depthwise() {
        Depthwise { geometry, w, ends: Floats { x, out, epilogue } }.run()?;
    } else {
        Convolution { geometry, x, w, out, epilogue }.run()?;
    }
    Ok(TVMFFIAny::NONE)
}

/// `packed_conv2d_shape(w, params, dtype) -> Shape`.
pub fn packed_conv2d_shape(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_rank(4)?;
    let parameters = Parameters::read(&args, 1)?;
    shape_value(&parameters.packed_shape(&args, w.extent(0), w.extent(1))?)
}

/// `pack_conv2d(w, params, out)`.
pub fn pack_conv2d<T: Element>(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let parameters = Parameters::read(&args, 1)?;
    let [kh, kw] = parameters.kernel();
    let w = args.tensor(0, "w")?.expect_kind(T::KIND)?.expect_rank(4)?;
    let (outputs, channels) = (w.extent(0), w.extent(1));
    let w = w.expect_shape(&[outputs, channels, kh, kw])?;
    let shape = parameters.packed_shape(&args, outputs, channels)?;
    let out = args.tensor(2, "out")?.expect_kind(T::KIND)?.expect_shape(&shape)?;
    let (from, to) = (w.data::<T>().cast_const(), out.data::<T>());
    // SAFETY: both tensors have the extents.
    unsafe {
        if shape[1] == 1 && shape[0] == outputs && shape[2..] == [kh, kw] && w.len() == out.len() {
            core::ptr::copy(from, to, w.len());
        } else {
            pack_groups(from, to, shape, (outputs / shape[0], channels, kh * kw));
        }
    }
    Ok(TVMFFIAny::NONE)
}

/// Packs the weights of each group into panels of output channels. The inner index runs over the
/// input channels of a tap, then over taps, which is the order of gathered pixels.
///
/// # Safety
/// `from` and `to` must have the elements of the shapes.
unsafe fn pack_groups<T: Element>(
    from: *const T,
    to: *mut T,
    [groups, panels, inner, _]: [usize; 4],
    (outputs, channels, taps): (usize, usize, usize),
) {
    for group in 0..groups {
        for line in 0..panels * ROWS {
            let start = ((group * panels + line / ROWS) * inner) * ROWS + line % ROWS;
            for at in 0..inner {
                let (tap, channel) = (at / channels, at % channels);
                let source = ((group * outputs + line) * channels + channel) * taps + tap;
                // SAFETY: the caller guarantees the elements; lines past the outputs are zero.
                unsafe {
                    *to.add(start + at * ROWS) =
                        if line < outputs { *from.add(source) } else { T::ZERO };
                }
            }
        }
    }
}
