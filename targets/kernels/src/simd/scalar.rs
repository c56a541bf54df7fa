//! Arrays of four lanes, for every processor: the compiler vectorises them where it can.

use core::array;

use super::{MAGIC, Simd, Work};

/// Portable lanes.
#[derive(Clone, Copy)]
pub struct Scalar;

type Lanes = [f32; 4];

#[inline(always)]
fn zip(a: Lanes, b: Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    array::from_fn(|i| f(a[i], b[i]))
}

impl Simd for Scalar {
    const LANES: usize = 4;
    const TILE_ROWS: usize = 3;
    const TILE_VECTORS: usize = 2;
    const INTEGER_ROWS: usize = 2;
    // So that tests, and Miri, run the code.
    const HAS_MASKS: bool = cfg!(test);
    type V = Lanes;
    type I = [i32; 4];

    #[inline(never)]
    fn call<W: Work>(self, work: W) {
        work.run(self);
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Lanes {
        [value; 4]
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Lanes {
        // SAFETY: the caller guarantees the elements, and their alignment is that of the array.
        unsafe { from.cast::<Lanes>().read() }
    }

    #[inline(always)]
    unsafe fn load_f16(self, from: *const u16) -> Lanes {
        // SAFETY: as in `load`.
        unsafe { from.cast::<[u16; 4]>().read() }.map(f32_of_f16)
    }

    #[inline(always)]
    unsafe fn load_bf16(self, from: *const u16) -> Lanes {
        // SAFETY: as in `load`.
        unsafe { from.cast::<[u16; 4]>().read() }.map(f32_of_bf16)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: Lanes) {
        // SAFETY: as in `load`.
        unsafe { to.cast::<Lanes>().write(value) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, to: *mut u16, value: Lanes) {
        // SAFETY: as in `load`.
        unsafe { to.cast::<[u16; 4]>().write(value.map(f16_of)) }
    }

    #[inline(always)]
    unsafe fn store_bf16(self, to: *mut u16, value: Lanes) {
        // SAFETY: as in `load`.
        unsafe { to.cast::<[u16; 4]>().write(value.map(bf16_of)) }
    }

    #[inline(always)]
    fn add(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a / b)
    }

    #[inline(always)]
    fn fma(self, a: Lanes, b: Lanes, c: Lanes) -> Lanes {
        array::from_fn(|i| a[i] * b[i] + c[i])
    }

    #[inline(always)]
    fn min(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn select_less(self, a: Lanes, b: Lanes, yes: Lanes, no: Lanes) -> Lanes {
        array::from_fn(|i| if a[i] < b[i] { yes[i] } else { no[i] })
    }

    #[inline(always)]
    fn abs(self, a: Lanes) -> Lanes {
        a.map(f32::abs)
    }

    #[inline(always)]
    fn copysign(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, f32::copysign)
    }

    #[inline(always)]
    fn unzip(self, a: Lanes, b: Lanes) -> (Lanes, Lanes) {
        ([a[0], a[2], b[0], b[2]], [a[1], a[3], b[1], b[3]])
    }

    #[inline(always)]
    fn exp2_of_magic(self, a: Lanes) -> Lanes {
        a.map(|a| f32::from_bits(a.to_bits().wrapping_sub(MAGIC.to_bits() - 127) << 23))
    }

    #[inline(always)]
    fn splat_integer(self, value: i32) -> [i32; 4] {
        [value; 4]
    }

    #[inline(always)]
    unsafe fn load_integers(self, from: *const i32) -> [i32; 4] {
        // SAFETY: the caller guarantees the elements.
        unsafe { from.cast::<[i32; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store_integers(self, to: *mut i32, value: [i32; 4]) {
        // SAFETY: the caller guarantees the elements.
        unsafe { to.cast::<[i32; 4]>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8, signed: bool) -> [i32; 4] {
        // SAFETY: the caller guarantees the bytes.
        let bytes = unsafe { from.cast::<[u8; 4]>().read() };
        if signed { bytes.map(|byte| i32::from(byte as i8)) } else { bytes.map(i32::from) }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, value: [i32; 4]) {
        // SAFETY: the caller guarantees the bytes.
        unsafe { to.cast::<[u8; 4]>().write(value.map(|lane| lane as u8)) }
    }

    #[inline(always)]
    fn to_float(self, value: [i32; 4]) -> Lanes {
        value.map(|value| value as f32)
    }

    #[inline(always)]
    fn to_integers(self, value: Lanes) -> [i32; 4] {
        value.map(|value| value as i32)
    }

    #[inline(always)]
    fn add_integers(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn dot(self, sum: [i32; 4], unsigned: [i32; 4], signed: [i32; 4]) -> [i32; 4] {
        array::from_fn(|lane| {
            let pairs = unsigned[lane].to_ne_bytes().into_iter().zip(signed[lane].to_ne_bytes());
            pairs.fold(sum[lane], |sum, (a, b)| {
                sum.wrapping_add(i32::from(a) * i32::from(b.cast_signed()))
            })
        })
    }
}

/// Converts a bfloat16 number.
#[inline(always)]
pub fn f32_of_bf16(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// Converts to bfloat16, rounded to nearest even.
#[inline(always)]
pub fn bf16_of(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return ((bits >> 16) | 0x40) as u16;
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

/// Converts an IEEE half-precision number.
#[inline(always)]
pub fn f32_of_f16(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7fff);
    let sign = u32::from(half & 0x8000) << 16;
    // The exponent is re-biased by a product, which also normalises subnormal numbers.
    let value = f32::from_bits(magnitude << 13) * f32::from_bits((254 - 15) << 23);
    let value =
        if magnitude >= 0x7c00 { f32::from_bits(0x7f80_0000 | (magnitude << 13)) } else { value };
    f32::from_bits(value.to_bits() | sign)
}

/// Converts to an IEEE half-precision number, rounded to nearest even.
#[inline(always)]
pub fn f16_of(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00 | ((magnitude >> 13) & 0x3ff)
    } else if magnitude >= 0x4780_0000 {
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // Subnormal: the addition aligns the mantissa and rounds it.
        (f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000
    } else {
        (magnitude - 0x3800_0000 + 0xfff + ((magnitude >> 13) & 1)) >> 13
    };
    sign | half as u16
}
