use super::*;
use crate::builtins::testing::{call, failure, read_only};
use ferrite_core::Tensor;
use ferrite_core::tensor::Element;

const VALUES: [f32; 6] = [3.0, 1.0, 2.0, 1.0, 1.0, 0.0];

fn values() -> Tensor {
    Tensor::from_slice(&VALUES, &[2, 3]).unwrap()
}

fn zeros<T: Element + Default>(shape: &[i64]) -> Tensor {
    let len = shape.iter().product::<i64>() as usize;
    Tensor::from_slice(&std::vec![T::default(); len], shape).unwrap()
}

fn run(name: &str, input: &Tensor, output: &Tensor, axis: i64, ascending: bool) {
    call(name, &[AnyView::from(input), AnyView::from(output), axis.into(), ascending.into()]);
}

#[test]
fn values_are_sorted_along_each_axis() {
    let output = zeros::<f32>(&[2, 3]);
    run("tvm.contrib.sort.sort", &values(), &output, -1, true);
    assert_eq!(output.as_slice::<f32>().unwrap(), [1., 2., 3., 0., 1., 1.]);
    run("tvm.contrib.sort.sort", &values(), &output, 0, false);
    assert_eq!(output.as_slice::<f32>().unwrap(), [3., 1., 2., 1., 1., 0.]);
    run("tvm.contrib.sort.sort", &values(), &output, 0, true);
    assert_eq!(output.as_slice::<f32>().unwrap(), [1., 1., 0., 3., 1., 2.]);
}

#[test]
fn places_of_equal_values_stay_in_order() {
    let places = zeros::<i64>(&[2, 3]);
    run("tvm.contrib.sort.argsort", &values(), &places, 1, true);
    assert_eq!(places.as_slice::<i64>().unwrap(), [1, 2, 0, 2, 0, 1]);
    run("tvm.contrib.sort.argsort", &values(), &places, 1, false);
    assert_eq!(places.as_slice::<i64>().unwrap(), [0, 2, 1, 0, 1, 2]);
    let places = zeros::<f64>(&[2, 3]);
    run("tvm.contrib.sort.argsort", &values(), &places, 0, false);
    assert_eq!(places.as_slice::<f64>().unwrap(), [0., 0., 0., 1., 1., 1.]);
}

#[test]
fn a_part_of_each_line_is_sorted() {
    let (counts, places) = (Tensor::from_slice(&[2i32, 9], &[2]).unwrap(), zeros::<i32>(&[2, 3]));
    let input = values();
    let args = [
        AnyView::from(&input),
        AnyView::from(&counts),
        AnyView::from(&places),
        AnyView::from(1i64),
        AnyView::from(true),
    ];
    call("tvm.contrib.sort.argsort_nms", &args);
    assert_eq!(places.as_slice::<i32>().unwrap(), [1, 0, 2, 2, 0, 1]);
}

#[test]
fn the_largest_and_smallest_values_are_found() {
    let (input, largest, places) = (values(), zeros::<f32>(&[2, 2]), zeros::<i32>(&[2, 2]));
    let name = "tvm.contrib.sort.topk";
    let (two, last) = (AnyView::from(2i64), AnyView::from(-1i64));
    let both = [
        AnyView::from(&input),
        AnyView::from(&largest),
        AnyView::from(&places),
        two,
        last,
        AnyView::from(c"both"),
        AnyView::from(false),
    ];
    call(name, &both);
    assert_eq!(largest.as_slice::<f32>().unwrap(), [3., 2., 1., 1.]);
    assert_eq!(places.as_slice::<i32>().unwrap(), [0, 2, 0, 1]);
    let smallest = [
        both[0],
        AnyView::from(&places),
        two,
        last,
        AnyView::from(c"indices"),
        AnyView::from(true),
    ];
    call(name, &smallest);
    assert_eq!(places.as_slice::<i32>().unwrap(), [1, 2, 2, 0]);
    let all = zeros::<f32>(&[2, 3]);
    let args = [
        both[0],
        AnyView::from(&all),
        0i64.into(),
        last,
        AnyView::from(c"values"),
        AnyView::from(true),
    ];
    call(name, &args);
    assert_eq!(all.as_slice::<f32>().unwrap(), [1., 2., 3., 0., 1., 1.]);
}

