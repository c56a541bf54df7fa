//! Detection of the instruction set, once.

use core::sync::atomic::{AtomicU8, Ordering};

use super::{Scalar, Simd, Work};

/// Instruction set that the kernels use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Portable code.
    Scalar = 1,
    /// NEON, or AVX2 with FMA and F16C.
    Middle = 2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512 = 3,
    /// These and AVX-512 VNNI.
    Avx512Vnni = 4,
}

static DETECTED: AtomicU8 = AtomicU8::new(0);

impl Level {
    /// Returns the instruction set of the processor; detected on the first call.
    pub fn current() -> Self {
        #[cfg(test)]
        if let Some(level) = FORCED.get() {
            return level;
        }
        match DETECTED.load(Ordering::Relaxed) {
            1 => Level::Scalar,
            2 => Level::Middle,
            3 => Level::Avx512,
            4 => Level::Avx512Vnni,
            _ => {
                let level = detect();
                DETECTED.store(level as u8, Ordering::Relaxed);
                level
            }
        }
    }
}

impl Level {
    /// Returns the `HAS_MASKS` of the vectors that [`run`] uses.
    pub fn has_masks(self) -> bool {
        match self {
            Level::Avx512 | Level::Avx512Vnni => true,
            Level::Scalar => <Scalar as Simd>::HAS_MASKS,
            Level::Middle => false,
        }
    }
}

/// Runs work on vectors of the instruction set.
pub fn run<W: Work>(level: Level, work: W) {
    match level {
        // SAFETY: levels above `Scalar` are those that `detect` found.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx512Vnni => unsafe { super::avx512::run(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Middle => unsafe { super::avx2::run(work) },
        #[cfg(target_arch = "aarch64")]
        Level::Middle => work.run(super::neon::Neon),
        _ => work.run(Scalar),
    }
}

/// Runs work on integers: by AVX-512 where it has VNNI, otherwise by AVX2.
pub fn run_integers<W: Work>(level: Level, work: W) {
    match level {
        // SAFETY: as in `run`.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => unsafe { super::avx512::run_vnni(work) },
        // SAFETY: as in `run`; the processor has AVX2, too.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { super::avx2::run(work) },
        _ => run(level, work),
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn detect() -> Level {
    Level::Scalar
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
fn detect() -> Level {
    Level::Middle
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn detect() -> Level {
    use core::arch::x86_64::{__cpuid, __cpuid_count};

    /// Registers that the system saves: SSE and AVX, and in addition those of AVX-512.
    const AVX: u64 = 0b110;
    const AVX512: u64 = AVX | 0b1110_0000;
    const FMA_OSXSAVE_AVX_F16C: u32 = 1 << 12 | 1 << 27 | 1 << 28 | 1 << 29;
    const AVX2: u32 = 1 << 5;
    const F_DQ_BW_VL: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    const VNNI: u32 = 1 << 11;

    if __cpuid(0).eax < 7 || __cpuid(1).ecx & FMA_OSXSAVE_AVX_F16C != FMA_OSXSAVE_AVX_F16C {
        return Level::Scalar;
    }
    // SAFETY: the system enabled XGETBV.
    let saved = unsafe { saved_registers() };
    let leaf = __cpuid_count(7, 0);
    let features = leaf.ebx;
    if saved & AVX != AVX || features & AVX2 == 0 {
        Level::Scalar
    } else if saved & AVX512 == AVX512 && features & F_DQ_BW_VL == F_DQ_BW_VL {
        if leaf.ecx & VNNI == VNNI { Level::Avx512Vnni } else { Level::Avx512 }
    } else {
        Level::Middle
    }
}

/// Returns the registers that the system saves when it changes threads.
///
/// # Safety
/// The system must have enabled XGETBV.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "xsave")]
unsafe fn saved_registers() -> u64 {
    // SAFETY: register 0 exists; the caller guarantees the instruction.
    unsafe { core::arch::x86_64::_xgetbv(0) }
}

#[cfg(test)]
std::thread_local! {
    static FORCED: core::cell::Cell<Option<Level>> = const { core::cell::Cell::new(None) };
}

#[cfg(test)]
impl Level {
    /// Runs a test on the calling thread with each level that the processor has.
    pub fn each(test: impl Fn(Level)) {
        Self::each_of(&[Level::Scalar, Level::Middle, Level::Avx512], test);
    }

    /// Runs a test of integers as `each` does.
    pub fn each_of_integers(test: impl Fn(Level)) {
        Self::each_of(&[Level::Scalar, Level::Middle, Level::Avx512Vnni], test);
    }

    fn each_of(levels: &[Level], test: impl Fn(Level)) {
        let detected = detect();
        for &level in levels {
            if level <= detected {
                FORCED.set(Some(level));
                test(level);
            }
        }
        FORCED.set(None);
    }
}
