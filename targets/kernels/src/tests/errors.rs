//! Arguments that do not fit raise errors that name them.

use super::Call;
use super::arrays::Array;
use crate::attention::calls::attention;
use crate::conv::calls::{conv2d, pack_conv2d};
use crate::element::F16;
use crate::matmul::batch::batch_matmul;
use crate::matmul::calls::{dense, pack_dense};

fn zeros(shape: &[usize]) -> Array<f32> {
    Array::zeros(shape)
}

/// Call of `dense` with tensors of these shapes, which fails before it reads them.
fn dense_of(x: &[usize], w: &[usize], bias: &[usize], residual: &[usize], out: &[usize]) -> Call {
    let shapes = [x, w, bias, residual].map(zeros);
    let call = shapes.iter().fold(Call::default(), Call::tensor);
    call.activation(0).tensor(&zeros(out))
}

#[test]
fn dense_names_the_argument_that_does_not_fit() {
    let (x, w, none, out): (&[usize], &[usize], &[usize], &[usize]) =
        (&[2, 3], &[1, 3, 16], &[0], &[2, 4]);
    let cases = [
        (
            dense_of(&[2, 4], w, none, none, out),
            "ValueError: f: w has the shape [1, 3, 16], expected [1, 4, 16]",
        ),
        (dense_of(&[], w, none, none, out), "ValueError: f: x has 0 axes, expected at least 1"),
        (dense_of(&[3, 3], w, none, none, out), "ValueError: f: x has 9 elements, expected 6"),
        (dense_of(x, &[3, 16], none, none, out), "ValueError: f: w has 2 axes, expected 3"),
        (dense_of(x, w, &[5], none, out), "ValueError: f: bias has 5 elements, expected 4"),
        (dense_of(x, w, none, &[2, 5], out), "ValueError: f: residual has 10 elements, expected 8"),
    ];
    for (call, message) in cases {
        assert_eq!(call.run(dense::<f32>).unwrap_err(), message);
    }
}

#[test]
fn element_types_and_values_of_other_types_are_refused() {
    let (x, w, out) = (zeros(&[2, 3]), zeros(&[1, 3, 16]), zeros(&[2, 4]));
    let half = Array::<F16>::zeros(&[2, 3]);
    let call =
        Call::default().tensor(&half).tensor(&w).absent().absent().activation(0).tensor(&out);
    let message = "TypeError: f: x has elements of type F16, expected F32";
    assert_eq!(call.run(dense::<f32>).unwrap_err(), message);
    let call = Call::default().int(3).tensor(&w).absent().absent().activation(0).tensor(&out);
    assert_eq!(
        call.run(dense::<f32>).unwrap_err(),
        "TypeError: f: x is not a tensor (type index 1)"
    );
    let call = Call::default().tensor(&x).tensor(&w).absent().absent().activation(12).tensor(&out);
    assert_eq!(
        call.run(dense::<f32>).unwrap_err(),
        "ValueError: f: activation 12 is not a known code"
    );
    let mut call =
        Call::default().tensor(&x).tensor(&w).absent().absent().activation(0).tensor(&out);
    call.tensors[0].device.device_type = 2;
    assert_eq!(call.run(dense::<f32>).unwrap_err(), "ValueError: f: x is not in main memory");
    call.tensors[0].device.device_type = 1;
    call.tensors[0].dtype.bits = 64;
    assert!(call.run(dense::<f32>).unwrap_err().contains("x has elements of an unsupported type"));
    call.tensors[0].dtype.bits = 32;
    let mut strides = [1_i64, 2];
    call.tensors[0].strides = strides.as_mut_ptr();
    assert_eq!(call.run(dense::<f32>).unwrap_err(), "ValueError: f: x is not compact");
    call.tensors[0].strides = core::ptr::null_mut();
    call.tensors[0].byte_offset = 2;
    assert_eq!(
        call.run(dense::<f32>).unwrap_err(),
        "ValueError: f: x is not aligned to its elements"
    );
}

#[test]
fn negative_and_overflowing_extents_are_refused() {
    for extents in [[-1_i64, 3], [1 << 62, 1 << 62]] {
        let (mut x, w, out) = (zeros(&[2, 3]), zeros(&[1, 3, 16]), zeros(&[2, 4]));
        x.shape = extents.to_vec();
        let call =
            Call::default().tensor(&x).tensor(&w).absent().absent().activation(0).tensor(&out);
        let message = "ValueError: f: x has a negative or too large extent";
        assert_eq!(call.run(dense::<f32>).unwrap_err(), message);
    }
}

