//! Vectors of f32: one interface, an implementation for each instruction set, and the choice
//! between them.
//!
//! A value of an implementation proves that the processor has the instructions, so that its methods
//! are safe. [`run`] compiles a [`Work`] for the instruction set by inlining it into a function
//! with the target features: all code below it is `#[inline(always)]`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

pub use level::{Level, run, run_integers};
pub use scalar::Scalar;

/// Code that is compiled for each instruction set.
pub trait Work {
    /// Runs with the vectors of an instruction set. Must be `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S);
}

/// Vectors of f32 of an instruction set.
pub trait Simd: Copy {
    /// Number of lanes: a divisor of 16.
    const LANES: usize;
    /// Rows of the largest tile of a matrix product: a divisor of 12.
    const TILE_ROWS: usize;
    /// Vectors in a row of the largest tile.
    const TILE_VECTORS: usize;
    /// Rows of the largest tile of a product of integers: a divisor of 12.
    const INTEGER_ROWS: usize;
    /// Whether reading with a mask costs no more than without.
    const HAS_MASKS: bool = false;
    /// Vector of f32.
    type V: Copy;
    /// Vector of i32, or of four bytes in each lane.
    type I: Copy;

    /// Runs work with these vectors, as a separate function: callers share its code.
    fn call<W: Work>(self, work: W);

    /// Returns a vector of equal lanes.
    fn splat(self, value: f32) -> Self::V;
    /// Reads a vector.
    ///
    /// # Safety
    /// `from` must have `LANES` readable elements.
    unsafe fn load(self, from: *const f32) -> Self::V;
    /// Reads a vector of IEEE half-precision numbers.
    ///
    /// # Safety
    /// `from` must have `LANES` readable elements.
    unsafe fn load_f16(self, from: *const u16) -> Self::V;
    /// Reads a vector of bfloat16 numbers.
    ///
    /// # Safety
    /// `from` must have `LANES` readable elements.
    unsafe fn load_bf16(self, from: *const u16) -> Self::V;
    /// Writes a vector.
    ///
    /// # Safety
    /// `to` must have `LANES` writable elements.
    unsafe fn store(self, to: *mut f32, value: Self::V);
    /// Writes at least the lower half of the lanes of a vector.
    ///
    /// # Safety
    /// `to` must have `LANES` writable elements.
    #[inline(always)]
    unsafe fn store_low(self, to: *mut f32, value: Self::V) {
        // SAFETY: the caller guarantees the elements.
        unsafe { self.store(to, value) }
    }

    /// Writes a vector as IEEE half-precision numbers, rounded to nearest even.
    ///
    /// # Safety
    /// `to` must have `LANES` writable elements.
    unsafe fn store_f16(self, to: *mut u16, value: Self::V);
    /// Writes a vector as bfloat16 numbers, rounded to nearest even.
    ///
    /// # Safety
    /// `to` must have `LANES` writable elements.
    unsafe fn store_bf16(self, to: *mut u16, value: Self::V);

    /// Reads `count` elements, fewer than lanes; the other lanes are zero.
    ///
    /// # Safety
    /// `from` must have `count` readable elements.
    #[inline(always)]
    unsafe fn load_head(self, from: *const f32, count: usize) -> Self::V {
        let mut lanes = [0.0; MAX_LANES];
        // SAFETY: the caller guarantees the elements; a vector is at most as long as the array.
        unsafe {
            for (at, lane) in lanes.iter_mut().enumerate().take(count) {
                *lane = *from.add(at);
            }
            self.load(lanes.as_ptr())
        }
    }

    /// Reads the elements whose bit in a mask is set; the other lanes are zero.
    ///
    /// # Safety
    /// `from` must have the readable elements of the bits.
    #[inline(always)]
    unsafe fn load_masked(self, from: *const f32, mask: u16) -> Self::V {
        let mut lanes = [0.0; MAX_LANES];
        // SAFETY: the caller guarantees the elements; a vector is at most as long as the array.
        unsafe {
            for (at, lane) in lanes.iter_mut().enumerate().take(Self::LANES) {
                if mask >> at & 1 == 1 {
                    *lane = *from.wrapping_add(at);
                }
            }
            self.load(lanes.as_ptr())
        }
    }

    /// Writes the first `count` lanes, fewer than all.
    ///
    /// # Safety
    /// `to` must have `count` writable elements.
    #[inline(always)]
    unsafe fn store_head(self, to: *mut f32, value: Self::V, count: usize) {
        let mut lanes = [0.0; MAX_LANES];
        // SAFETY: as in `load_head`.
        unsafe {
            self.store(lanes.as_mut_ptr(), value);
            for (at, lane) in lanes.iter().enumerate().take(count) {
                *to.add(at) = *lane;
            }
        }
    }

    /// Returns `a + b`.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a - b`.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a * b`.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a / b`.
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a * b + c`, rounded once where the processor can.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Returns the smaller lanes; those of `b` where one is not a number.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the larger lanes; those of `b` where one is not a number.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the lanes of `yes` where `a < b`, and of `no` elsewhere.
    fn select_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Returns the absolute values.
    fn abs(self, a: Self::V) -> Self::V;
    /// Returns the magnitudes of `a` with the signs of `b`.
    fn copysign(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the lanes with even numbers and those with odd ones, of `a` first.
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Returns `2^n` for integers `n` from -126 to 127, given as `n + MAGIC`.
    fn exp2_of_magic(self, a: Self::V) -> Self::V;

    /// Returns a vector of equal integers.
    fn splat_integer(self, value: i32) -> Self::I;
    /// Reads a vector of integers, of any alignment.
    ///
    /// # Safety
    /// `from` must have `LANES` readable elements.
    unsafe fn load_integers(self, from: *const i32) -> Self::I;
    /// Writes a vector of integers, of any alignment.
    ///
    /// # Safety
    /// `to` must have `LANES` writable elements.
    unsafe fn store_integers(self, to: *mut i32, value: Self::I);
    /// Reads signed or unsigned bytes as integers.
    ///
    /// # Safety
    /// `from` must have `LANES` readable bytes.
    unsafe fn load_bytes(self, from: *const u8, signed: bool) -> Self::I;
    /// Writes the low bytes of integers.
    ///
    /// # Safety
    /// `to` must have `LANES` writable bytes.
    unsafe fn store_bytes(self, to: *mut u8, value: Self::I);
    /// Converts integers, rounded to nearest even.
    fn to_float(self, value: Self::I) -> Self::V;
    /// Converts numbers that are integers.
    fn to_integers(self, value: Self::V) -> Self::I;
    /// Returns `a + b`, which wraps.
    fn add_integers(self, a: Self::I, b: Self::I) -> Self::I;
    /// Returns `sum` plus, for each lane, the products of four unsigned and four signed bytes. Sums
    /// wrap; products and partial sums are exact.
    fn dot(self, sum: Self::I, unsigned: Self::I, signed: Self::I) -> Self::I;
}

/// Largest number of lanes.
pub const MAX_LANES: usize = 16;

/// Added to a number below 2^22 and subtracted again, rounds it to an integer.
pub const MAGIC: f32 = 12_582_912.0;
