use ferrite_core::Tensor;

use crate::builtins::testing::{call, failure};
use ferrite_core::AnyView;

const LOGITS: &str = "vm.builtin.sample_top_p_from_logits";
const PROBABILITIES: &str = "vm.builtin.sample_top_p_from_prob";

fn row(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, &[1, values.len() as i64]).unwrap()
}

fn tokens(values: &[i32]) -> Tensor {
    Tensor::from_slice(values, &[1, values.len() as i64]).unwrap()
}

/// The expected tokens are those of TVM.
#[test]
fn tokens_are_drawn_from_logits() {
    let logits = row(&[1.0, 2.0, 3.0]);
    for (temperature, top_p, uniform, expected) in
        [(0.0, 0.9, 0.5, 2), (1.0, 0.9, 0.99, 1), (1.0, 1.0, 0.9999, 0), (1.0, 1.0, 0.5, 2)]
    {
        let args =
            [AnyView::from(&logits), f64::into(temperature), f64::into(top_p), f64::into(uniform)];
        assert_eq!(call(LOGITS, &args).get::<i64>().unwrap(), expected);
    }
}

#[test]
fn tokens_are_drawn_from_probabilities() {
    let probabilities = row(&[0.1, 0.2, 0.7]);
    for (top_p, uniform, expected) in [(0.9, 0.5, 2), (0.9, 0.95, 0), (1.0, 0.95, 0), (1.0, 2.0, 0)]
    {
        let args = [AnyView::from(&probabilities), f64::into(top_p), f64::into(uniform)];
        assert_eq!(call(PROBABILITIES, &args).get::<i64>().unwrap(), expected);
    }
}

#[test]
fn what_cannot_be_sampled_from_is_an_error() {
    let half = AnyView::from(0.5f64);
    let refuse = |tensor: &Tensor, text: &str| {
        failure(LOGITS, &[AnyView::from(tensor), half, half, half], "InternalError", text);
    };
    let doubles = Tensor::from_slice(&[1f64], &[1]).unwrap();
    refuse(
        &doubles,
        "Check failed: ((logits.DataType() == DLDataType{kDLFloat, 32, 1})) is false: ",
    );
    let rows = Tensor::from_slice(&[1f32; 4], &[2, 2]).unwrap();
    refuse(
        &rows,
        "Check failed: logits->shape[i] == 1 (2 vs. 1) : The leading dimensions of logits must be 1",
    );
    refuse(&row(&[]), "There are no tokens to sample from");
    let refuse = |values: &[f32], text: &str| {
        failure(PROBABILITIES, &[AnyView::from(&row(values)), half, half], "InternalError", text);
    };
    refuse(&[f32::NAN; 3], "The output probabilities are all NaNs, can not sample from it");
    refuse(
        &[-1.0, -1.0],
        "Cannot sample from the given probability distribution due to unknown reason",
    );
    let logits = row(&[1.0, 2.0, 3.0]);
    let args = [AnyView::from(&logits), 1f64.into(), 1f64.into(), 1.5f64.into()];
    let error = crate::builtins::find(LOGITS.as_bytes()).unwrap().implementation().unwrap()(&args)
        .unwrap_err();
    assert!(error.message_bytes().starts_with(b"Check failed: uniform_sample <= data[0].first"));
}

#[test]
fn each_row_of_a_batch_gets_a_token() {
    let probabilities = Tensor::from_slice(&[0.2f32, 0.3, 0.5, 0.1, 0.1, 0.8], &[2, 3]).unwrap();
    let uniform = Tensor::from_slice(&[0.4f32, 0.05], &[2, 1]).unwrap();
    let args = [AnyView::from(&probabilities), AnyView::from(&uniform)];
    let drawn = call("vm.builtin.multinomial_from_uniform", &args).get::<Tensor>().unwrap();
    assert_eq!((drawn.shape(), &drawn.as_slice::<i64>().unwrap()[..]), (&[2, 1][..], &[1, 0][..]));
    let one = row(&[0.5]);
    let text = "1 random numbers and 6 probabilities are too few for 2 rows";
    let args = [args[0], AnyView::from(&one)];
    failure("vm.builtin.multinomial_from_uniform", &args, "ValueError", text);
}

#[test]
fn penalties_change_the_logits_of_tokens_that_occurred() {
    let logits = row(&[1.0, -2.0, 3.0]);
    let occurred = tokens(&[0, 1]);
    let args = [AnyView::from(&logits), AnyView::from(&occurred), 2f64.into()];
    call("vm.builtin.apply_repetition_penalty", &args);
    assert_eq!(logits.as_slice::<f32>().unwrap(), [0.5, -4.0, 3.0]);
    let logits = row(&[1.0, -2.0, 3.0]);
    let times = tokens(&[1, 2]);
    let args = [
        AnyView::from(&logits),
        AnyView::from(&occurred),
        AnyView::from(&times),
        0.5f64.into(),
        0.25f64.into(),
    ];
    call("vm.builtin.apply_presence_and_frequency_penalty", &args);
    assert_eq!(logits.as_slice::<f32>().unwrap(), [0.25, -3.0, 3.0]);
}

#[test]
fn the_softmax_adds_up_to_one() {
    for (values, expected) in [
        ([1.0, -2.0, 3.0], [0.017_985_4, 0.000_044_581, 0.981_97]),
        ([-1000.0, -1000.0, -2000.0], [0.5, 0.5, 0.0]),
    ] {
        let logits = row(&values);
        call("vm.builtin.apply_softmax_with_temperature", &[AnyView::from(&logits), 0.5f64.into()]);
        let results = logits.as_slice::<f32>().unwrap();
        assert!(
            results.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6),
            "{results:?}"
        );
    }
}

#[test]
fn penalties_check_their_arguments() {
    let name = "vm.builtin.apply_repetition_penalty";
    let (logits, occurred) = (row(&[1.0, 2.0]), tokens(&[5]));
    let penalty = AnyView::from(2f64);
    let args = [AnyView::from(&logits), AnyView::from(&occurred), penalty];
    failure(name, &args, "IndexError", "Token 5 is none of 2");
    let wide = Tensor::from_slice(&[1i64], &[1]).unwrap();
    let text = "Check failed: ((token_ids.DataType() == DLDataType{kDLInt, 32, 1})) is false: token ids must be int32!";
    failure(name, &[args[0], AnyView::from(&wide), penalty], "InternalError", text);
    let doubles = Tensor::from_slice(&[1f64], &[1]).unwrap();
    let text = "Check failed: ((logits.DataType() == DLDataType{kDLFloat, 32, 1})) is false: Logits data type is not \
                float32!";
    failure(name, &[AnyView::from(&doubles), args[1], penalty], "InternalError", text);
}
