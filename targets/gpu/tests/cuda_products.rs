//! Tests matrix products by cuBLASLt on a real GPU with the library, otherwise on the stand-in,
//! which calculates them on the CPU.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use ferrite_alloc_ext::device::{self, Device, Graph, Stream};
use ferrite_core::abi::{DLDataType, DLDevice, TVMFFIAny, TVMFFIAnyPayload, type_index};
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Tensor};
use support::cuda::*;

const F16: DLDataType = DLDataType { code: 2, bits: 16, lanes: 1 };
const BF16: DLDataType = DLDataType { code: 4, bits: 16, lanes: 1 };

const RELU: i64 = 1;
const GELU_TANH: i64 = 6;

/// A call of `ferrite.cublaslt.matmul`, with small integers as elements.
#[derive(Clone)]
struct Product {
    dtype: DLDataType,
    x: Vec<i64>,
    w: Vec<i64>,
    out: Vec<i64>,
    has_bias: bool,
    has_residual: bool,
    transposes: [bool; 2],
    alpha: f64,
    activation: i64,
    tf32: bool,
}

/// Tensors of a call on the device, and the elements of its inputs.
struct Prepared {
    product: Product,
    inputs: [Any; 4],
    out: Tensor,
    values: Vec<Vec<f32>>,
}

fn product(x: &[i64], w: &[i64], out: &[i64]) -> Product {
    let (x, w, out) = (x.to_vec(), w.to_vec(), out.to_vec());
    let (has_bias, has_residual, transposes, tf32) = (false, false, [false; 2], false);
    let (dtype, alpha, activation) = (F32, 1.0, 0);
    Product { dtype, x, w, out, has_bias, has_residual, transposes, alpha, activation, tf32 }
}

/// Returns `count` integers from -3 to 3.
fn integers(count: i64, seed: i64) -> Vec<f32> {
    (0..count).map(|index| ((index * 5 + seed + index / 7) % 7 - 3) as f32).collect()
}

fn count(shape: &[i64]) -> i64 {
    shape.iter().product()
}

/// Returns the bits of a number that the type represents exactly.
fn bits_of(value: f32, dtype: DLDataType) -> u32 {
    let bits = value.to_bits();
    match dtype {
        F16 if value == 0.0 => 0,
        F16 => (bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | (bits >> 13 & 0x3ff),
        BF16 => bits >> 16,
        _ => bits,
    }
}

fn number_of(bits: u32, dtype: DLDataType) -> f32 {
    match dtype {
        F16 if bits & 0x7fff == 0 => 0.0,
        F16 => {
            let exponent = (bits >> 10 & 0x1f) + 112;
            f32::from_bits((bits & 0x8000) << 16 | exponent << 23 | (bits & 0x3ff) << 13)
        }
        BF16 => f32::from_bits(bits << 16),
        _ => f32::from_bits(bits),
    }
}

fn tensor(values: &[f32], shape: &[i64], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
    let (host, there) = (device::empty(shape, dtype, CPU)?, device::empty(shape, dtype, device)?);
    let bytes = usize::from(dtype.bits) / 8;
    let data = host.dl_tensor().data.cast::<u8>();
    for (index, value) in values.iter().enumerate() {
        let bits = bits_of(*value, dtype).to_le_bytes();
        // SAFETY: the tensor has an element for each value.
        unsafe { data.add(index * bytes).copy_from(bits.as_ptr(), bytes) };
    }
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(host.dl_tensor(), there.dl_tensor(), null())? };
    wait()?;
    Ok(there)
}

fn numbers_of(tensor: &Tensor) -> Result<Vec<f64>> {
    let dtype = tensor.dtype();
    let host = device::empty(tensor.shape(), dtype, CPU)?;
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(tensor.dl_tensor(), host.dl_tensor(), null())? };
    wait()?;
    let (bytes, data) = (usize::from(dtype.bits) / 8, host.dl_tensor().data.cast::<u8>());
    let read = |index: usize| {
        let mut bits = [0; 4];
        // SAFETY: the tensor has this element.
        unsafe { bits.as_mut_ptr().copy_from(data.add(index * bytes), bytes) };
        f64::from(number_of(u32::from_le_bytes(bits), dtype))
    };
    Ok((0..count(tensor.shape()) as usize).map(read).collect())
}

