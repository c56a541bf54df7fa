//! Last step of a product: the sums, or their products by a factor with the epilogue of floats, as
//! they are or rounded to 8 bits.

use super::channels::Channels;
use crate::arguments::{Arguments, Kind, Result, Tensor, raise};
use crate::epilogue::{Activation, BiasAxis, Epilogue, Place};
use crate::simd::{MAGIC, MAX_LANES, Simd};

/// Elements of the result.
#[derive(Clone, Copy)]
enum Target {
    /// Sums.
    Sums(*mut i32),
    /// Floats.
    Floats(*mut f32),
    /// Bytes with a zero point, and the bounds of their differences to it.
    Bytes(*mut u8, i32, [f32; 2]),
}

/// Result of a product.
#[derive(Clone, Copy)]
pub struct Output {
    target: Target,
    epilogue: Epilogue<f32>,
    starts: *const i32,
    scales: *const f32,
}

/// Arguments of the last step.
pub struct Last<'a> {
    /// Factor of all sums, or of those of each channel.
    pub scale: Option<Tensor<'a>>,
    /// Integers to add to the sums.
    pub bias: Option<Tensor<'a>>,
    target: Target,
    epilogue: Epilogue<f32>,
}

impl<'a> Last<'a> {
    /// Reads scale, zero point, bias and residual from `at` on, the activation from `activation`
    /// on. Channels are in an axis of the result.
    ///
    /// # Errors
    /// TypeError or ValueError that names the argument.
    pub fn read(
        args: &Arguments<'a>,
        (at, activation): (usize, usize),
        (channels, bias_axis): (usize, BiasAxis),
        out: &Tensor<'a>,
    ) -> Result<Self> {
        let scale = args.optional(at, "scale")?;
        let zero = args.int(at + 1, "out_zero")?;
        let bias = args.optional(at + 2, "bias")?;
        let residual = args.optional(at + 3, "residual")?;
        let activation = Activation::read(args, activation)?;
        let function = args.function();
        let target = match out.expect_kinds(&[Kind::I32, Kind::F32, Kind::U8, Kind::I8])? {
            Kind::I32
                if scale.is_none() && residual.is_none() && activation == Activation::None =>
            {
                Target::Sums(out.data())
            }
            Kind::I32 => {
                let message = "out of I32 takes neither scale nor residual nor activation";
                return Err(raise!(Value, "{function}: {message}"));
            }
            _ if scale.is_none() && out.len() != 0 => {
                return Err(raise!(Value, "{function}: scale is missing"));
            }
            Kind::F32 => Target::Floats(out.data()),
            kind => {
                let range = if kind == Kind::U8 { 0..=255 } else { -128..=127 };
                if !range.contains(&zero) {
                    return Err(raise!(Value, "{function}: out_zero is {zero}"));
                }
                let bounds = [*range.start() - zero, *range.end() - zero].map(|bound| bound as f32);
                Target::Bytes(out.data(), zero as i32, bounds)
            }
        };
        // A bias of floats is added to the products by the factor.
        let floats = bias.filter(|bias| bias.kind() == Kind::F32 && scale.is_some());
        let epilogue = Epilogue {
            bias: match floats {
                Some(bias) => bias.expect_len(channels)?.data(),
                None => core::ptr::null(),
            },
            bias_axis,
            residual: match residual {
                Some(residual) => residual.expect_kind(Kind::F32)?.expect_len(out.len())?.data(),
                None => core::ptr::null(),
            },
            scale: 1.0,
            activation,
        };
        Ok(Self { scale, bias: if floats.is_some() { None } else { bias }, target, epilogue })
    }

    /// Returns the result with the values of channels.
    pub fn output(&self, channels: &Channels) -> Output {
        let Self { target, epilogue, .. } = *self;
        Output { target, epilogue, starts: channels.starts(), scales: channels.scales() }
    }
}

impl Output {
    /// Returns the integers at which the sums of a row begin.
    ///
    /// # Safety
    /// The channels must have the row and, up to the end of a vector, the column.
    #[inline(always)]
    pub unsafe fn start<S: Simd>(&self, simd: S, row: usize, column: usize) -> S::I {
        // SAFETY: the caller guarantees the channels.
        unsafe {
            match self.epilogue.bias_axis {
                BiasAxis::Rows => simd.splat_integer(*self.starts.add(row)),
                BiasAxis::Columns => simd.load_integers(self.starts.add(column)),
            }
        }
    }

    /// Finishes the lanes of a vector, and stores them.
    ///
    /// # Safety
    /// The tensors must have the elements of `at`, and the channels those of the vector.
    #[inline(always)]
    pub unsafe fn store<S: Simd>(&self, simd: S, at: Place, sums: S::I) {
        if let Target::Sums(to) = self.target {
            // SAFETY: the caller guarantees the elements.
            return unsafe {
                store_head::<S, _>(to.add(at.offset), at.count, |to| simd.store_integers(to, sums))
            };
        }
        // SAFETY: the caller guarantees the channels and the elements.
        unsafe {
            let scale = match self.epilogue.bias_axis {
                BiasAxis::Rows => simd.splat(*self.scales.add(at.row)),
                BiasAxis::Columns => simd.load(self.scales.add(at.column)),
            };
            let value = self.epilogue.finish(simd, at, simd.mul(simd.to_float(sums), scale));
            match self.target {
                Target::Bytes(to, zero, bounds) => {
                    let rounded = rounded(simd, value, bounds);
                    let value = simd.add_integers(rounded, simd.splat_integer(zero));
                    let to = to.add(at.offset);
                    store_head::<S, _>(to, at.count, |to| simd.store_bytes(to, value));
                }
                Target::Floats(to) => {
                    crate::element::Element::store_head(simd, to.add(at.offset), value, at.count)
                }
                Target::Sums(_) => {}
            }
        }
    }
}

/// Rounds the lanes between two integers to nearest even; the first is that of lanes that are not
/// numbers.
#[inline(always)]
fn rounded<S: Simd>(simd: S, value: S::V, [low, high]: [f32; 2]) -> S::I {
    let value = simd.min(simd.max(value, simd.splat(low)), simd.splat(high));
    let magic = simd.splat(MAGIC);
    simd.to_integers(simd.sub(simd.add(value, magic), magic))
}

/// Writes the first lanes, by a function that writes a vector.
///
/// # Safety
/// `to` must have the space for `count` elements, at most the lanes.
#[inline(always)]
unsafe fn store_head<S: Simd, T: Copy + Default>(to: *mut T, count: usize, store: impl Fn(*mut T)) {
    if count == S::LANES {
        return store(to);
    }
    let mut lanes = [T::default(); MAX_LANES];
    store(lanes.as_mut_ptr());
    // SAFETY: the caller guarantees the space.
    unsafe { (0..count).for_each(|at| *to.add(at) = lanes[at]) }
}
