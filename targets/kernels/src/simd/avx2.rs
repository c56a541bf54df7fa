//! AVX2 with FMA: 8 lanes, 16 registers.
#![allow(clippy::undocumented_unsafe_blocks, reason = "one argument for all, below")]
// SAFETY, for each block: `new` is the only constructor, whose caller guarantees that the processor
// has the instructions; the callers of loads and stores guarantee the elements.

use core::arch::x86_64::*;

use super::{MAGIC, Simd, Work};

/// Proof that the processor has AVX2, FMA and F16C.
#[derive(Clone, Copy)]
pub struct Avx2(());

/// Runs work with AVX2.
///
/// # Safety
/// The processor must have AVX2, FMA and F16C.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub unsafe fn run<W: Work>(work: W) {
    work.run(Avx2(()));
}

/// Returns a mask of the first lanes.
#[inline(always)]
fn head(count: usize) -> __m256i {
    unsafe {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes)
    }
}

impl Simd for Avx2 {
    const LANES: usize = 8;
    const TILE_ROWS: usize = 6;
    const TILE_VECTORS: usize = 2;
    const INTEGER_ROWS: usize = 4;
    type V = __m256;
    type I = __m256i;

    #[inline(always)]
    fn call<W: Work>(self, work: W) {
        unsafe { run(work) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m256 {
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m256 {
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn load_f16(self, from: *const u16) -> __m256 {
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, from: *const u16) -> __m256 {
        unsafe {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: __m256) {
        unsafe { _mm256_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, to: *mut u16, value: __m256) {
        unsafe {
            let half = _mm256_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT }>(value);
            _mm_storeu_si128(to.cast(), half);
        }
    }

    #[inline(always)]
    unsafe fn store_bf16(self, to: *mut u16, value: __m256) {
        unsafe {
            let bits = _mm256_castps_si256(value);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
            let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(value, value));
            let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
            let bits = _mm256_srli_epi32::<16>(_mm256_blendv_epi8(rounded, quiet, nan));
            let half = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(bits, bits));
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(half));
        }
    }

    #[inline(always)]
    unsafe fn load_head(self, from: *const f32, count: usize) -> __m256 {
        unsafe { _mm256_maskload_ps(from, head(count)) }
    }

    #[inline(always)]
    unsafe fn store_head(self, to: *mut f32, value: __m256, count: usize) {
        unsafe { _mm256_maskstore_ps(to, head(count), value) }
    }

    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_div_ps(a, b) }
    }

    #[inline(always)]
    fn fma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn min(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_min_ps(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_max_ps(a, b) }
    }

    #[inline(always)]
    fn select_less(self, a: __m256, b: __m256, yes: __m256, no: __m256) -> __m256 {
        unsafe { _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) }
    }

    #[inline(always)]
    fn abs(self, a: __m256) -> __m256 {
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
    }

    #[inline(always)]
    fn copysign(self, a: __m256, b: __m256) -> __m256 {
        unsafe {
            let sign = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, b))
        }
    }

    #[inline(always)]
    fn unzip(self, a: __m256, b: __m256) -> (__m256, __m256) {
        unsafe {
            // Quarters of `a`, `b`, `a` and `b`.
            let even = _mm256_castps_pd(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
            let odd = _mm256_castps_pd(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
            let [even, odd] =
                [even, odd].map(|pairs| _mm256_permute4x64_pd::<0b11_01_10_00>(pairs));
            (_mm256_castpd_ps(even), _mm256_castpd_ps(odd))
        }
    }

    #[inline(always)]
    fn exp2_of_magic(self, a: __m256) -> __m256 {
        unsafe {
            let n = _mm256_sub_epi32(_mm256_castps_si256(a), _mm256_set1_epi32(BIAS));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(n))
        }
    }

    #[inline(always)]
    fn splat_integer(self, value: i32) -> __m256i {
        unsafe { _mm256_set1_epi32(value) }
    }

    #[inline(always)]
    unsafe fn load_integers(self, from: *const i32) -> __m256i {
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_integers(self, to: *mut i32, value: __m256i) {
        unsafe { _mm256_storeu_si256(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8, signed: bool) -> __m256i {
        unsafe {
            let bytes = _mm_loadl_epi64(from.cast());
            if signed { _mm256_cvtepi8_epi32(bytes) } else { _mm256_cvtepu8_epi32(bytes) }
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, value: __m256i) {
        unsafe {
            let low = _mm256_set1_epi32(0x0c_08_04_00);
            let bytes = _mm256_shuffle_epi8(value, low);
            let [first, second] =
                [_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes)];
            _mm_storel_epi64(to.cast(), _mm_unpacklo_epi32(first, second));
        }
    }

    #[inline(always)]
    fn to_float(self, value: __m256i) -> __m256 {
        unsafe { _mm256_cvtepi32_ps(value) }
    }

    #[inline(always)]
    fn to_integers(self, value: __m256) -> __m256i {
        unsafe { _mm256_cvtps_epi32(value) }
    }

    #[inline(always)]
    fn add_integers(self, a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_add_epi32(a, b) }
    }

    // By words: the instruction for bytes saturates sums of two products.
    #[inline(always)]
    fn dot(self, sum: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        unsafe {
            let even = _mm256_and_si256(unsigned, _mm256_set1_epi16(0xff));
            let odd = _mm256_srli_epi16::<8>(unsigned);
            let even_signed = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(signed));
            let even = _mm256_madd_epi16(even, even_signed);
            let odd = _mm256_madd_epi16(odd, _mm256_srai_epi16::<8>(signed));
            _mm256_add_epi32(sum, _mm256_add_epi32(even, odd))
        }
    }
}

/// Bits of `MAGIC`, less the bias of exponents.
const BIAS: i32 = MAGIC.to_bits() as i32 - 127;