impl Product {
    fn prepare(self) -> Result<Prepared> {
        let (columns, rows) = (self.out[self.out.len() - 1], count(&self.out));
        let shapes = [
            self.x.clone(),
            self.w.clone(),
            vec![if self.has_bias { columns } else { 0 }],
            if self.has_residual { self.out.clone() } else { vec![0] },
        ];
        let values: Vec<_> =
            (1i64..).zip(&shapes).map(|(seed, shape)| integers(count(shape), seed)).collect();
        let mut inputs = [const { Any::NONE }; 4];
        for ((input, shape), values) in inputs.iter_mut().zip(&shapes).zip(&values) {
            *input = tensor(values, shape, self.dtype, HERE)?.into();
        }
        let out = tensor(&vec![0.0; rows as usize], &self.out, self.dtype, HERE)?;
        Ok(Prepared { product: self, inputs, out, values })
    }

    /// Calculates the result from the elements of x, w, bias and residual.
    fn expected(&self, values: &[Vec<f32>]) -> Vec<f64> {
        let matrix = |shape: &[i64], is_transposed: bool| {
            let [leading @ .., rows, columns] = shape else { panic!("a matrix") };
            let size = if is_transposed { (*columns, *rows) } else { (*rows, *columns) };
            (count(leading), size.0, size.1)
        };
        let (x_batch, m, k) = matrix(&self.x, self.transposes[0]);
        let (w_batch, _, n) = matrix(&self.w, self.transposes[1]);
        let element = |values: &[f32], [rows, columns]: [i64; 2], at: [i64; 3], exchanged| {
            let [batch, i, j] = at;
            let inner = if exchanged { j * rows + i } else { i * columns + j };
            f64::from(values[(batch * rows * columns + inner) as usize])
        };
        let mut results = Vec::new();
        for batch in 0..x_batch.max(w_batch) {
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: f64 = (0..k)
                    .map(|inner| {
                        let at = [batch % x_batch, i, inner];
                        let left = element(&values[0], [m, k], at, self.transposes[0]);
                        let at = [batch % w_batch, inner, j];
                        left * element(&values[1], [k, n], at, self.transposes[1])
                    })
                    .sum();
                let bias = values[2].get(j as usize).map_or(0.0, |bias| f64::from(*bias));
                let residual = values[3].get(results.len()).map_or(0.0, |one| f64::from(*one));
                let x = self.alpha * sum + bias + residual;
                results.push(match self.activation {
                    RELU => x.max(0.0),
                    GELU_TANH => {
                        let inner =
                            (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
                        x * (1.0 + inner.tanh()) / 2.0
                    }
                    _ => x,
                });
            }
        }
        results
    }
}

impl Prepared {
    fn call(&self) -> Result<()> {
        self.call_with(self.inputs[0].view())
    }

    fn call_with(&self, x: AnyView<'_>) -> Result<()> {
        let Product { transposes, alpha, activation, tf32, .. } = self.product;
        let [_, w, bias, residual] = self.inputs.each_ref().map(Any::view);
        let [transpose_x, transpose_w] = transposes.map(AnyView::from);
        let parameters = [transpose_x, transpose_w, alpha.into(), activation.into(), tf32.into()];
        let mut args = vec![x, w, bias, residual];
        args.extend(parameters);
        args.push((&self.out).into());
        global("ferrite.cublaslt.matmul")?.call_packed(&args).map(drop)
    }

    fn check(&self) -> Result<()> {
        let found = numbers_of(&self.out)?;
        // Sums of small integers are exact, but for rounding the result.
        let tolerance = if self.out.dtype() == F32 { 1e-5 } else { 1e-2 };
        let expected = self.product.expected(&self.values);
        for (found, expected) in found.iter().zip(&expected) {
            let difference = (found - expected).abs();
            assert!(difference <= tolerance * expected.abs().max(1.0), "{found}, not {expected}");
        }
        assert_eq!(found.len(), expected.len());
        Ok(())
    }
}

/// Begins a test of results. Returns `None` on a GPU without cuBLASLt, and prints that.
fn begin() -> Result<Option<Session>> {
    let mut session = Session::begin();
    if !global("ferrite.cublaslt.available")?.call::<bool>(())? {
        println!("not run: cuBLASLt is not installed");
        return Ok(None);
    }
    // The device keeps the workspace.
    product(&[1, 1], &[1, 1], &[1, 1]).prepare()?.call()?;
    session.count_live_objects();
    Ok(Some(session))
}

fn begin_on_stand_in(test: &str) -> Result<Option<Session>> {
    Ok(begin()?.filter(|session| session.is_on_stand_in(test)))
}

fn calculates(product: Product) -> Result<()> {
    let prepared = product.prepare()?;
    prepared.call()?;
    prepared.check()
}

