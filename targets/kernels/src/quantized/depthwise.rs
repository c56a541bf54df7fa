//! Depthwise convolution of 8-bit integers by the loops of floats, whose sums are exact.

use core::ops::Range;

use super::channels::Input;
use super::output::Output;
use crate::arguments::Result;
use crate::conv::{self, Ends, Geometry, Padded};
use crate::epilogue::Place;
use crate::scratch::Scratch;
use crate::simd::Simd;

/// Number of taps whose sum is below 2^24, up to which f32 has each integer.
const MOST_TAPS: usize = (1 << 24) / (255 * 128);

/// Depthwise convolution.
pub struct Depthwise {
    /// Geometry.
    pub geometry: Geometry,
    /// First row of packed weights, after its sum, and the distance of rows.
    pub weights: (*const u8, usize),
    /// Input and output.
    pub ends: Bytes,
}

/// Input of integers, and output. Sums begin without the zero point, since inputs do not have it.
#[derive(Clone, Copy)]
pub struct Bytes {
    /// Input.
    pub input: Input,
    /// Output.
    pub output: Output,
}

impl Depthwise {
    /// Returns `true` for a geometry with few enough taps.
    pub fn serves(geometry: &Geometry) -> bool {
        geometry.is_depthwise() && geometry.taps() <= MOST_TAPS
    }

    /// Calculates the output.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub fn run(&self) -> Result<()> {
        let Self { geometry, weights: (from, row), ends } = *self;
        let (channels, taps) = (geometry.groups * geometry.outputs, geometry.taps());
        let weights = Scratch::new(channels.saturating_mul(taps))?;
        for at in 0..channels * taps {
            let offset = at / taps * row + at % taps;
            // SAFETY: the tensor has the weights of each channel, and the workspace the space.
            unsafe { *weights.data().add(at) = f32::from(*from.add(offset).cast::<i8>()) };
        }
        conv::Depthwise { geometry, w: weights.data().cast_const(), ends }.run()
    }
}

impl Ends for Bytes {
    type Weight = f32;

    #[inline(always)]
    unsafe fn fill<S: Simd>(
        &self,
        _: S,
        layout: &Padded,
        offset: usize,
        rows: Range<usize>,
        to: *mut f32,
    ) {
        let plane = self.input.data.wrapping_add(offset);
        layout.for_each_row(rows, |from, at, count| {
            let from = (plane.wrapping_add(from), layout.stride());
            // SAFETY: the columns are inside of the row, and the caller guarantees the space.
            unsafe { self.input.convert(from, to.wrapping_add(at), count) };
        });
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(&self, simd: S, at: Place, sum: S::V) {
        // SAFETY: the caller guarantees the elements; the channels have the row.
        unsafe {
            let start = self.output.start(simd, at.row, at.column);
            self.output.store(simd, at, simd.add_integers(start, simd.to_integers(sum)));
        }
    }
}
