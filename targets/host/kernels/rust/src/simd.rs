//! Functions compiled for several vector units: each call selects the unit of the processor. Sums
//! that compilers turn into vector code.

/// Defines a function whose body is compiled for AVX-512, for AVX2 and for the baseline.
macro_rules! vectorized {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn generic($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
                fn avx512($($arg: $type),*) $(-> $result)? {
                    generic($($arg),*)
                }

                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) $(-> $result)? {
                    generic($($arg),*)
                }

                let level = $crate::simd::level();
                if level == $crate::simd::Level::Avx512 {
                    // SAFETY: the processor has these instructions.
                    #[allow(unsafe_code, reason = "checked above")]
                    return unsafe { avx512($($arg),*) };
                }
                if level == $crate::simd::Level::Avx2 {
                    // SAFETY: the processor has these instructions.
                    #[allow(unsafe_code, reason = "checked above")]
                    return unsafe { avx2($($arg),*) };
                }
            }
            generic($($arg),*)
        }
    };
}
pub(crate) use vectorized;

/// Number of independent sums, whose order is fixed.
const LANES: usize = 32;

/// Returns the sum of `map` of each element.
#[inline(always)]
pub fn sum_of(x: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += map(*x);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|x| map(*x)).sum::<f32>()
}

/// A vector unit.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// 512 bits, and fused multiply-adds.
    Avx512,
    /// 256 bits, and fused multiply-adds.
    Avx2,
    /// 128 bits.
    Baseline,
}

/// Returns the widest vector unit that the processor and this library have.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn level() -> Level {
    let fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw");
    match (fma, wide) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        _ => Level::Baseline,
    }
}
