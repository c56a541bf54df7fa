//! Tests of random numbers: those of a seed, ranges, and errors.

use super::*;
use crate::builtins::testing::{call, failure, read_only};

fn empty(shape: &[i64], dtype: DLDataType) -> Tensor {
    Tensor::empty(shape, dtype, DLDevice { device_type: CPU, device_id: 0 }).unwrap()
}

#[test]
fn the_engine_is_the_mersenne_twister() {
    // The number that the C++ standard requires of the 10000th call with the default seed.
    let mut engine = Engine::new(5489);
    let last = (0..10_000).map(|_| engine.next()).last();
    assert_eq!(last, Some(4_123_659_995));
}

/// The numbers are those of TVM 0.27.0's `tvm.contrib.random.uniform` and `normal` with these
/// seeds.
#[test]
fn seeds_give_the_numbers_of_tvm() {
    let tensor = empty(&[3], f32::DTYPE);
    let args = |first: f64, second: f64| {
        [7i64.into(), 9i64.into(), first.into(), second.into(), (&tensor).into()]
    };
    for _ in 0..2 {
        call("tvm.contrib.random.uniform", &args(-1.0, 3.0));
        assert_eq!(tensor.as_slice::<f32>().unwrap(), UNIFORM);
        call("tvm.contrib.random.normal", &args(2.0, 0.5));
        assert_eq!(tensor.as_slice::<f32>().unwrap(), NORMAL);
    }
}

const UNIFORM: [f32; 3] = [1.265_945_2, 1.044_74, 1.188_326_1];
const NORMAL: [f32; 3] = [2.234_830_9, 3.395_891_2, 2.846_055_3];

#[test]
fn calls_without_seeds_differ_and_stay_in_the_range() {
    let tensor = empty(&[1000], f32::DTYPE);
    let seedless: [&[AnyView<'_>]; 2] = [
        &[2.0f64.into(), 5.0f64.into(), (&tensor).into()],
        &[0i64.into(), 0i64.into(), 2.0f64.into(), 5.0f64.into(), (&tensor).into()],
    ];
    let mut firsts = std::vec::Vec::new();
    for args in seedless.iter().cycle().take(4) {
        call("tvm.contrib.random.uniform", args);
        let drawn = tensor.as_slice::<f32>().unwrap();
        assert!(drawn.iter().all(|x| (2.0..=5.0).contains(x)));
        let mean = drawn.iter().sum::<f32>() / 1000.0;
        assert!((3.2..3.8).contains(&mean), "{mean}");
        assert!(!firsts.contains(&drawn[0].to_bits()));
        firsts.push(drawn[0].to_bits());
    }
}

#[test]
fn normal_numbers_have_the_mean_and_deviation() {
    let tensor = empty(&[10_001], f32::DTYPE);
    call("tvm.contrib.random.normal", &[3.0f64.into(), 2.0f64.into(), (&tensor).into()]);
    let drawn = tensor.as_slice::<f32>().unwrap();
    let mean = drawn.iter().sum::<f32>() / 10_001.0;
    let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 10_001.0;
    assert!((2.8..3.2).contains(&mean) && (3.6..4.4).contains(&variance), "{mean} {variance}");
}

#[test]
fn integers_are_in_the_range_of_bounds_and_dtype() {
    let bytes = empty(&[4000], i8::DTYPE);
    call("tvm.contrib.random.randint", &[(-1000i64).into(), (-120i64).into(), (&bytes).into()]);
    let drawn = bytes.as_slice::<i8>().unwrap();
    assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-128), Some(&-121)));
    let words = empty(&[4000], u32::DTYPE);
    call("tvm.contrib.random.randint", &[(-5i64).into(), 3i64.into(), (&words).into()]);
    let drawn = words.as_slice::<u32>().unwrap();
    assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&0), Some(&2)));
}

#[test]
fn fills_are_between_1_and_10() {
    for (bits, code) in [(8u8, code::UINT), (32, code::FLOAT), (64, code::FLOAT)] {
        let tensor = empty(&[100], DLDataType { code, bits, lanes: 1 });
        call("tvm.contrib.random.random_fill", &[(&tensor).into()]);
        let in_range = match bits {
            8 => tensor.as_slice::<u8>().unwrap().iter().all(|x| (1..10).contains(x)),
            32 => tensor.as_slice::<f32>().unwrap().iter().all(|x| (1.0..=10.0).contains(x)),
            _ => tensor.as_slice::<f64>().unwrap().iter().all(|x| (1.0..=10.0).contains(x)),
        };
        assert!(in_range, "{bits}");
    }
    let none = empty(&[0], f32::DTYPE);
    call("tvm.contrib.random.random_fill_for_measure", &[(&none).into()]);
}

#[test]
fn mistakes_have_the_texts_of_tvm() {
    let (single, double, word) =
        (empty(&[2], f32::DTYPE), empty(&[2], f64::DTYPE), empty(&[2], i32::DTYPE));
    let refuse = |name: &str, args: &[AnyView<'_>], text: &str| {
        failure(&std::format!("tvm.contrib.random.{name}"), args, "InternalError", text)
    };
    let (zero, one, single, double, word) = (
        AnyView::from(0i64),
        AnyView::from(1i64),
        (&single).into(),
        (&double).into(),
        (&word).into(),
    );
    let text = "tvm.contrib.random.uniform expects either 3 or 5 arguments, but got 4";
    refuse("uniform", &[zero, zero, one, single], text);
    refuse(
        "uniform",
        &[one, one, single],
        "Check failed: high > low : high must be bigger than low",
    );
    refuse(
        "normal",
        &[one, zero, single],
        "Check failed: scale > 0 : standard deviation must be positive",
    );
    let text =
        "Check failed: (dtype.code == kDLFloat && dtype.bits == 32 && dtype.lanes == 1) is false: ";
    refuse("uniform", &[zero, one, double], text);
    refuse("normal", &[zero, one, word], text);
    refuse("randint", &[zero, one, single], "unknown data type");
    refuse(
        "randint",
        &[one, zero, word],
        "Check failed: high > low (0 vs. 1) : high must be bigger than low",
    );
    let beyond = [AnyView::from(1i64 << 40), AnyView::from(1i64 << 41), word];
    let text =
        "Check failed: high > low (2147483648 vs. 1099511627776) : high must be bigger than low";
    refuse("randint", &beyond, text);
    let bits = empty(&[8], DLDataType { code: code::UINT, bits: 1, lanes: 1 });
    refuse("random_fill", &[(&bits).into()], "Doesn't support dtype code 1 dtype bits 1");
}

#[test]
fn read_only_tensors_are_refused() {
    let (floats, integers) =
        (read_only(&empty(&[4], f32::DTYPE)), read_only(&empty(&[4], i32::DTYPE)));
    let (floats_view, integers_view) = (AnyView::from(&floats), AnyView::from(&integers));
    let refuse = |name: &str, args: &[AnyView<'_>]| {
        failure(name, args, "ValueError", "The tensor is read-only");
    };
    refuse("tvm.contrib.random.uniform", &[0.0.into(), 1.0.into(), floats_view]);
    refuse("tvm.contrib.random.normal", &[0.0.into(), 1.0.into(), floats_view]);
    refuse("tvm.contrib.random.random_fill", &[floats_view]);
    refuse("tvm.contrib.random.random_fill_for_measure", &[integers_view]);
    refuse("tvm.contrib.random.randint", &[1.into(), 9.into(), integers_view]);
    assert_eq!(floats.as_slice::<f32>().unwrap(), [0.0; 4]);
    assert_eq!(integers.as_slice::<i32>().unwrap(), [0; 4]);
}