#[test]
fn packing_checks_its_output() {
    let (w, out) = (zeros(&[3, 4]), zeros(&[1, 4, 16]));
    let call = Call::default().tensor(&w).int(0).tensor(&out);
    let message = "ValueError: f: out has the shape [1, 4, 16], expected [1, 3, 16]";
    assert_eq!(call.run(pack_dense::<f32>).unwrap_err(), message);
    let (w, out) = (zeros(&[4, 1, 3, 3]), zeros(&[4, 1, 3, 3]));
    let call = Call::default().tensor(&w).shape(&[3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 3]).tensor(&out);
    assert!(
        call.run(pack_conv2d::<f32>).unwrap_err().contains("4 output channels are not in 3 groups")
    );
}

#[test]
fn convolutions_check_parameters_and_shapes() {
    let (x, w, out) = (zeros(&[1, 2, 5, 5]), zeros(&[1, 1, 18, 12]), zeros(&[1, 4, 3, 3]));
    let run = |out: &Array<f32>, parameters: &[i64]| {
        let call = Call::default().tensor(&x).tensor(&w).absent().absent().shape(parameters);
        call.activation(0).tensor(out).run(conv2d::<f32>)
    };
    let good = [3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 1];
    run(&out, &good).unwrap();
    assert_eq!(
        run(&out, &good[1..]).unwrap_err(),
        "ValueError: f: params has 10 elements, expected 11"
    );
    for (index, number) in [(0, 0), (2, 0), (4, -1), (8, 0), (10, 0), (3, i64::MAX)] {
        let mut bad = good;
        bad[index] = number;
        assert_eq!(
            run(&out, &bad).unwrap_err(),
            format!("ValueError: f: params[{index}] is {number}")
        );
    }
    let wrong = zeros(&[1, 4, 3, 4]);
    let message = "ValueError: f: out has the shape [1, 4, 3, 4], expected [1, 4, 3, 3]";
    assert_eq!(run(&wrong, &good).unwrap_err(), message);
}

#[test]
fn batches_and_attention_check_their_shapes() {
    let call =
        Call::default().tensor(&zeros(&[2, 3, 4])).tensor(&zeros(&[3, 4, 5])).int(0).float(1.0);
    let error = call.tensor(&zeros(&[2, 3, 5])).run(batch_matmul::<f32>).unwrap_err();
    assert_eq!(error, "ValueError: f: b has 3 matrices, expected 2");
    let call =
        Call::default().tensor(&zeros(&[2, 3, 4])).tensor(&zeros(&[2, 4, 5])).int(1).float(1.0);
    let error = call.tensor(&zeros(&[2, 3, 5])).run(batch_matmul::<f32>).unwrap_err();
    assert_eq!(error, "ValueError: f: b has matrices of [4, 5], expected [5, 4]");
    let (q, k) = (zeros(&[1, 3, 2, 4]), zeros(&[1, 2, 5, 4]));
    let call = Call::default().tensor(&q).tensor(&k).tensor(&k).absent().float(1.0).int(0);
    let error = call.tensor(&zeros(&[1, 3, 2, 4])).run(attention::<f32>).unwrap_err();
    assert_eq!(error, "ValueError: f: q has 3 heads for 2 heads of k");
}

#[test]
fn calls_without_results_return_at_once_for_any_extents() {
    let huge = |shape: &[i64]| {
        let mut array = zeros(&[0]);
        array.shape = shape.to_vec();
        array
    };
    let (x, out) = (huge(&[1 << 62, 0]), huge(&[1 << 62, 0]));
    let call = Call::default().tensor(&x).tensor(&zeros(&[0, 0, 16])).absent().absent();
    call.activation(0).tensor(&out).run(dense::<f32>).unwrap();
    let (q, k) = (huge(&[1, 1, 2, 0]), huge(&[1, 1, 1 << 62, 0]));
    let call = Call::default().tensor(&q).tensor(&k).tensor(&k).absent().float(1.0).int(0);
    call.tensor(&q).run(attention::<f32>).unwrap();
}
