//! Tests models as programs use them: names and types of inputs, inputs by name, weights from a
//! file, duplicates in threads, and profiles. Kernels are written in Rust or compute nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use std::sync::{Barrier, OnceLock};

use ferrite_alloc_ext::containers::{ArrayObject, MapObject};
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, String as Text, Tensor};
use ferrite_relax::model::{Inputs, Kernels, Model, Parameters};
use support::*;

fn stubs() -> Result<Kernels> {
    Kernels::from_fn(|name| stub(name.as_bytes()).map(Some))
}

fn model(fixture: &str) -> Result<Model> {
    Model::from_bytes(&support::fixture(fixture), stubs()?)
}

fn parameter_file() -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/relax/models");
    std::fs::read(format!("{root}/mlp_i8/params.bin")).expect("a fixture")
}

/// Returns name, element type and shape of each input. The type is `code/bits`.
fn signature(fixture: &str, function: &str) -> Vec<String> {
    let function = model(fixture).unwrap().function(function).unwrap();
    let describe = |input: ferrite_relax::model::Input<'_>| {
        let tensor = input.tensor_type();
        let dtype =
            tensor.dtype().map(|dtype: DLDataType| format!("{}/{}", dtype.code, dtype.bits));
        let shape = tensor.ndim().map(|_| tensor.shape().collect::<Vec<_>>());
        format!("{} {} {shape:?}", input.name(), dtype.unwrap_or_default())
    };
    function.inputs().map(describe).collect()
}

#[test]
fn inputs_have_the_types_that_their_checks_demand() {
    assert_eq!(signature("cnn", "main"), ["x 2/32 Some([Some(1), Some(1), Some(8), Some(8)])"]);
    assert_eq!(
        signature("mlp_dyn", "forward"),
        [
            "x 2/32 Some([None, Some(64)])",
            "packed_params  None" // a tuple
        ]
    );
    assert_eq!(signature("control", "choose"), ["c 6/8 Some([])", "x 2/32 Some([Some(4)])"]);
    // A Shape is not a tensor.
    assert_eq!(signature("values", "fill"), ["s  None"]);
}

#[test]
fn results_are_counted_where_the_code_tells() -> Result<()> {
    let count = |fixture: &str, function: &str| {
        model(fixture).map(|model| model.function(function).unwrap().output_count())
    };
    assert_eq!(count("cnn", "main")?, Some(1));
    assert_eq!(count("values", "pair")?, Some(2));
    assert_eq!(count("control", "choose")?, None); // each branch makes one
    assert_eq!(count("values", "closure")?, None); // the result of another function
    // Two returns.
    let body = vec![vec![4, 0, 2], ret(0), ret(1)];
    let bytes = executable(&[bytecode("main", &["x", "y"], 2, body)], &[]);
    assert_eq!(Model::from_bytes(&bytes, stubs()?)?.function("main")?.output_count(), None);
    Ok(())
}

#[test]
fn functions_are_found_by_name() -> Result<()> {
    let model = model("control")?;
    let names: Vec<_> = model.function_names().collect();
    assert_eq!(names, ["choose", "power"]);
    let power = model.function("power")?;
    assert_eq!((power.name(), power.inputs().len()), ("power", 2));
    assert_eq!([power.input_position("x"), power.input_position("y")], [Some(1), None]);
    let unknown = ("ValueError".into(), "Unknown function: nope".into());
    assert_eq!(texts(model.function("nope")), unknown);
    assert_eq!(texts(model.call_packed("nope", &[])), unknown);
    Ok(())
}

/// Returns a model whose `main(x, y)` is `x - y` by a kernel.
fn subtraction() -> Result<Model> {
    let main = bytecode("main", &["x", "y"], 3, vec![call(2, 0, &[0, 1]), ret(2)]);
    let kernels = Kernels::from_fn(|name| match name {
        "subtract" => Function::from_typed(|x: i64, y: i64| x - y).map(Some),
        _ => Ok(None),
    })?;
    Model::from_bytes(&executable(&[packed("subtract"), main], &[]), kernels)
}

