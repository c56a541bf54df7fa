//! Depthwise convolution of 8-bit integers by the loops of floats, whose sums are exact.

use super::channels::Input;
use super::output::Output;
use crate::arguments::Result;
use crate::conv::{self, Ends, Geometry};
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
        for channel in 0..channels {
            let (from, to) = (from.wrapping_add(channel * row), channel * taps);
            for tap in 0..taps {
                // SAFETY: the tensor has the weights of each channel, and the workspace the space.
                unsafe { *weights.data().add(to + tap) = f32::from(*from.add(tap).cast::<i8>()) };
            }
        }
        conv::Depthwise { geometry, w: weights.data().cast_const(), ends }.run()
    }
}

impl Ends for Bytes {
    type Weight = f32;

    #[inline(always)]
    fn floats(&self) -> Option<*const f32> {
        None
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(&self, simd: S, from: usize, count: usize) -> S::V {
        // SAFETY: the caller guarantees the elements.
        unsafe { self.input.load(simd, from, count) }
    }

    #[inline(always)]
    unsafe fn copy<S: Simd>(
        &self,
        _: S,
        (from, stride): (usize, usize),
        to: *mut f32,
        count: usize,
    ) {
        let from = (self.input.data.wrapping_add(from), stride);
        // SAFETY: the caller guarantees the elements and the space.
        unsafe { self.input.convert(from, to, count) };
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
