//! AVX-512: 16 lanes, 32 registers.
#![allow(clippy::undocumented_unsafe_blocks, reason = "one argument for all, below")]
// SAFETY, for each block: `new` is the only constructor, whose caller guarantees that the processor
// has the instructions; the callers of loads and stores guarantee the elements.

use core::arch::x86_64::*;

use super::{MAGIC, Simd, Work};

/// Proof that the processor has AVX-512 F, BW, DQ, VL, and VNNI if that is set.
#[derive(Clone, Copy)]
pub struct Avx512<const VNNI: bool>(());

/// Runs work with AVX-512.
///
/// # Safety
/// The processor must have AVX-512 F, BW, DQ and VL, AVX2, FMA and F16C.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub unsafe fn run<W: Work>(work: W) {
    work.run(Avx512::<false>(()));
}

/// Runs work with AVX-512 and VNNI.
///
/// # Safety
/// The processor must have AVX-512 F, BW, DQ, VL and VNNI, AVX2, FMA and F16C.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")]
pub unsafe fn run_vnni<W: Work>(work: W) {
    work.run(Avx512::<true>(()));
}

impl<const VNNI: bool> Simd for Avx512<VNNI> {
    const LANES: usize = 16;
    const TILE_ROWS: usize = 12;
    const TILE_VECTORS: usize = 2;
    const INTEGER_ROWS: usize = 12;
    const HAS_MASKS: bool = true;
    type V = __m512;
    type I = __m512i;

    #[inline(always)]
    fn call<W: Work>(self, work: W) {
        unsafe { if VNNI { run_vnni(work) } else { run(work) } }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m512 {
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn load_f16(self, from: *const u16) -> __m512 {
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, from: *const u16) -> __m512 {
        unsafe {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: __m512) {
        unsafe { _mm512_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn store_low(self, to: *mut f32, value: __m512) {
        unsafe { _mm256_storeu_ps(to, _mm512_castps512_ps256(value)) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, to: *mut u16, value: __m512) {
        unsafe {
            let half = _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT }>(value);
            _mm256_storeu_si256(to.cast(), half);
        }
    }

    #[inline(always)]
    unsafe fn store_bf16(self, to: *mut u16, value: __m512) {
        unsafe {
            let bits = _mm512_castps_si512(value);
            let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
            let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(value, value);
            let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
            let bits = _mm512_mask_blend_epi32(nan, rounded, quiet);
            let half = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(bits));
            _mm256_storeu_si256(to.cast(), half);
        }
    }

    #[inline(always)]
    unsafe fn load_head(self, from: *const f32, count: usize) -> __m512 {
        unsafe { _mm512_maskz_loadu_ps(((1_u32 << count) - 1) as u16, from) }
    }

    #[inline(always)]
    unsafe fn load_masked(self, from: *const f32, mask: u16) -> __m512 {
        unsafe { _mm512_maskz_loadu_ps(mask, from) }
    }

    #[inline(always)]
    unsafe fn store_head(self, to: *mut f32, value: __m512, count: usize) {
        unsafe { _mm512_mask_storeu_ps(to, ((1_u32 << count) - 1) as u16, value) }
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_min_ps(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn select_less(self, a: __m512, b: __m512, yes: __m512, no: __m512) -> __m512 {
        unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), no, yes) }
    }

    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        unsafe { _mm512_abs_ps(a) }
    }

    #[inline(always)]
    fn copysign(self, a: __m512, b: __m512) -> __m512 {
        unsafe {
            let sign = _mm512_set1_ps(-0.0);
            _mm512_or_ps(_mm512_andnot_ps(sign, a), _mm512_and_ps(sign, b))
        }
    }

    #[inline(always)]
    fn unzip(self, a: __m512, b: __m512) -> (__m512, __m512) {
        unsafe {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
            (_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b))
        }
    }

    #[inline(always)]
    fn exp2_of_magic(self, a: __m512) -> __m512 {
        unsafe {
            let n = _mm512_sub_epi32(_mm512_castps_si512(a), _mm512_set1_epi32(BIAS));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(n))
        }
    }

    #[inline(always)]
    fn splat_integer(self, value: i32) -> __m512i {
        unsafe { _mm512_set1_epi32(value) }
    }

    #[inline(always)]
    unsafe fn load_integers(self, from: *const i32) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_integers(self, to: *mut i32, value: __m512i) {
        unsafe { _mm512_storeu_si512(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8, signed: bool) -> __m512i {
        unsafe {
            let bytes = _mm_loadu_si128(from.cast());
            if signed { _mm512_cvtepi8_epi32(bytes) } else { _mm512_cvtepu8_epi32(bytes) }
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, value: __m512i) {
        unsafe { _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(value)) }
    }

    #[inline(always)]
    fn to_float(self, value: __m512i) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(value) }
    }

    #[inline(always)]
    fn to_integers(self, value: __m512) -> __m512i {
        unsafe { _mm512_cvtps_epi32(value) }
    }

    #[inline(always)]
    fn add_integers(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    fn dot(self, sum: __m512i, unsigned: __m512i, signed: __m512i) -> __m512i {
        unsafe {
            if VNNI {
                return _mm512_dpbusd_epi32(sum, unsigned, signed);
            }
            let even = _mm512_and_si512(unsigned, _mm512_set1_epi16(0xff));
            let odd = _mm512_srli_epi16::<8>(unsigned);
            let even_signed = _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(signed));
            let even = _mm512_madd_epi16(even, even_signed);
            let odd = _mm512_madd_epi16(odd, _mm512_srai_epi16::<8>(signed));
            _mm512_add_epi32(sum, _mm512_add_epi32(even, odd))
        }
    }
}

/// Bits of `MAGIC`, less the bias of exponents.
const BIAS: i32 = MAGIC.to_bits() as i32 - 127;
