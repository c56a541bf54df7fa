//! Runs every call of the fixtures with the kernels that TVM compiled, in both execution modes, in
//! a program that has the library inside, and compares the results with those of TVM's machine.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

#[path = "support/npy.rs"]
mod npy;
#[path = "support/unaligned.rs"]
mod unaligned;

use std::ffi::{c_int, c_void};

use ferrite::relax::model::{Inputs, Kernels, Model, Parameters};
use ferrite::{Any, AnyView, Module, Result, Shape, Tensor, containers::ArrayObject};
use ferrite_alloc_ext::module::system_lib;
use ferrite_core::abi::TVMFFIAny;
use npy::Array;

const MODES: [&str; 2] = ["bytecode", "compiled"];

fn path(model: &str, file: &str) -> String {
    format!("{}/../../tests/programs/relax/models/{model}/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn array(model: &str, file: &str) -> Array {
    Array::read(&path(model, file))
}

/// Returns the argument that a word of `calls.txt` stands for.
fn argument(model: &str, word: &str) -> Result<Any> {
    if let Some(extents) = word.strip_prefix("shape:") {
        let extents: Vec<i64> = extents.split(',').map(|extent| extent.parse().unwrap()).collect();
        return Ok(Shape::from_slice(&extents)?.into());
    }
    match word.strip_prefix("tuple:") {
        Some(files) => {
            let parts = files.split(',').map(|file| argument(model, file));
            Ok(ArrayObject::from_slice(&parts.collect::<Result<Vec<_>>>()?)?.into())
        }
        None => Ok(array(model, word).tensor()?.into()),
    }
}

/// Adds the tensors and shapes of a result to `leaves`.
fn flatten(result: &Any, leaves: &mut Vec<Array>) -> Result<()> {
    if let Some(parts) = result.try_get::<ArrayObject>()? {
        return parts.as_slice().iter().try_for_each(|part| flatten(part, leaves));
    }
    leaves.push(match result.try_get::<Shape>()? {
        Some(shape) => Array::of_shape(shape.as_slice()),
        None => Array::of_tensor(&result.get()?)?,
    });
    Ok(())
}

/// A line of `calls.txt`.
struct Call<'a> {
    model: &'a str,
    function: &'a str,
    tolerance: f64,
    arguments: Vec<&'a str>,
    results: Vec<&'a str>,
}

fn calls(text: &str) -> Vec<Call<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (before, results) = line.split_once(" -- ").unwrap();
            let mut words = before.split(' ');
            let mut word = || words.next().unwrap();
            let (model, function, tolerance) = (word(), word(), word().parse().unwrap());
            Call {
                model,
                function,
                tolerance,
                arguments: words.collect(),
                results: results.split(' ').collect(),
            }
        })
        .collect()
}

impl Call<'_> {
    fn arguments(&self) -> Result<Vec<Any>> {
        self.arguments.iter().map(|word| argument(self.model, word)).collect()
    }

    /// Checks a result against the expected arrays.
    fn check(&self, result: &Any, mode: &str) -> Result<()> {
        let mut found = Vec::new();
        flatten(result, &mut found)?;
        let name = format!("{} {} {mode}", self.model, self.function);
        assert_eq!(found.len(), self.results.len(), "{name}");
        for (found, file) in found.iter().zip(&self.results) {
            let expected = array(self.model, file);
            assert_eq!(found.description(), expected.description(), "{name}");
            let difference = found.difference(&expected);
            assert!(difference <= self.tolerance, "{name}: {difference}");
        }
        Ok(())
    }
}

fn all_calls() -> String {
    std::fs::read_to_string(path(".", "calls.txt")).expect("the calls")
}

#[test]
fn every_call_gives_the_results_of_tvms_machine() -> Result<()> {
    let text = all_calls();
    let calls = calls(&text);
    let mut models: Vec<_> = calls.iter().map(|call| call.model).collect();
    models.dedup();
    assert_eq!((calls.len(), models.len()), (31, 8));
    for call in &calls {
        for mode in MODES {
            let model = Model::load(path(call.model, &format!("{mode}.so")))?;
            let function = model.function(call.function)?;
            let args = call.arguments()?;
            let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
            call.check(&function.call_packed(&views)?, mode)?;
            // The same by name, on a machine of its own.
            let other = model.duplicate()?;
            drop(model);
            let mut inputs = Inputs::new(&other.function(call.function)?)?;
            for (input, value) in function.inputs().zip(args.iter().cloned()).collect::<Vec<_>>() {
                inputs.set_any(input.name().as_bytes(), value)?;
            }
            call.check(&inputs.call()?, mode)?;
        }
    }
    Ok(())
}

