//! Element types in memory: all are computed as f32.

use crate::arguments::Kind;
use crate::simd::{MAX_LANES, Scalar, Simd};

/// Element of a tensor.
pub trait Element: Copy + Send + Sync + 'static {
    /// Element type in arguments.
    const KIND: Kind;
    /// The number zero.
    const ZERO: Self;

    /// Reads a vector.
    ///
    /// # Safety
    /// `from` must have `LANES` readable elements.
    unsafe fn load<S: Simd>(simd: S, from: *const Self) -> S::V;
    /// Writes a vector.
    ///
    /// # Safety
    /// `to` must have `LANES` writable elements.
    unsafe fn store<S: Simd>(simd: S, to: *mut Self, value: S::V);

    /// Reads up to a vector of elements; the other lanes are zero.
    ///
    /// # Safety
    /// `from` must have `count` readable elements.
    #[inline(always)]
    unsafe fn load_head<S: Simd>(simd: S, from: *const Self, count: usize) -> S::V {
        if count >= S::LANES {
            // SAFETY: the caller guarantees the elements.
            return unsafe { Self::load(simd, from) };
        }
        let mut lanes = [Self::ZERO; MAX_LANES];
        // SAFETY: the caller guarantees the elements; the array has 16, a vector at most as many.
        unsafe {
            for (at, lane) in lanes.iter_mut().enumerate().take(count) {
                *lane = *from.add(at);
            }
            Self::load(simd, lanes.as_ptr())
        }
    }

    /// Writes the first lanes of a vector.
    ///
    /// # Safety
    /// `to` must have `count` writable elements.
    #[inline(always)]
    unsafe fn store_head<S: Simd>(simd: S, to: *mut Self, value: S::V, count: usize) {
        if count >= S::LANES {
            // SAFETY: the caller guarantees the elements.
            return unsafe { Self::store(simd, to, value) };
        }
        let mut lanes = [Self::ZERO; MAX_LANES];
        // SAFETY: as in `load_head`.
        unsafe {
            Self::store(simd, lanes.as_mut_ptr(), value);
            for (at, lane) in lanes.iter().enumerate().take(count) {
                *to.add(at) = *lane;
            }
        }
    }

    /// Converts to f32.
    #[inline(always)]
    fn to_f32(self) -> f32 {
        let lanes = [self; MAX_LANES];
        // SAFETY: the array has more elements than lanes.
        let lanes = unsafe { Self::load(Scalar, lanes.as_ptr()) };
        lanes[0]
    }
}

impl Element for f32 {
    const KIND: Kind = Kind::F32;
    const ZERO: Self = 0.0;

    #[inline(always)]
    unsafe fn load<S: Simd>(simd: S, from: *const Self) -> S::V {
        // SAFETY: the caller guarantees the elements.
        unsafe { simd.load(from) }
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(simd: S, to: *mut Self, value: S::V) {
        // SAFETY: the caller guarantees the elements.
        unsafe { simd.store(to, value) }
    }

    #[inline(always)]
    unsafe fn load_head<S: Simd>(simd: S, from: *const Self, count: usize) -> S::V {
        // SAFETY: the caller guarantees the elements.
        unsafe { if count >= S::LANES { simd.load(from) } else { simd.load_head(from, count) } }
    }

    #[inline(always)]
    unsafe fn store_head<S: Simd>(simd: S, to: *mut Self, value: S::V, count: usize) {
        // SAFETY: the caller guarantees the elements.
        unsafe {
            if count >= S::LANES {
                simd.store(to, value)
            } else {
                simd.store_head(to, value, count)
            }
        }
    }
}

/// IEEE half-precision number.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F16(pub u16);

impl Element for F16 {
    const KIND: Kind = Kind::F16;
    const ZERO: Self = F16(0);

    #[inline(always)]
    unsafe fn load<S: Simd>(simd: S, from: *const Self) -> S::V {
        // SAFETY: the caller guarantees the elements.
        unsafe { simd.load_f16(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(simd: S, to: *mut Self, value: S::V) {
        // SAFETY: the caller guarantees the elements.
        unsafe { simd.store_f16(to.cast(), value) }
    }
}

/// bfloat16 number.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl Element for Bf16 {
    const KIND: Kind = Kind::Bf16;
    const ZERO: Self = Bf16(0);

    #[inline(always)]
    unsafe fn load<S: Simd>(simd: S, from: *const Self) -> S::V {
        // SAFETY: the caller guarantees the elements.
        unsafe { simd.load_bf16(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(simd: S, to: *mut Self, value: S::V) {
        // SAFETY: the caller guarantees the elements.
        unsafe { simd.store_bf16(to.cast(), value) }
    }
}