#[test]
fn inputs_are_given_by_name_and_kept() -> Result<()> {
    let mut inputs = Inputs::new(&subtraction()?.function("main")?)?;
    inputs.set("y", 2i64)?;
    let missing = "The input x of the function main is not set";
    assert_eq!(texts(inputs.call()), ("ValueError".into(), missing.into()));
    let unknown = "The function main has no input z";
    assert_eq!(texts(inputs.set("z", 1i64)), ("ValueError".into(), unknown.into()));
    for x in [10i64, 20] {
        inputs.set("x", x)?;
        assert_eq!(inputs.call()?.get::<i64>()?, x - 2);
    }
    // None is a value.
    inputs.set("x", Any::NONE)?;
    assert_eq!(texts(inputs.call()).0, "TypeError");
    Ok(())
}

#[test]
fn a_missing_kernel_is_an_error() {
    let bytes = executable(&[packed("kernel"), bytecode("main", &["x"], 1, vec![ret(0)])], &[]);
    let kernels = Kernels::from_fn(|_| Ok(None)).unwrap();
    let (kind, message) = texts(Model::from_bytes(&bytes, kernels));
    assert_eq!(kind, "InternalError");
    assert!(message.starts_with("Error: Cannot find ffi::Function kernel"), "{message}");
}

#[test]
fn parameters_have_the_tensors_of_the_file() -> Result<()> {
    let parameters = Parameters::from_bytes(&parameter_file())?;
    let names: Vec<_> = parameters.iter().map(|(name, _)| String::from_utf8_lossy(name)).collect();
    assert_eq!(names, ["w1", "b1", "w2", "b2"]);
    assert_eq!((parameters.len(), parameters.is_empty()), (4, false));
    let array = |index: u32| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/relax/models/mlp_i8");
        std::fs::read(format!("{root}/c0_arg{index}.npy")).unwrap()
    };
    for (index, name, shape) in
        [(1, "w1", &[32, 64][..]), (2, "b1", &[32]), (3, "w2", &[10, 32]), (4, "b2", &[10])]
    {
        let tensor = parameters.get(name).unwrap();
        assert_eq!(tensor.shape(), shape, "{name}");
        let bytes: Vec<u8> = match tensor.dtype().bits {
            8 => tensor.as_slice::<i8>()?.iter().map(|element| *element as u8).collect(),
            _ => {
                tensor.as_slice::<i32>()?.iter().flat_map(|element| element.to_le_bytes()).collect()
            }
        };
        assert!(array(index).ends_with(&bytes), "{name}");
    }
    assert!(parameters.get("x").is_none());

    let function = model("mlp_i8")?.function("main")?;
    let mut inputs = Inputs::new(&function)?;
    assert_eq!(inputs.set_parameters(&parameters)?, 4);
    let missing = "The input x of the function main is not set";
    assert_eq!(texts(inputs.call()).1, missing);
    inputs.set("x", Tensor::from_slice(&[0i8; 64], &[1, 64])?)?;
    assert_eq!(inputs.call()?.get::<Tensor>()?.shape(), [1, 10]);
    // Other functions have no such inputs.
    assert_eq!(Inputs::new(&subtraction()?.function("main")?)?.set_parameters(&parameters)?, 0);
    Ok(())
}

#[test]
fn malformed_parameters_are_errors() {
    let good = parameter_file();
    let invalid = ("InternalError".to_string(), "Invalid parameters file format".to_string());
    for len in 0..good.len() {
        assert_eq!(texts(Parameters::from_bytes(&good[..len])), invalid, "{len} bytes");
    }
    // Bytes after the end are ignored, as in upstream's loader.
    assert_eq!(Parameters::from_bytes(&[&good[..], b"rest"].concat()).unwrap().len(), 4);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        Parameters::from_bytes(&changed)
    };
    // The magic number, the number of names, the length of a name, and the number of tensors.
    let names_end = 24 + 4 * (8 + 2);
    let cases = [(0, [0xff; 8]), (16, [0xff; 8]), (16, [5, 0, 0, 0, 0, 0, 0, 0]), (24, [0xff; 8])];
    for (at, bytes) in cases.into_iter().chain([(names_end, [3, 0, 0, 0, 0, 0, 0, 0])]) {
        assert_eq!(texts(with(at, &bytes)), invalid, "byte {at}");
    }
    // The first tensor: magic number, device, dimensions, size.
    for at in [0, 16, 24, 32 + 16] {
        assert_eq!(texts(with(names_end + 8 + at, &[0x77])), invalid, "byte {at} of the tensor");
    }
    // Any other change gives an error or parameters, and nothing crashes.
    for (at, byte) in good.iter().enumerate().take(400) {
        let _ = with(at, &[byte ^ 0x80]).map(|parameters| parameters.iter().count());
    }
}