#[test]
fn nan_is_the_largest_value_and_half_precision_is_ordered() {
    let input = Tensor::from_slice(&[f32::NAN, 1.0, f32::NEG_INFINITY, -0.0], &[4]).unwrap();
    let places = zeros::<i32>(&[4]);
    run("tvm.contrib.sort.argsort", &input, &places, 0, true);
    assert_eq!(places.as_slice::<i32>().unwrap(), [2, 3, 1, 0]);
    // 1, -2, NaN, -0.5
    let bits = Tensor::from_slice(&[0x3c00u16, 0xc000, 0x7e00, 0xb800], &[4]).unwrap();
    let mut prototype = *bits.dl_tensor();
    prototype.dtype = key::Half::DTYPE;
    // SAFETY: the view has the shape of the tensor, and elements of the same size.
    let input = unsafe { bits.create_unsafe_view(&prototype) }.unwrap();
    run("tvm.contrib.sort.argsort", &input, &places, 0, true);
    assert_eq!(places.as_slice::<i32>().unwrap(), [1, 3, 0, 2]);
}

#[test]
fn empty_tensors_have_nothing_to_sort() {
    for shape in [[0, 3], [3, 0]] {
        let empty = zeros::<f32>(&shape);
        run("tvm.contrib.sort.sort", &empty, &empty, 1, true);
    }
}

#[test]
fn mistakes_have_the_texts_of_tvm() {
    let (input, places) = (values(), zeros::<i64>(&[2, 3]));
    let refuse = |name: &str, input: &Tensor, output: &Tensor, axis: i64, text: &str| {
        let args = [AnyView::from(input), AnyView::from(output), axis.into(), true.into()];
        failure(name, &args, "InternalError", text);
    };
    let (sort, argsort) = ("tvm.contrib.sort.sort", "tvm.contrib.sort.argsort");
    refuse(
        sort,
        &input,
        &places,
        1,
        "Check failed: data_dtype == out_dtype (float32 vs. int64) : ",
    );
    refuse(argsort, &input, &zeros::<i16>(&[2, 3]), 1, "Unsupported output dtype: int16");
    refuse(argsort, &zeros::<u32>(&[2, 3]), &places, 1, "Unsupported input dtype: uint32");
    let text = "Check failed: axis < input->ndim (2 vs. 2) : Axis out of boundary for input ndim 2";
    refuse(argsort, &input, &places, 2, text);
    let text =
        "Check failed: axis < input->ndim (-1 vs. 2) : Axis out of boundary for input ndim 2";
    refuse(argsort, &input, &places, -3, text);
    let small = zeros::<i64>(&[2, 2]);
    let args = [AnyView::from(&input), AnyView::from(&small), 1i64.into(), true.into()];
    failure(argsort, &args, "ValueError", "The result has 4 elements, where 6 are needed");
    failure(
        argsort,
        &args[..3],
        "TypeError",
        "`tvm.contrib.sort.argsort` expects at least 4 arguments, but got 3",
    );
    let wrong = [AnyView::NONE, args[1], args[2], args[3]];
    failure(argsort, &wrong, "TypeError", "Cannot convert from type `None` to `DLTensor*`");
    let kind = |text, axis: i64| {
        [args[0], args[1], 2i64.into(), axis.into(), AnyView::from(text), args[3]]
    };
    let topk = "tvm.contrib.sort.topk";
    failure(topk, &kind(c"foo", 1), "InternalError", "Unsupported ret type: foo");
    let text = "Check failed: (axis >= 0 && axis < input->ndim) is false: Axis out of boundary for input ndim 2";
    failure(topk, &kind(c"indices", 5), "InternalError", text);
}

#[test]
fn read_only_results_are_refused() {
    let (input, counts) = (values(), Tensor::from_slice(&[3i32, 3], &[2]).unwrap());
    let (output, places) = (read_only(&zeros::<f32>(&[2, 3])), read_only(&zeros::<i32>(&[2, 3])));
    let [input, counts, output_view, places_view] =
        [&input, &counts, &output, &places].map(AnyView::from);
    let (axis, yes) = (AnyView::from(1), AnyView::from(true));
    let refuse = |name: &str, args: &[AnyView<'_>]| {
        failure(name, args, "ValueError", "The tensor is read-only");
    };
    refuse("tvm.contrib.sort.sort", &[input, output_view, axis, yes]);
    refuse("tvm.contrib.sort.argsort", &[input, places_view, axis, yes]);
    refuse("tvm.contrib.sort.argsort_nms", &[input, counts, places_view, axis, yes]);
    for (result, kind) in [(output_view, c"values"), (places_view, c"indices")] {
        let args = [input, result, 3.into(), axis, kind.into(), yes];
        refuse("tvm.contrib.sort.topk", &args);
    }
    assert_eq!(output.as_slice::<f32>().unwrap(), [0.0; 6]);
    assert_eq!(places.as_slice::<i32>().unwrap(), [0; 6]);
    // Inputs are only read.
    let input = read_only(&values());
    run("tvm.contrib.sort.sort", &input, &zeros::<f32>(&[2, 3]), 1, true);
}