#[test]
fn products_are_those_of_matrices_in_row_major_order() -> Result<()> {
    let Some(_session) = begin()? else { return Ok(()) };
    for dtype in [F32, F16, BF16] {
        for transposes in [[false, false], [false, true], [true, false], [true, true]] {
            let x = if transposes[0] { [16, 24] } else { [24, 16] };
            let w = if transposes[1] { [32, 16] } else { [16, 32] };
            calculates(Product { dtype, transposes, ..product(&x, &w, &[24, 32]) })?;
        }
    }
    calculates(Product { tf32: true, alpha: 0.5, ..product(&[24, 16], &[16, 32], &[24, 32]) })
}

#[test]
fn batches_repeat_a_factor_with_one_matrix() -> Result<()> {
    let Some(_session) = begin()? else { return Ok(()) };
    for (x, w, out) in [
        (vec![2, 3, 8, 16], vec![2, 3, 16, 24], vec![2, 3, 8, 24]),
        (vec![2, 3, 8, 16], vec![16, 24], vec![2, 3, 8, 24]),
        (vec![8, 16], vec![5, 16, 24], vec![5, 8, 24]),
        (vec![1, 8, 16], vec![5, 16, 24], vec![5, 8, 24]),
    ] {
        let plain = product(&x, &w, &out);
        calculates(Product { has_bias: true, has_residual: true, ..plain.clone() })?;
        calculates(plain)?;
    }
    let transposes = [true, false];
    calculates(Product { transposes, ..product(&[5, 16, 8], &[16, 24], &[5, 8, 24]) })
}

#[test]
fn epilogues_follow_the_product() -> Result<()> {
    let Some(_session) = begin()? else { return Ok(()) };
    for activation in [0, RELU, GELU_TANH] {
        for (has_bias, has_residual) in [(false, false), (true, false), (true, true)] {
            let plain = product(&[24, 16], &[16, 32], &[24, 32]);
            let alpha = 0.25;
            calculates(Product { has_bias, has_residual, activation, alpha, ..plain })?;
        }
    }
    Ok(())
}

#[test]
fn tensors_without_elements_and_with_low_alignment_are_allowed() -> Result<()> {
    let Some(_session) = begin()? else { return Ok(()) };
    product(&[0, 16], &[16, 32], &[0, 32]).prepare()?.call()?;
    let mut prepared = product(&[7, 16], &[16, 32], &[7, 32]).prepare()?;
    let x = prepared.inputs[0].get::<Tensor>()?;
    let larger = tensor(&integers(8 * 16, 1), &[8, 16], F32, HERE)?;
    // SAFETY: the record is read during the call only, and the rows are in the larger tensor.
    let mut view = unsafe { *larger.as_dl_tensor_ptr() };
    view.shape = x.dl_tensor().shape;
    view.byte_offset = 4;
    prepared.values[0] = integers(8 * 16, 1)[1..=7 * 16].to_vec();
    let payload = TVMFFIAnyPayload { v_ptr: (&raw mut view).cast() };
    let raw = TVMFFIAny { type_index: type_index::DL_TENSOR_PTR, small_str_len: 0, payload };
    // SAFETY: the record is that of a tensor.
    prepared.call_with(unsafe { AnyView::from_raw(raw) })?;
    prepared.check()
}

#[test]
fn a_problem_is_planned_once_and_old_plans_are_dropped() -> Result<()> {
    let Some(session) = begin_on_stand_in("plans")? else { return Ok(()) };
    let searches = || session.driver.calls(c"cublasLtMatmulAlgoGetHeuristic");
    let prepared = product(&[24, 16], &[16, 40], &[24, 40]).prepare()?;
    let before = searches();
    for _ in 0..3 {
        prepared.call()?;
    }
    prepared.check()?;
    assert_eq!(searches() - before, 1);
    for columns in 100..400 {
        product(&[1, 1], &[1, columns], &[1, columns]).prepare()?.call()?;
    }
    assert_eq!(searches() - before, 301);
    // A description and three layouts for each plan.
    assert!(session.driver.number(c"stand_in_cublaslt_live") <= 256 * 4);
    Ok(())
}

#[test]
fn products_are_commands_of_the_current_stream() -> Result<()> {
    let Some(session) = begin_on_stand_in("commands of streams")? else { return Ok(()) };
    let prepared = product(&[24, 16], &[16, 32], &[24, 32]).prepare()?;
    let stream = Stream::new(Device::from(HERE))?;
    let waits = session.driver.calls(c"cuStreamSynchronize");
    stream.scope(|| prepared.call())??;
    assert!(session.driver.pending() > 0, "nobody waited");
    assert_eq!(session.driver.calls(c"cuStreamSynchronize"), waits);
    stream.synchronize()?;
    prepared.check()
}

