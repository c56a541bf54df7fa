//! Binary floating-point formats of 4 to 16 bits: float16, bfloat16, and those with 4, 6 and 8 bits
//! of the OCP and of DLPack.
#![forbid(unsafe_code)]

use ferrite::abi::DLDataType;
use ferrite::dtype::code;

/// A format with sign, exponent and mantissa, from the highest bit down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minifloat {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

/// Values of a format that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// Infinities and NaNs in the highest exponent.
    Ieee,
    /// NaN where exponent and mantissa have all bits.
    AllOnes,
    /// NaN in the place of negative zero.
    NegativeZero,
    /// NaN where all bits are set; neither sign nor zero, and no subnormal numbers.
    Unsigned,
    /// Finite values only.
    Finite,
}

impl Minifloat {
    /// Returns the format of a type; `None` for types of other kinds and widths.
    pub fn of(dtype: DLDataType) -> Option<Minifloat> {
        use Special::{AllOnes, Finite, Ieee, NegativeZero, Unsigned};
        const FORMATS: [(u8, u8, u32, u32, i32, Special); 13] = [
            (code::FLOAT, 16, 5, 10, 15, Ieee),
            (code::BFLOAT, 16, 8, 7, 127, Ieee),
            (code::FLOAT8_E3M4, 8, 3, 4, 3, Ieee),
            (code::FLOAT8_E4M3, 8, 4, 3, 7, Ieee),
            (code::FLOAT8_E4M3B11FNUZ, 8, 4, 3, 11, NegativeZero),
            (code::FLOAT8_E4M3FN, 8, 4, 3, 7, AllOnes),
            (code::FLOAT8_E4M3FNUZ, 8, 4, 3, 8, NegativeZero),
            (code::FLOAT8_E5M2, 8, 5, 2, 15, Ieee),
            (code::FLOAT8_E5M2FNUZ, 8, 5, 2, 16, NegativeZero),
            (code::FLOAT8_E8M0FNU, 8, 8, 0, 127, Unsigned),
            (code::FLOAT6_E2M3FN, 6, 2, 3, 1, Finite),
            (code::FLOAT6_E3M2FN, 6, 3, 2, 3, Finite),
            (code::FLOAT4_E2M1FN, 4, 2, 1, 1, Finite),
        ];
        let is_same = |(code, bits, ..): &&(u8, u8, u32, u32, i32, Special)| {
            dtype.code == *code && dtype.bits == *bits
        };
        let (.., exponent_bits, mantissa_bits, bias, special) = *FORMATS.iter().find(is_same)?;
        Some(Minifloat { exponent_bits, mantissa_bits, bias, special })
    }

    /// Returns the value of a bit pattern.
    pub fn decode(self, bits: u16) -> f64 {
        let magnitude = bits & self.magnitude_mask();
        let is_negative = bits != magnitude;
        let value = match self.special {
            Special::NegativeZero if is_negative && magnitude == 0 => f64::NAN,
            Special::Ieee if magnitude == self.largest() + 1 => f64::INFINITY,
            _ if magnitude > self.largest() => f64::NAN,
            _ => self.finite(magnitude),
        };
        if is_negative { -value } else { value }
    }

    /// Returns the bit pattern of the nearest value, of two equally near ones the even pattern.
    /// `None` for numbers beyond the range, and for infinities and NaNs that the format lacks.
    pub fn encode(self, value: f64) -> Option<u16> {
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        if value.is_nan() {
            return self.nan();
        }
        if value.is_infinite() {
            return (self.special == Special::Ieee).then(|| sign | (self.largest() + 1));
        }
        if self.special == Special::Unsigned && value <= 0.0 {
            return None;
        }
        let magnitude = self.nearest(value.abs())?;
        // Formats with NaN in its place have no negative zero.
        let is_positive = magnitude == 0 && self.special == Special::NegativeZero;
        Some(if is_positive { 0 } else { sign | magnitude })
    }

