//! Integers at which the sums of output channels begin, and factors of these sums.

use super::SIGN;
use crate::arguments::{Arguments, Kind, Result, Tensor};
use crate::matmul::COLUMNS;
use crate::scratch::Scratch;
use crate::simd::{MAX_LANES, Simd};

/// Values for each output channel, up to the end of a panel.
pub struct Channels {
    memory: Scratch,
    len: usize,
}

// SAFETY: tasks only read the values.
unsafe impl Sync for Channels {}

/// Input with its zero point.
#[derive(Clone, Copy)]
pub struct Input {
    /// First element.
    pub data: *const u8,
    /// Whether elements are signed.
    pub is_signed: bool,
    /// Zero point of the elements as unsigned integers.
    pub zero: u8,
}

impl Input {
    /// Reads the zero point of an input.
    ///
    /// # Errors
    /// TypeError or ValueError that names the argument.
    pub fn read(args: &Arguments<'_>, x: &Tensor<'_>, zero: usize) -> Result<Self> {
        let kind = x.expect_kinds(&[Kind::U8, Kind::I8])?;
        let is_signed = kind == Kind::I8;
        let zero = match args.optional(zero, "zero")? {
            // SAFETY: the tensor has one element of one byte.
            Some(zero) => unsafe { *zero.expect_kind(kind)?.expect_len(1)?.data::<u8>() },
            None => 0,
        };
        Ok(Self { data: x.data(), is_signed, zero: zero ^ if is_signed { SIGN } else { 0 } })
    }

    /// Returns the bits that make elements unsigned.
    #[inline(always)]
    fn flip(&self) -> u8 {
        if self.is_signed { SIGN } else { 0 }
    }

    /// Copies bytes at a distance, as unsigned integers.
    ///
    /// # Safety
    /// `from` must have the bytes, and `to` the space.
    #[inline(always)]
    pub unsafe fn copy(&self, from: (*const u8, usize), to: *mut u8, count: usize) {
        let flip = self.flip();
        // SAFETY: the caller guarantees the bytes and the space.
        unsafe { each(from, count, |at, byte| *to.add(at) = byte ^ flip) };
    }

    /// Reads bytes from an offset on, less the zero point: a vector, or `count` if these are fewer.
    ///
    /// # Safety
    /// The input must have the bytes.
    #[inline(always)]
    pub unsafe fn load<S: Simd>(&self, simd: S, from: usize, count: usize) -> S::V {
        let from = self.data.wrapping_add(from);
        let zero = i32::from(self.zero) - i32::from(self.flip());
        // SAFETY: the caller guarantees the bytes, and the array has those of a vector.
        let value = unsafe {
            if count >= S::LANES {
                simd.load_bytes(from, self.is_signed)
            } else {
                let mut bytes = [0; MAX_LANES];
                (0..count).for_each(|at| bytes[at] = *from.add(at));
                simd.load_bytes(bytes.as_ptr(), self.is_signed)
            }
        };
        simd.sub(simd.to_float(value), simd.splat(zero as f32))
    }

    /// Converts bytes at a distance, less the zero point.
    ///
    /// # Safety
    /// `from` must have the bytes, and `to` the space.
    #[inline(always)]
    pub unsafe fn convert(&self, from: (*const u8, usize), to: *mut f32, count: usize) {
        let (flip, zero) = (self.flip(), i32::from(self.zero));
        // SAFETY: the caller guarantees the bytes and the space.
        unsafe {
            each(from, count, |at, byte| *to.add(at) = (i32::from(byte ^ flip) - zero) as f32)
        };
    }
}

/// Calls a function with the numbers of bytes at a distance, and the bytes.
///
/// # Safety
/// `from` must have the bytes.
#[inline(always)]
unsafe fn each((from, stride): (*const u8, usize), count: usize, mut visit: impl FnMut(usize, u8)) {
    // SAFETY: the caller guarantees the bytes. Known strides let the compiler vectorise.
    unsafe {
        match stride {
            1 => (0..count).for_each(|at| visit(at, *from.add(at))),
            2 => (0..count).for_each(|at| visit(at, *from.add(2 * at))),
            _ => (0..count).for_each(|at| visit(at, *from.add(stride * at))),
        }
    }
}

impl Channels {
    /// Calculates the values of `count` channels, each of which has the sum of its weights.
    ///
    /// # Errors
    /// Those of workspaces, TypeError or ValueError that names `scale` or `bias`.
    pub fn new(
        count: usize,
        zero: u8,
        (scale, bias): (Option<Tensor<'_>>, Option<Tensor<'_>>),
        weights: impl Fn(usize) -> i32,
    ) -> Result<Self> {
        let len = count.next_multiple_of(COLUMNS);
        let channels = Self { memory: Scratch::zeros(2 * len)?, len };
        let (starts, scales) = (channels.memory.data().cast::<i32>(), channels.scales());
        let bias = match bias {
            Some(bias) => bias.expect_kind(Kind::I32)?.expect_len(count)?.data::<i32>(),
            None => core::ptr::null_mut(),
        };
        let scale = match scale {
            Some(scale) if scale.len() == 1 => (scale.expect_kind(Kind::F32)?.data::<f32>(), 0),
            Some(scale) => (scale.expect_kind(Kind::F32)?.expect_len(count)?.data(), 1),
            None => (core::ptr::null_mut(), 0),
        };
        for channel in 0..count {
            // SAFETY: the workspace has two numbers for each channel, the tensors one, at a
            // distance of zero the same.
            unsafe {
                let bias = if bias.is_null() { 0 } else { *bias.add(channel) };
                let shift = i32::from(zero).wrapping_mul(weights(channel));
                *starts.add(channel) = bias.wrapping_sub(shift);
                if !scale.0.is_null() {
                    *scales.add(channel) = *scale.0.add(channel * scale.1);
                }
            }
        }
        Ok(channels)
    }

    /// Returns the integer at which the first channel begins.
    pub fn starts(&self) -> *const i32 {
        self.memory.data().cast()
    }

    /// Returns the factor of the first channel.
    pub fn scales(&self) -> *mut f32 {
        self.memory.data().wrapping_add(self.len)
    }
}
