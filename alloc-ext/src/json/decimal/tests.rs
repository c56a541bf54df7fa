//! Tests that the speed-optimised and size-optimised float conversions agree.

use super::Number;
use super::long_decimal::LongDecimal;
use super::{read as read_number, small as exact};
use crate::json::general::write_general;
use ferrite_core::platform::memory::Buffer;
use std::format;
use std::string::String;

/// Returns the first `N` significant digits without trailing zeros, and the decimal exponent of the
/// first digit.
fn significant_digits<const N: usize>(value: f64) -> (String, i32) {
    let mut number = LongDecimal::new();
    exact::significant_digits::<N>(value, &mut number);
    let digits = number.digits().iter().map(|digit| char::from(b'0' + digit));
    (digits.collect(), number.point - 1)
}

/// Compares the first `N` digits with the formatting of the standard library.
fn check_digits<const N: usize>(value: f64) {
    let expected = format!("{value:.*e}", N - 1);
    let (digits, exponent) = expected.split_once('e').expect("an exponent");
    let digits = digits.replace('.', "");
    assert_eq!(
        significant_digits::<N>(value),
        (digits.trim_end_matches('0').into(), exponent.parse().expect("a number"))
    );
    let mut text = Buffer::new();
    assert!(write_general::<N>(&mut text, value).is_ok());
    assert_eq!(core::str::from_utf8(&text).map(str::parse::<f64>), Ok(expected.parse()));
}

fn read(text: &str) -> Option<f64> {
    let value = read_number(text.as_bytes()).expect("there is memory");
    let other = exact::read(text.as_bytes()).expect("there is memory");
    // Distinguishes all floats, and floats from ints.
    assert_eq!(format!("{value:?}"), format!("{other:?}"), "{text}");
    value.map(|number| match number {
        Number::Int(value) => value as f64,
        Number::Float(value) => value,
    })
}

/// Returns pseudorandom numbers, the same in each run.
fn numbers() -> impl Iterator<Item = u64> {
    core::iter::successors(Some(0x9e37_79b9_7f4a_7c15u64), |last| {
        let mixed = (last ^ last >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Some(mixed ^ mixed >> 32)
    })
}

#[test]
fn texts_that_are_no_numbers_have_no_value() {
    for text in
        ["", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1-2", "--1", "+-1", "1e5.5", "1e1e1", "-."]
    {
        assert_eq!(read(text), None, "{text}");
    }
    for text in ["1.", ".5", "+5", "-0.0", "1E+2", "1e-2", "00012.50", "12e0003"] {
        assert_eq!(read(text), text.parse().ok(), "{text}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of numbers")]
fn both_ways_round_alike() {
    for bits in numbers().take(1_000) {
        let value = f64::from_bits(bits & !(1 << 63));
        if !value.is_finite() {
            continue;
        }
        // Another number not far from 1, some of them with few digits.
        let near = (1 + (bits >> 11 >> (bits % 47))) as f64 / f64::from(1u32 << (bits % 31));
        for value in [value, near] {
            check_digits::<17>(value);
            check_digits::<6>(value);
        }
        assert_eq!(read(&format!("{value:e}")), (value >= f64::MIN_POSITIVE).then_some(value));
        let short = format!("{}.{}e{}", bits % 1000, bits >> 32, bits as i16 % 300);
        assert_eq!(read(&short), short.parse().ok(), "{short}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of digits")]
fn middles_between_floats_are_rounded_to_even() {
    for bits in numbers().take(300) {
        // 54 bits, the last one set, times a power of two.
        let middle = u128::from(bits >> 10 | 1 << 53 | 1) << (bits % 70);
        for text in
            [format!("{middle}"), format!("{middle}.{}1", "0".repeat(900)), format!("{middle}e-40")]
        {
            assert_eq!(read(&text), text.parse().ok(), "{text}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of digits")]
fn rounded_subnormals_are_out_of_range() {
    // Expected results from upstream.
    for text in [
        "5e-324",
        "4.9406564584124654e-324",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "-1e-310",
        "1e-400",
        "1e400",
        "-1e400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
    for text in ["2.2250738585072014e-308", "2.22507385850720138e-308", "1.7976931348623157e308"] {
        assert_eq!(read(text), text.parse().ok(), "{text}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of digits")]
fn subnormals_that_need_no_rounding_are_in_range() {
    for bits in [1, 2, 0x000f_ffff_ffff_ffff, 0x0008_0000_0000_0000, f64::MIN_POSITIVE.to_bits()] {
        let value = f64::from_bits(bits);
        let text = format!("{value:.766e}");
        assert_eq!(read(&text), Some(value));
        assert_eq!(read(&format!("-{value:.1074}000")), Some(-value));
        let more = text.replace('e', "1e");
        assert_eq!(read(&more).is_some(), bits == f64::MIN_POSITIVE.to_bits(), "{bits:x}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of digits")]
fn the_least_normal_float_starts_where_53_bits_round_up_to_it() {
    // 2^-1022 - 2^-1076, half a unit of 53 bits below the smallest normal float.
    let mut edge = times_power_of_five((1 << 54) - 1, 1076);
    assert_eq!(read(&format!("{edge}e-1076")), Some(f64::MIN_POSITIVE));
    assert_eq!(edge.pop(), Some('5'));
    assert_eq!(read(&format!("{edge}4999e-1079")), None);
    // 2^-1022 - 2^-1075 and a little: rounded up to the same float, but not at 53 bits.
    assert_eq!(read(&format!("{}1e-1076", times_power_of_five((1 << 53) - 1, 1075))), None);
}

fn times_power_of_five(mut factor: u64, exponent: usize) -> String {
    let mut digits = std::vec::Vec::new();
    while factor > 0 {
        digits.push((factor % 10) as u8);
        factor /= 10;
    }
    for _ in 0..exponent {
        let mut carry = 0;
        for digit in &mut digits {
            let product = *digit * 5 + carry;
            (*digit, carry) = (product % 10, product / 10);
        }
        digits.extend((carry > 0).then_some(carry));
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

#[test]
fn ints_end_where_64_bits_do() {
    for text in [
        "0",
        "-0",
        "+5",
        "0007",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "00000000000000000000000000000000012",
    ] {
        assert!(read(text).is_some(), "{text}");
    }
}

#[test]
fn zeros_are_in_range_whatever_their_exponent() {
    for text in ["0.0", "0e-99999", "-0e99999999999999999999", ".0", "0."] {
        assert_eq!(read(text).map(f64::abs), Some(0.0), "{text}");
    }
    assert!(read("-0.0").is_some_and(f64::is_sign_negative));
}

#[test]
#[cfg_attr(miri, ignore = "thousands of digits")]
fn exponents_may_make_up_for_long_texts() {
    let zeros = "0".repeat(if cfg!(feature = "std") { 800_000 } else { 61_000 });
    assert_eq!(read(&format!("0.{zeros}15e{}", zeros.len() + 1)), Some(1.5));
    assert_eq!(read(&format!("-15{zeros}e-{}", zeros.len() + 1)), Some(-1.5));
    assert_eq!(read(&format!("0.{zeros}1")), None);
}