    /// Returns the number to display. For formats of 16 bits that is the shortest decimal number
    /// with these bits, unless it is an integer. Formats of at most 8 bits have so few values that
    /// their digits are exact.
    pub fn display_value(self, bits: u16) -> f64 {
        let value = self.decode(bits);
        let is_narrow = self.exponent_bits + self.mantissa_bits <= 8;
        let is_integer = value.fract() == 0.0 && value.abs() < 1e15;
        if !value.is_finite() || is_narrow || is_integer {
            return value;
        }
        let rounded = |digits: usize| format!("{value:.digits$e}").parse::<f64>().ok();
        // 17 digits are enough for any f64.
        (0..17).filter_map(rounded).find(|short| self.encode(*short) == Some(bits)).unwrap_or(value)
    }

    /// Returns the magnitude whose value is nearest; `None` beyond the range.
    fn nearest(self, value: f64) -> Option<u16> {
        let count = u32::from(self.largest()) + 1;
        let (mut low, mut end) = (0, count);
        while end - low > 1 {
            let middle = (low + end) / 2;
            if self.finite(middle as u16) <= value { low = middle } else { end = middle }
        }
        let between = (self.finite(low as u16) + self.finite(low as u16 + 1)) / 2.0;
        let is_above = value > between || value == between && low % 2 == 1;
        let nearest = if is_above { low + 1 } else { low };
        (nearest < count).then_some(nearest as u16)
    }

    /// Returns the value of a magnitude, as if it were finite.
    fn finite(self, magnitude: u16) -> f64 {
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let is_subnormal = exponent == 0 && self.special != Special::Unsigned;
        let significand = if is_subnormal { mantissa } else { mantissa | 1 << self.mantissa_bits };
        let scale = exponent.max(i32::from(is_subnormal)) - self.bias - self.mantissa_bits as i32;
        f64::from(significand) * 2f64.powi(scale)
    }

    fn magnitude_mask(self) -> u16 {
        ((1u32 << (self.exponent_bits + self.mantissa_bits)) - 1) as u16
    }

    fn sign(self) -> u16 {
        if self.special == Special::Unsigned { 0 } else { self.magnitude_mask() + 1 }
    }

    /// Returns the largest magnitude of a finite value.
    fn largest(self) -> u16 {
        match self.special {
            Special::Ieee => self.magnitude_mask() - (1 << self.mantissa_bits),
            Special::AllOnes | Special::Unsigned => self.magnitude_mask() - 1,
            Special::NegativeZero | Special::Finite => self.magnitude_mask(),
        }
    }