/// Values of a small range with repetitions, and the special ones.
fn sample<T: Copy>(special: &[T], of: impl Fn(i64) -> T) -> std::vec::Vec<T> {
    let mut state = 7u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    (0..600)
        .map(|_| match next() {
            drawn if drawn % 5 == 0 => special[(drawn / 5) as usize % special.len()],
            drawn => of(drawn / 5 % 200 - 100),
        })
        .collect()
}

/// Sorts lines of 3, 200 and 600 values by each builtin, and compares with a stable sort by
/// `order`.
fn agrees_with_stable_sort<T: Element + Default>(
    values: &[T],
    dtype: ferrite_core::abi::DLDataType,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) {
    let len = values.len() as i64;
    for shape in [[len / 3, 3], [3, len / 3], [1, len]] {
        for ascending in [true, false] {
            let as_type = |tensor: &Tensor| {
                let mut prototype = *tensor.dl_tensor();
                prototype.dtype = dtype;
                // SAFETY: the view has the shape of the tensor, and elements of the same size.
                unsafe { tensor.create_unsafe_view(&prototype) }.unwrap()
            };
            let input = Tensor::from_slice(values, &shape).unwrap();
            let (sorted, places) = (zeros::<T>(&shape), zeros::<i32>(&shape));
            run("tvm.contrib.sort.argsort", &as_type(&input), &places, 1, ascending);
            run("tvm.contrib.sort.sort", &as_type(&input), &as_type(&sorted), 1, ascending);
            let (sorted, places) =
                (sorted.as_slice::<T>().unwrap(), places.as_slice::<i32>().unwrap());
            for (line, start) in
                values.chunks(shape[1] as usize).zip((0..).step_by(shape[1] as usize))
            {
                let mut expected: std::vec::Vec<usize> = (0..line.len()).collect();
                expected.sort_by(|one, other| {
                    let keys = order(&line[*one], &line[*other]);
                    if ascending { keys } else { keys.reverse() }
                });
                for (at, place) in expected.into_iter().enumerate() {
                    assert_eq!(places[start + at], place as i32, "{dtype:?} {shape:?} {ascending}");
                    // SAFETY: elements have no padding.
                    let bytes = |value: &T| unsafe {
                        core::slice::from_raw_parts(
                            (&raw const *value).cast::<u8>(),
                            size_of::<T>(),
                        )
                        .to_vec()
                    };
                    assert_eq!(bytes(&sorted[start + at]), bytes(&line[place]));
                }
            }
        }
    }
}

#[test]
fn all_types_have_the_order_of_a_stable_sort() {
    macro_rules! floats {
        ($($float:ident),*) => {$({
            const INFINITY: $float = $float::INFINITY;
            let (nan, subnormal) = ($float::NAN, $float::MIN_POSITIVE / 8.0);
            let special =
                [nan, -nan, 0.0, -0.0, INFINITY, -INFINITY, subnormal, $float::MAX, $float::MIN];
            let values = sample(&special, |value| value as $float / 8.0);
            agrees_with_stable_sort(&values, $float::DTYPE, |one, other| {
                one.partial_cmp(other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
            });
        })*};
    }
    macro_rules! integers {
        ($($integer:ident),*) => {$({
            let values = sample(&[$integer::MIN, $integer::MAX, 0], |value| value as $integer);
            agrees_with_stable_sort(&values, $integer::DTYPE, Ord::cmp);
        })*};
    }
    floats!(f32, f64);
    integers!(i8, u8, i32, i64);
    // Half-precision numbers by their bits: NaN of both signs, zeros, infinities, subnormals.
    let special = [0x7e00u16, 0xfe01, 0, 0x8000, 0x7c00, 0xfc00, 1, 0x8001, 0x7bff];
    let values = sample(&special, |value| (value as u16) << 7);
    let number = |bits: u16| {
        let exponent = i32::from(bits >> 10 & 0x1f);
        let fraction = f64::from(bits & 0x3ff);
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction != 0.0 => return f64::NAN,
            31 => f64::INFINITY,
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 0 { magnitude } else { -magnitude }
    };
    agrees_with_stable_sort(&values, key::Half::DTYPE, |one, other| {
        let (one, other) = (number(*one), number(*other));
        one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
    });
}
