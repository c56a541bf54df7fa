//! Measures for `bench.py`, as a shared library: the peak of an instruction set, and the product of
//! the crate `matrixmultiply`.

use std::time::Instant;

/// Independent sums: more than the latency of an instruction times the number of units.
const SUMS: usize = 12;

/// Rounds of a loop: some 20 us, so that few are interrupted.
const ROUNDS: usize = 4096;

/// Returns the billions of operations per second of a loop of multiply-adds in registers: of f32 if
/// `bits` is 512, 256 or 128, of bytes by VNNI if it is 8. Returns 0 if the processor cannot.
#[unsafe(no_mangle)]
pub extern "C" fn peak(bits: i32) -> f64 {
    match bits {
        // SAFETY: the processor has the instructions.
        #[cfg(target_arch = "x86_64")]
        512 if is_x86_feature_detected!("avx512f") => unsafe { x86::floats_512() },
        // SAFETY: as above; each of these processors with AVX2 has FMA.
        #[cfg(target_arch = "x86_64")]
        256 if is_x86_feature_detected!("avx2") => unsafe { x86::floats_256() },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        8 if is_x86_feature_detected!("avx512vnni") => unsafe { x86::bytes() },
        // SAFETY: each of these processors has NEON.
        #[cfg(target_arch = "aarch64")]
        128 => unsafe { neon::floats() },
        _ => 0.0,
    }
}

/// Multiplies matrices in rows: `c = a b`.
///
/// # Safety
/// The matrices must have the extents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn product(
    [m, k, n]: &[usize; 3],
    a: *const f32,
    b: *const f32,
    c: *mut f32,
) {
    let [row_a, row_b] = [*k as isize, *n as isize];
    // SAFETY: the caller guarantees the extents.
    unsafe {
        matrixmultiply::sgemm(*m, *k, *n, 1.0, a, row_a, 1, b, row_b, 1, 0.0, c, row_b, 1);
    }
}

/// A function that measures a loop of one instruction.
macro_rules! measure {
    ($name:ident, $features:literal, $operations:expr, $zero:expr, $next:expr) => {
        #[target_feature(enable = $features)]
        pub fn $name() -> f64 {
            // Values that the compiler does not know keep it from merging the sums.
            let factor = std::hint::black_box($zero);
            let mut sums = std::hint::black_box([$zero; SUMS]);
            let start = Instant::now();
            for _ in 0..ROUNDS {
                for sum in &mut sums {
                    *sum = $next(*sum, factor);
                }
            }
            let seconds = start.elapsed().as_secs_f64();
            std::hint::black_box(sums);
            (ROUNDS * SUMS * $operations) as f64 / seconds / 1e9
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Instant, ROUNDS, SUMS};

    measure!(floats_512, "avx512f", 32, _mm512_setzero_ps(), |sum, x| _mm512_fmadd_ps(x, x, sum));
    measure!(floats_256, "avx2,fma", 16, _mm256_setzero_ps(), |sum, x| _mm256_fmadd_ps(x, x, sum));
    measure!(bytes, "avx512f,avx512vnni", 128, _mm512_setzero_si512(), |sum, x| {
        _mm512_dpbusd_epi32(sum, x, x)
    });
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    use super::{Instant, ROUNDS, SUMS};

    measure!(floats, "neon", 8, vdupq_n_f32(0.0), |sum, x| vfmaq_f32(sum, x, x));
}