#[test]
fn a_map_of_other_values_holds_no_parameters() -> Result<()> {
    let mut map = MapObject::with_capacity(1)?;
    assert!(Parameters::from_map(map.clone())?.is_empty());
    map.insert(Text::new("w")?.into(), 1i64.into())?;
    assert_eq!(texts(Parameters::from_map(map)).0, "TypeError");
    let mut map = MapObject::with_capacity(1)?;
    map.insert(1i64.into(), Tensor::from_slice(&[1f32], &[1])?.into())?;
    assert_eq!(texts(Parameters::from_map(map)).0, "TypeError");
    Ok(())
}

/// The model of the calling test, and where its kernel meets other threads.
static SHARED: OnceLock<(Model, Barrier, Barrier)> = OnceLock::new();

#[test]
fn duplicates_run_while_the_model_is_busy() -> Result<()> {
    let main = bytecode("main", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
    let bytes = executable(&[packed("kernel"), main], &[]);
    // The kernel waits at the barriers for x = 1, so that the model is busy between them.
    let kernels = Kernels::from_fn(|_| {
        Function::from_typed(|x: i64| {
            if let (1, Some((_, busy, done))) = (x, SHARED.get()) {
                busy.wait();
                done.wait();
            }
            x + 1
        })
        .map(Some)
    })?;
    let model = Model::from_bytes(&bytes, kernels)?;
    let (model, busy, done) = SHARED.get_or_init(|| (model, Barrier::new(2), Barrier::new(2)));
    let thread = std::thread::spawn(|| model.call_packed("main", &[1i64.into()])?.get::<i64>());
    busy.wait();
    let text =
        "Another thread is using this virtual machine: each thread needs a machine of its own";
    for result in [model.call_packed("main", &[5i64.into()]).map(drop), model.memory().map(drop)] {
        let (kind, message) = texts(result);
        assert!(kind == "RuntimeError" && message.starts_with(text), "{message}");
    }
    assert_eq!(texts(model.profile(|| Ok(()))).0, "RuntimeError");
    let own = model.duplicate()?;
    assert_eq!(own.call_packed("main", &[5i64.into()])?.get::<i64>()?, 6);
    assert_eq!(own.duplicate()?.call_packed("main", &[6i64.into()])?.get::<i64>()?, 7);
    done.wait();
    assert_eq!(thread.join().unwrap()?, 2);
    Ok(())
}

#[test]
fn duplicates_share_the_weights() -> Result<()> {
    let model = model("mlp")?;
    let other = model.duplicate()?;
    assert!(!core::ptr::eq(model.machine(), other.machine()));
    assert!(core::ptr::eq(
        model.machine().executable().functions(),
        other.machine().executable().functions()
    ));
    // Neither needs the other.
    drop(model);
    let x = Tensor::from_slice(&[0f32; 64], &[1, 64])?;
    assert_eq!(
        other.call_packed("forward", &[AnyView::from(&x)])?.get::<Tensor>()?.shape(),
        [1, 10]
    );
    Ok(())
}

/// Returns the calls of a profile by name, in the order of names.
fn calls(profile: &ferrite_relax::model::Profile) -> Vec<(String, u64)> {
    let operators = profile.operators().unwrap();
    let times: Vec<_> = operators.iter().map(|(_, entry)| entry.time).collect();
    assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");
    let mut calls: Vec<_> =
        operators.iter().map(|(name, entry)| (name.to_string(), entry.calls)).collect();
    calls.sort();
    calls
}

#[test]
fn a_profile_counts_calls_and_time() -> Result<()> {
    let inner = bytecode("inner", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
    let main = bytecode("main", &["x"], 3, vec![call(1, 1, &[0]), call(2, 0, &[1]), ret(2)]);
    let kernels = Kernels::from_fn(|_| {
        Function::from_packed(|args| match args[0].get::<i64>()? {
            9 => Err(ferrite_core::error!(KeyError, "nine")),
            x => {
                std::thread::sleep(std::time::Duration::from_millis(2));
                Ok((x + 1).into())
            }
        })
        .map(Some)
    })?;
    let model = Model::from_bytes(&executable(&[packed("kernel"), inner, main], &[]), kernels)?;
    let run = |x: i64| model.call_packed("main", &[x.into()])?.get::<i64>();
    let (result, profile) = model.profile(|| {
        run(1)?;
        run(2)
    })?;
    assert_eq!(result, 4);
    assert_eq!(calls(&profile), [("inner".to_string(), 2), ("kernel".to_string(), 4)]);
    let operators = profile.operators()?;
    assert!(operators.iter().all(|(_, entry)| entry.time.as_millis() >= 4), "{profile:?}");
    let table = profile.to_string();
    assert_eq!(table.lines().count(), 3);
    assert!(table.lines().next().unwrap().starts_with("operator"), "{table}");
    // Calls outside of a profile are not counted; a failed call is.
    run(5)?;
    let (_, profile) = model.profile(|| Ok(run(9).is_err()))?;
    assert_eq!(calls(&profile), [("inner".to_string(), 1), ("kernel".to_string(), 1)]);
    // An error ends the profile, and a second one inside is an error.
    assert_eq!(texts(model.profile(|| run(9))).0, "KeyError");
    assert_eq!(texts(model.profile(|| model.profile(|| Ok(())).map(drop))).0, "RuntimeError");
    assert!(calls(&model.profile(|| Ok(()))?.1).is_empty());
    Ok(())
}

#[test]
fn a_profile_and_an_instrument_both_see_the_calls() -> Result<()> {
    let model = subtraction()?;
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&seen);
    model.machine().set_instrument(Some(Function::from_packed(move |_| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(Any::NONE)
    })?))?;
    let run = || model.call_packed("main", &[3i64.into(), 1i64.into()]).map(drop);
    let ((), profile) = model.profile(run)?;
    assert_eq!(calls(&profile), [("subtract".to_string(), 1)]);
    run()?;
    assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 4);
    model.machine().set_instrument(None)?;
    run()?;
    assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 4);
    Ok(())
}