#[test]
fn inputs_need_not_be_aligned() -> Result<()> {
    let text = all_calls();
    for call in &calls(&text) {
        for mode in MODES {
            let model = Model::load(path(call.model, &format!("{mode}.so")))?;
            for shift in unaligned::SHIFTS {
                let args = call.arguments()?;
                let args = args.iter().map(|arg| unaligned::shifted_value(arg, shift));
                let args = args.collect::<Result<Vec<_>>>()?;
                let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
                call.check(&model.call_packed(call.function, &views)?, mode)?;
            }
        }
    }
    Ok(())
}

#[test]
fn weights_come_from_a_file() -> Result<()> {
    let parameters = Parameters::load(path("mlp_i8", "params.bin"))?;
    for mode in MODES {
        let model = Model::load(path("mlp_i8", &format!("{mode}.so")))?;
        let mut inputs = Inputs::new(&model.function("main")?)?;
        assert_eq!(inputs.set_parameters(&parameters)?, 4);
        for call in 0..3 {
            inputs.set("x", array("mlp_i8", &format!("c{call}_arg0.npy")).tensor()?)?;
            let scores: Tensor = inputs.call()?.get()?;
            let expected = array("mlp_i8", &format!("c{call}_out0.npy"));
            assert_eq!(Array::of_tensor(&scores)?.difference(&expected), 0.0, "{mode}");
        }
    }
    Ok(())
}

#[test]
fn duplicates_run_in_threads() -> Result<()> {
    let text = all_calls();
    for mode in MODES {
        let model = Model::load(path("control", &format!("{mode}.so")))?;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| -> Result<()> {
                    let own = model.duplicate()?;
                    for call in
                        calls(&text).iter().filter(|call| call.model == "control").cycle().take(60)
                    {
                        let args = call.arguments()?;
                        let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
                        call.check(&own.call_packed(call.function, &views)?, mode)?;
                    }
                    Ok(())
                });
            }
        });
    }
    Ok(())
}

#[test]
fn wrong_arguments_are_errors_in_upstreams_words() -> Result<()> {
    for mode in MODES {
        let library = path("mlp", &format!("{mode}.so"));
        let model = Model::load(&library)?;
        let message = |args: &[AnyView<'_>]| {
            String::from_utf8_lossy(
                model.call_packed("forward", args).expect_err("wrong").message_bytes(),
            )
            .into_owned()
        };
        let flat = Tensor::from_slice(&[0f32; 64], &[64])?;
        assert!(
            message(&[AnyView::from(&flat)]).contains("expect Tensor with ndim 2 but get 1"),
            "{mode}"
        );
        let integers = Tensor::from_slice(&[0i32; 64], &[1, 64])?;
        let text = message(&[AnyView::from(&integers)]);
        assert!(text.contains("expect Tensor with dtype float32 but get int32"), "{mode}: {text}");
        // Errors of the kernels themselves.
        let kernel = Module::load(&library)?
            .get_function(&ferrite::String::new("relu")?, true)?
            .expect("a kernel");
        assert_eq!(
            kernel.call_packed(&[]).expect_err("no arguments").kind_bytes(),
            b"TypeError",
            "{mode}"
        );
        let x = Tensor::from_slice(&[0f32; 64], &[1, 64])?;
        assert_eq!(
            model.call_packed("forward", &[AnyView::from(&x)])?.get::<Tensor>()?.shape(),
            [1, 10]
        );
    }
    Ok(())
}

#[test]
fn a_profile_names_the_kernels() -> Result<()> {
    let model = Model::load(path("cnn", "bytecode.so"))?;
    let x = array("cnn", "c0_arg0.npy").tensor()?;
    model.reset_peak_memory()?;
    let (_, profile) = model.profile(|| model.call_packed("main", &[AnyView::from(&x)]))?;
    let operators = profile.operators()?;
    let calls: u64 = operators.iter().map(|(_, entry)| entry.calls).sum();
    assert_eq!(calls, 23); // the calls of this network, as TVM counts them
    assert!(
        operators.iter().any(|(name, entry)| name.contains("conv2d") && entry.calls == 1),
        "{profile}"
    );
    assert!(model.memory()?.peak >= 2640);
    Ok(())
}

/// Returns the payload of a model that is native code, and its kernels.
fn native(model: &str) -> Result<(Vec<u8>, Module)> {
    let library = path(model, "compiled.so");
    let payload = Model::load(&library)?.machine().executable().save()?;
    Ok((payload.as_bytes().to_vec(), Module::load(&library)?))
}

/// Loads an executable with the kernels of another.
fn with_kernels(payload: &[u8], kernels: &Module) -> Result<Model> {
    Model::from_bytes(
        payload,
        Kernels::in_modules(ArrayObject::from_slice(&[kernels.clone().into()])?),
    )
}

