//! NEON of 64-bit Arm: 4 lanes, 32 registers. Every such processor has it.
#![allow(clippy::undocumented_unsafe_blocks, reason = "one argument for all, below")]
// SAFETY, for each block: the architecture has the instructions; the callers of loads and stores
// guarantee the elements.

use core::arch::aarch64::*;

use super::scalar::{bf16_of, f16_of, f32_of_f16};
use super::{MAGIC, Simd, Work};

/// NEON.
#[derive(Clone, Copy)]
pub struct Neon;

impl Simd for Neon {
    const LANES: usize = 4;
    const TILE_ROWS: usize = 6;
    const TILE_VECTORS: usize = 4;
    const INTEGER_ROWS: usize = 3;
    type V = float32x4_t;
    type I = int32x4_t;

    #[inline(never)]
    fn call<W: Work>(self, work: W) {
        work.run(self);
    }

    #[inline(always)]
    fn splat(self, value: f32) -> float32x4_t {
        unsafe { vdupq_n_f32(value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> float32x4_t {
        unsafe { vld1q_f32(from) }
    }

    // The conversions by NEON are not stable in Rust yet.
    #[inline(always)]
    unsafe fn load_f16(self, from: *const u16) -> float32x4_t {
        let lanes = unsafe { from.cast::<[u16; 4]>().read() }.map(f32_of_f16);
        unsafe { vld1q_f32(lanes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, from: *const u16) -> float32x4_t {
        unsafe { vreinterpretq_f32_u32(vshll_n_u16::<16>(vld1_u16(from))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: float32x4_t) {
        unsafe { vst1q_f32(to, value) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, to: *mut u16, value: float32x4_t) {
        let mut lanes = [0.0; 4];
        unsafe {
            vst1q_f32(lanes.as_mut_ptr(), value);
            to.cast::<[u16; 4]>().write(lanes.map(f16_of));
        }
    }

    #[inline(always)]
    unsafe fn store_bf16(self, to: *mut u16, value: float32x4_t) {
        let mut lanes = [0.0; 4];
        unsafe {
            vst1q_f32(lanes.as_mut_ptr(), value);
            to.cast::<[u16; 4]>().write(lanes.map(bf16_of));
        }
    }

    #[inline(always)]
    fn add(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vaddq_f32(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vsubq_f32(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vmulq_f32(a, b) }
    }

    #[inline(always)]
    fn div(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vdivq_f32(a, b) }
    }

    #[inline(always)]
    fn fma(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        unsafe { vfmaq_f32(c, a, b) }
    }

    #[inline(always)]
    fn min(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        self.select_less(a, b, a, b)
    }

    #[inline(always)]
    fn max(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        self.select_less(b, a, a, b)
    }

    #[inline(always)]
    fn select_less(
        self,
        a: float32x4_t,
        b: float32x4_t,
        yes: float32x4_t,
        no: float32x4_t,
    ) -> float32x4_t {
        unsafe { vbslq_f32(vcltq_f32(a, b), yes, no) }
    }

    #[inline(always)]
    fn abs(self, a: float32x4_t) -> float32x4_t {
        unsafe { vabsq_f32(a) }
    }

    #[inline(always)]
    fn copysign(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vbslq_f32(vdupq_n_u32(1 << 31), b, a) }
    }

    #[inline(always)]
    fn unzip(self, a: float32x4_t, b: float32x4_t) -> (float32x4_t, float32x4_t) {
        unsafe { (vuzp1q_f32(a, b), vuzp2q_f32(a, b)) }
    }

    #[inline(always)]
    fn exp2_of_magic(self, a: float32x4_t) -> float32x4_t {
        unsafe {
            let n = vsubq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(MAGIC.to_bits() - 127));
            vreinterpretq_f32_u32(vshlq_n_u32::<23>(n))
        }
    }

    #[inline(always)]
    fn splat_integer(self, value: i32) -> int32x4_t {
        unsafe { vdupq_n_s32(value) }
    }

    #[inline(always)]
    unsafe fn load_integers(self, from: *const i32) -> int32x4_t {
        unsafe { vreinterpretq_s32_u8(vld1q_u8(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_integers(self, to: *mut i32, value: int32x4_t) {
        unsafe { vst1q_u8(to.cast(), vreinterpretq_u8_s32(value)) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8, signed: bool) -> int32x4_t {
        unsafe {
            let bytes = u64::from(from.cast::<u32>().read_unaligned());
            if signed {
                vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(bytes))))
            } else {
                vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes)))))
            }
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, value: int32x4_t) {
        unsafe {
            let words = vmovn_u32(vreinterpretq_u32_s32(value));
            let bytes = vmovn_u16(vcombine_u16(words, words));
            to.cast::<u32>().write_unaligned(vget_lane_u32::<0>(vreinterpret_u32_u8(bytes)));
        }
    }

    #[inline(always)]
    fn to_float(self, value: int32x4_t) -> float32x4_t {
        unsafe { vcvtq_f32_s32(value) }
    }

    #[inline(always)]
    fn to_integers(self, value: float32x4_t) -> int32x4_t {
        unsafe { vcvtq_s32_f32(value) }
    }

    #[inline(always)]
    fn add_integers(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        unsafe { vaddq_s32(a, b) }
    }

    // By words: unsigned and signed bytes have no common product.
    #[inline(always)]
    fn dot(self, sum: int32x4_t, unsigned: int32x4_t, signed: int32x4_t) -> int32x4_t {
        unsafe {
            let (a, b) = (vreinterpretq_u8_s32(unsigned), vreinterpretq_s8_s32(signed));
            let low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(a)));
            let high = vreinterpretq_s16_u16(vmovl_high_u8(a));
            let (b_low, b_high) = (vmovl_s8(vget_low_s8(b)), vmovl_high_s8(b));
            let pairs = |a, b| {
                let first = vmull_s16(vget_low_s16(a), vget_low_s16(b));
                vpaddq_s32(first, vmull_high_s16(a, b))
            };
            vaddq_s32(sum, vpaddq_s32(pairs(low, b_low), pairs(high, b_high)))
        }
    }
}