#[test]
fn recorded_products_run_at_each_launch() -> Result<()> {
    let Some(_session) = begin()? else { return Ok(()) };
    let prepared = Product { has_bias: true, ..product(&[24, 16], &[16, 32], &[24, 32]) };
    let prepared = prepared.prepare()?;
    let graph = Graph::record(Device::from(HERE), || prepared.call())?.1?;
    let zeros = tensor(&[0.0; 24 * 32], &[24, 32], F32, HERE)?;
    copy(&zeros, &prepared.out)?;
    // SAFETY: the tensors outlive the commands.
    unsafe { graph.launch()? };
    wait()?;
    prepared.check()
}

#[test]
fn errors_name_the_status_and_the_problem() -> Result<()> {
    let Some(session) = begin_on_stand_in("failing calls")? else { return Ok(()) };
    let prepared = Product { activation: RELU, ..product(&[3, 5], &[7, 5], &[3, 7]) };
    let prepared = Product { transposes: [false, true], ..prepared }.prepare()?;
    let live = || session.driver.number(c"stand_in_cublaslt_live");
    let before = live();
    let mut texts = Vec::new();
    // First of a call that makes a plan, then of one that finds it.
    for _ in 0..2 {
        for call in 1.. {
            session.driver.fail(call, 15);
            let text = prepared.call().err().map(|error| message(&error));
            let Some(failed) = session.driver.failed() else { break };
            assert!(live() <= before + 4, "{failed} leaks");
            texts.push((failed, text));
        }
    }
    session.driver.fail(0, 0);
    let problem = "CUBLAS_STATUS_NOT_SUPPORTED for float32 x of 3 by 5 and w of 5 by 7 transposed, batch 1, epilogue 2";
    for name in ["cublasLtMatmulDescCreate", "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"] {
        let (_, text) = texts.iter().find(|(failed, _)| failed == name).expect("a failed call");
        assert_eq!(text.as_deref(), Some(&*format!("{name} failed with error: {problem}")));
    }
    prepared.call()?;
    prepared.check()
}

#[test]
fn wrong_arguments_are_refused() -> Result<()> {
    let Some(_session) = begin()? else { return Ok(()) };
    let wrong = |wrong: Product, text: &str| -> Result<()> {
        let found = refused(wrong.prepare()?.call(), "ValueError");
        assert!(found.contains(text), "{found}");
        Ok(())
    };
    let plain = product(&[3, 5], &[5, 7], &[3, 7]);
    let text = "1 matrices of 3 by 5 times 1 of 6 by 7 do not make 1 of 3 by 7";
    wrong(product(&[3, 5], &[6, 7], &[3, 7]), text)?;
    wrong(product(&[2, 3, 5], &[3, 5, 7], &[3, 3, 7]), "do not make")?;
    wrong(product(&[3, 0], &[0, 7], &[3, 7]), "do not make")?;
    wrong(product(&[5], &[5, 7], &[1, 7]), "fewer than 2 dimensions")?;
    wrong(Product { activation: 3, ..plain.clone() }, "must be 0 (none), 1 (relu) or 6")?;
    wrong(Product { dtype: I32, ..plain.clone() }, "takes float32, float16 and bfloat16")?;
    let mut prepared = plain.clone().prepare()?;
    prepared.inputs[1] = tensor(&integers(35, 1), &[5, 7], F16, HERE)?.into();
    assert!(refused(prepared.call(), "ValueError").contains("Mismatched w.dtype"));
    let mut prepared = plain.clone().prepare()?;
    prepared.inputs[0] = tensor(&integers(15, 1), &[3, 5], F32, CPU)?.into();
    assert!(refused(prepared.call(), "ValueError").contains("Mismatched x.device_type"));
    let mut prepared = plain.prepare()?;
    prepared.inputs[2] = tensor(&integers(3, 1), &[3], F32, HERE)?.into();
    assert!(refused(prepared.call(), "ValueError").contains("bias"));
    let none = global("ferrite.cublaslt.matmul")?.call_packed(&[]);
    assert!(refused(none, "TypeError").contains("takes 10 arguments, but got 0"));
    Ok(())
}

#[test]
fn a_missing_library_is_an_error_of_the_call() {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    let output = command.args(["--ignored", "--exact", "missing_library"]).output();
    let output = output.expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "runs as a process with another environment"]
fn missing_library() -> Result<()> {
    let _session = Session::begin();
    // SAFETY: this is the only test of the process.
    unsafe { std::env::set_var("FERRITE_CUBLASLT", "/nowhere") };
    assert!(!global("ferrite.cublaslt.available")?.call::<bool>(())?);
    let text = refused(product(&[3, 5], &[5, 7], &[3, 7]).prepare()?.call(), "RuntimeError");
    assert!(text.contains("pip install nvidia-cublas-cu12, and set FERRITE_CUBLASLT"), "{text}");
    assert!(text.contains("/nowhere"), "{text}");
    Ok(())
}