#[test]
fn native_code_cannot_leave_its_registers() -> Result<()> {
    let (payload, kernels) = native("cnn")?;
    let x = array("cnn", "c0_arg0.npy").tensor()?;
    let count_at = 68; // the number of registers of the first function
    let count = i64::from_le_bytes(*payload[count_at..].first_chunk().unwrap());
    for registers in 2..count {
        let mut damaged = payload.clone();
        damaged[count_at..count_at + 8].copy_from_slice(&registers.to_le_bytes());
        let model = with_kernels(&damaged, &kernels)?;
        let result = model.call_packed("main", &[AnyView::from(&x)]);
        let error = result.expect_err("registers that are missing");
        let text = "The code of main accesses registers, constants or functions that the executable does not have";
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"InternalError"[..], text.as_bytes())
        );
    }
    // The same code works on its own executable, on frames that are used again.
    let model = with_kernels(&payload, &kernels)?;
    assert_eq!(model.call_packed("main", &[AnyView::from(&x)])?.get::<Tensor>()?.shape(), [1, 10]);
    Ok(())
}

#[test]
fn damaged_executables_of_native_code_give_errors_or_results() -> Result<()> {
    let text = all_calls();
    let (mut refused, mut failed, mut succeeded) = (0, 0, 0);
    for name in ["control", "values"] {
        let (payload, kernels) = native(name)?;
        let calls: Vec<_> = calls(&text).into_iter().filter(|call| call.model == name).collect();
        let args = calls.iter().map(Call::arguments).collect::<Result<Vec<_>>>()?;
        // The header, all functions, and the first constants.
        for at in 0..payload.len().min(500) {
            for word in [0i64, 1, 2, 70, 1 << 20, -1] {
                let mut damaged = payload.clone();
                let end = damaged.len().min(at + if word < 256 && at % 2 == 1 { 1 } else { 8 });
                damaged[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
                let Ok(model) = with_kernels(&damaged, &kernels) else {
                    refused += 1;
                    continue;
                };
                for (call, args) in calls.iter().zip(&args) {
                    let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
                    match model.call_packed(call.function, &views) {
                        Ok(_) => succeeded += 1,
                        Err(_) => failed += 1,
                    }
                }
            }
        }
    }
    assert!(refused > 100 && failed > 100 && succeeded > 1000, "{refused} {failed} {succeeded}");
    Ok(())
}

#[test]
fn other_libraries_are_no_models() {
    let error = |file: &str| Model::load(path("cnn", file)).expect_err("no model");
    assert_eq!(error("nope.so").kind_bytes(), b"InternalError");
    assert_eq!(error("bytecode.vm").kind_bytes(), b"RuntimeError");
}

/// Adds one to each element of the first argument, and stores the sums in the second.
///
/// # Safety
/// The arguments must be two tensors of float32.
unsafe extern "C" fn add_one(
    _: *mut c_void,
    args: *const TVMFFIAny,
    _: i32,
    _: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: contract of this function; nothing else uses the output.
    unsafe {
        let args = AnyView::slice_from_raw(args, 2);
        let (x, out) = (args[0].get::<Tensor>().unwrap(), args[1].get::<Tensor>().unwrap());
        let sums = out.as_mut_slice::<f32>().unwrap();
        sums.iter_mut().zip(&x.as_slice::<f32>().unwrap()).for_each(|(sum, x)| *sum = x + 1.0);
    }
    0
}

#[test]
fn a_system_library_is_found_by_its_prefix() -> Result<()> {
    let payload = std::fs::read(path("chain", "bytecode.vm")).unwrap();
    let mut stream = Vec::new();
    // Two modules; the first imports the second.
    for word in [3u64, 0, 1, 1, 1, 1] {
        stream.extend(word.to_le_bytes());
    }
    for part in [&b"relax.VMExecutable"[..], &payload, b"_lib"] {
        stream.extend((part.len() as u64).to_le_bytes());
        stream.extend(part);
    }
    let bin = [&(stream.len() as u64).to_le_bytes()[..], &stream].concat().leak();
    // SAFETY: the first is an embedded binary, which is never freed, and the second a safe-call
    // function.
    unsafe {
        system_lib::register(b"chain_system___tvm_ffi__library_bin", bin.as_mut_ptr().cast())?;
        system_lib::register(b"__tvm_ffi_add", add_one as *mut c_void)?;
    }
    let model = Model::from_system_library("chain_system_")?;
    let x = Tensor::from_slice(&[0f32, 1.0, 2.0, 3.0], &[4])?;
    let y: Tensor = model.call_packed("main", &[AnyView::from(&x)])?.get()?;
    assert_eq!(y.as_slice::<f32>()?, [1000.0, 1001.0, 1002.0, 1003.0]);
    let error = Model::from_system_library("no_system_").map(drop).unwrap_err();
    assert_eq!(error.kind_bytes(), b"TypeError");
    Ok(())
}