    fn nan(self) -> Option<u16> {
        match self.special {
            Special::Ieee => Some(self.largest() + 1 + (1 << (self.mantissa_bits - 1))),
            Special::AllOnes | Special::Unsigned => Some(self.magnitude_mask()),
            Special::NegativeZero => Some(self.sign()),
            Special::Finite => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    fn format(name: &str) -> Minifloat {
        Minifloat::of(DLDataType::parse(name.as_bytes()).unwrap()).unwrap()
    }

    /// Names, widths, largest values, smallest positive values, and whether there are infinities
    /// and NaNs.
    const RANGES: [(&str, u32, f64, f64, bool, bool); 13] = [
        ("float16", 16, 65504.0, 5.960464477539063e-8, true, true),
        ("bfloat16", 16, 3.3895313892515355e38, 9.183549615799121e-41, true, true),
        ("float8_e3m4", 8, 15.5, 0.015625, true, true),
        ("float8_e4m3", 8, 240.0, 0.001953125, true, true),
        ("float8_e4m3b11fnuz", 8, 30.0, 0.0001220703125, false, true),
        ("float8_e4m3fn", 8, 448.0, 0.001953125, false, true),
        ("float8_e4m3fnuz", 8, 240.0, 0.0009765625, false, true),
        ("float8_e5m2", 8, 57344.0, 1.52587890625e-5, true, true),
        ("float8_e5m2fnuz", 8, 57344.0, 7.62939453125e-6, false, true),
        ("float8_e8m0fnu", 8, 1.7014118346046923e38, 5.877471754111438e-39, false, true),
        ("float6_e2m3fn", 6, 7.5, 0.125, false, false),
        ("float6_e3m2fn", 6, 28.0, 0.0625, false, false),
        ("float4_e2m1fn", 4, 6.0, 0.5, false, false),
    ];

    #[test]
    fn ranges_and_special_values_are_those_of_the_formats() {
        for (name, bits, largest, smallest, has_infinity, has_nan) in RANGES {
            let format = format(name);
            let all: Vec<f64> = (0..1u32 << bits).map(|bits| format.decode(bits as u16)).collect();
            let finite = all.iter().copied().filter(|value| value.is_finite());
            assert_eq!(finite.clone().fold(0.0, f64::max), largest, "{name}");
            assert_eq!(
                finite.filter(|value| *value > 0.0).fold(f64::MAX, f64::min),
                smallest,
                "{name}"
            );
            assert_eq!(all.iter().any(|value| value.is_infinite()), has_infinity, "{name}");
            assert_eq!(all.iter().any(|value| value.is_nan()), has_nan, "{name}");
            assert_eq!(format.encode(f64::INFINITY).is_some(), has_infinity, "{name}");
            assert_eq!(
                format.encode(f64::NAN).map(|bits| format.decode(bits).is_nan()),
                has_nan.then_some(true),
                "{name}"
            );
            assert_eq!(format.encode(largest * 2.0), None, "{name}");
        }
    }

    #[test]
    fn every_value_is_encoded_as_its_bits() {
        for (name, bits, ..) in RANGES {
            let format = format(name);
            for bits in (0..1u32 << bits).map(|bits| bits as u16) {
                let value = format.decode(bits);
                if !value.is_nan() {
                    assert_eq!(format.encode(value), Some(bits), "{name}: {value}");
                    assert_eq!(
                        format.encode(format.display_value(bits)),
                        Some(bits),
                        "{name}: {value}"
                    );
                }
            }
        }
    }

    #[test]
    fn numbers_of_16_bits_are_those_of_the_crate_half() {
        let (halves, brains) = (format("float16"), format("bfloat16"));
        for bits in 0..=u16::MAX {
            let is_same = |one: f64, other: f64| one == other || one.is_nan() && other.is_nan();
            assert!(is_same(halves.decode(bits), f16::from_bits(bits).to_f64()), "{bits:x}");
            assert!(is_same(brains.decode(bits), bf16::from_bits(bits).to_f64()), "{bits:x}");
            // Numbers between two values, of all magnitudes.
            let value = f64::from(f32::from_bits(u32::from(bits) << 16 | 0x8765));
            let expected = f16::from_f64(value);
            if expected.is_finite() {
                assert_eq!(halves.encode(value), Some(expected.to_bits()), "{value}");
            }
            let expected = bf16::from_f64(value);
            if expected.is_finite() {
                assert_eq!(brains.encode(value), Some(expected.to_bits()), "{value}");
            }
        }
    }

    #[test]
    fn numbers_in_the_middle_have_the_even_pattern() {
        let format = format("float4_e2m1fn");
        for (value, rounded) in [
            (0.25, 0.0),
            (0.26, 0.5),
            (0.75, 1.0),
            (1.25, 1.0),
            (2.5, 2.0),
            (3.5, 4.0),
            (5.0, 4.0),
            (-5.1, -6.0),
        ] {
            assert_eq!(
                format.encode(value).map(|bits| format.decode(bits)),
                Some(rounded),
                "{value}"
            );
        }
        assert_eq!((format.encode(6.9), format.encode(7.0)), (Some(7), None));
    }

    #[test]
    fn numbers_are_shown_as_a_user_wrote_them() {
        for (name, value, shown) in [
            ("float16", 0.1, 0.1),
            ("float16", 65504.0, 65504.0),
            ("bfloat16", 3.16, 3.16),
            ("bfloat16", 1e38, 1e38),
            ("float8_e4m3fn", 0.3, 0.3125),
            ("float8_e5m2", 5e4, 49152.0),
        ] {
            let format = format(name);
            assert_eq!(format.display_value(format.encode(value).unwrap()), shown, "{name}");
        }
    }
}