#[test]
fn the_peak_of_memory_is_that_of_the_storages() -> Result<()> {
    let model = model("mlp")?;
    let x = Tensor::from_slice(&[0f32; 64], &[1, 64])?;
    let held = model.call_packed("forward", &[AnyView::from(&x)])?;
    // A page for the result; before it, the transposed weight of 8,192 bytes and the page of
    // another tensor.
    let usage = model.memory()?;
    assert!(usage.used >= 4096 && usage.peak >= 8192 + 4096, "{usage:?}");
    drop(held);
    model.reset_peak_memory()?;
    assert!(model.memory()?.peak <= usage.peak);
    Ok(())
}

#[test]
fn kernels_are_found_in_modules_and_their_errors_are_kept() -> Result<()> {
    let bytes = executable(&[packed("kernel"), bytecode("main", &["x"], 1, vec![ret(0)])], &[]);
    let none = Kernels::in_modules(ArrayObject::from_slice(&[])?);
    assert_eq!(texts(Model::from_bytes(&bytes, none)).0, "InternalError");
    let failing = Kernels::from_fn(|_| Err(ferrite_core::error!(KeyError, "no kernels today")))?;
    assert_eq!(
        texts(Model::from_bytes(&bytes, failing)),
        ("KeyError".into(), "no kernels today".into())
    );
    Ok(())
}

#[test]
fn a_program_without_a_loader_cannot_open_libraries() {
    let (kind, message) = texts(Model::load("model.so"));
    assert!(kind == "RuntimeError" && message.contains("load_from_file.so"), "{message}");
    assert_eq!(texts(Parameters::load("nowhere/params.bin")).1, "Cannot open nowhere/params.bin");
}
