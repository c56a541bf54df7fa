//! Tests the machine's errors, and that it can be used after them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use std::sync::{Arc, Mutex};

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, String};
use ferrite_relax::machine::Machine;
use ferrite_relax::memory::Kind;
use support::*;

/// Returns an executable in which `twice(x)` calls `kernel` on its argument, and `main(x)` calls
/// `twice`, then `kernel` on the result.
fn nested() -> Vec<u8> {
    let twice = bytecode("twice", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
    let main = bytecode("main", &["x"], 3, vec![call(1, 1, &[0]), call(2, 0, &[1]), ret(2)]);
    executable(&[packed("kernel"), twice, main], &[])
}

/// Creates a machine that uses one function for all kernels.
fn with_kernel(bytes: &[u8], kernel: Function) -> Result<Machine> {
    let machine = Machine::new(load(bytes)?);
    machine.initialize_on_cpu(Kind::Pooled, &|_| Ok(Some(kernel.clone())))?;
    Ok(machine)
}

fn add_one() -> Result<Function> {
    Function::from_typed(|x: i64| x + 1)
}

fn call_main(machine: &Machine, args: &[AnyView<'_>]) -> Result<Any> {
    machine.call(machine.executable().find(b"main").expect("a function main"), args)
}

fn error(result: Result<Any>, kind: &str, message: &str) {
    assert_eq!(texts(result), (kind.to_string(), message.to_string()));
}

#[test]
fn functions_call_each_other() -> Result<()> {
    let machine = with_kernel(&nested(), add_one()?)?;
    assert_eq!(call_main(&machine, &[5i64.into()])?.get::<i64>()?, 7);
    // A machine may move between calls.
    let moved = Box::new(machine);
    assert_eq!(call_main(&moved, &[6i64.into()])?.get::<i64>()?, 8);
    Ok(())
}

#[test]
fn a_wrong_number_of_arguments_names_the_parameters() -> Result<()> {
    let machine = with_kernel(&nested(), add_one()?)?;
    let text = "Invoking function main expects 1 arguments (x), but 2 arguments were provided.";
    error(call_main(&machine, &[1i64.into(), 2i64.into()]), "InternalError", text);
    assert_eq!(call_main(&machine, &[1i64.into()])?.get::<i64>()?, 3);
    Ok(())
}

#[test]
fn calls_before_initialization_are_errors() -> Result<()> {
    let machine = Machine::new(load(&nested())?);
    let text = "The virtual machine has no devices yet: call vm_initialization first";
    error(call_main(&machine, &[1i64.into()]), "InternalError", text);
    assert_eq!(texts(machine.set_input(b"main", false, &[1i64.into()])).1, text);
    assert_eq!(texts(machine.initialize(Default::default(), &|_| Ok(None))).0, "InternalError");
    Ok(())
}

#[test]
fn a_missing_kernel_is_named() -> Result<()> {
    let machine = Machine::new(load(&nested())?);
    let (kind, message) = texts(machine.initialize_on_cpu(Kind::Naive, &|_| Ok(None)));
    assert_eq!(kind, "InternalError");
    assert!(
        message.starts_with(
            "Error: Cannot find ffi::Function kernel in either Relax VM kernel library"
        ),
        "{message}"
    );
    let native = executable(
        &[Draft {
            name: "f",
            kind: 2,
            arguments: 0,
            registers: 1,
            parameters: &[],
            body: Vec::new(),
        }],
        &[],
    );
    let (_, message) =
        texts(Machine::new(load(&native)?).initialize_on_cpu(Kind::Naive, &|_| Ok(None)));
    assert_eq!(message, "Cannot find underlying compiled tirx function of VMTIRFunc f");
    Ok(())
}

#[test]
fn errors_of_kernels_leave_through_every_frame() -> Result<()> {
    let kernel = Function::from_packed(|args| match args[0].get::<i64>()? {
        9 => Err(ferrite_core::error!(KeyError, "nine")),
        other => Ok((other + 1).into()),
    })?;
    let machine = with_kernel(&nested(), kernel)?;
    error(call_main(&machine, &[9i64.into()]), "KeyError", "nine");
    error(call_main(&machine, &[8i64.into()]), "KeyError", "nine");
    assert_eq!(call_main(&machine, &[1i64.into()])?.get::<i64>()?, 3);
    Ok(())
}

#[test]
fn recursion_without_end_is_an_error() -> Result<()> {
    let main = bytecode("main", &["x"], 2, vec![call(1, 0, &[0]), ret(1)]);
    let bytes = executable(&[main], &[]);
    // A stack of its own, whose end the library does not know.
    std::thread::spawn(move || {
        let machine = machine(&bytes).unwrap();
        for _ in 0..2 {
            let (kind, message) = texts(call_main(&machine, &[1i64.into()]));
            assert_eq!(kind, "ValueError");
            assert!(message.contains("nested too deep"), "{message}");
        }
    })
    .join()
    .unwrap();
    Ok(())
}

#[test]
fn a_recursion_of_large_frames_is_an_error() -> Result<()> {
    let main = bytecode("main", &["x"], 1 << 20, vec![call(1, 0, &[0]), ret(1)]);
    let machine = machine(&executable(&[main], &[]))?;
    let (kind, message) = texts(call_main(&machine, &[1i64.into()]));
    assert_eq!(
        (kind.as_str(), message.contains("their registers take more than")),
        ("ValueError", true)
    );
    Ok(())
}

#[test]
fn another_thread_is_refused_during_a_call() -> Result<()> {
    let found: Arc<Mutex<Option<(std::string::String, std::string::String)>>> = Arc::default();
    let machine: Arc<std::sync::OnceLock<Machine>> = Arc::default();
    let (inner, result) = (machine.clone(), found.clone());
    let kernel = Function::from_packed(move |args| {
        let machine = inner.clone();
        let other = std::thread::spawn(move || {
            machine.get().map(|machine| texts(call_main(machine, &[1i64.into()])))
        });
        *result.lock().unwrap() = other.join().unwrap();
        args[0].to_owned()
    })?;
    assert!(machine.set(with_kernel(&nested(), kernel)?).is_ok());
    let machine = machine.get().unwrap();
    assert_eq!(call_main(machine, &[4i64.into()])?.get::<i64>()?, 4);
    let (kind, message) = found.lock().unwrap().take().unwrap();
    assert_eq!(kind, "RuntimeError");
    assert!(message.starts_with("Another thread is using this virtual machine"), "{message}");
    // Threads may take turns.
    std::thread::scope(|threads| {
        let other = threads.spawn(|| machine.parameters(b"main").map(|names| names.len()));
        assert_eq!(other.join().unwrap().unwrap(), 1);
    });
    Ok(())
}

#[test]
fn the_instrument_sees_calls_and_may_skip_them() -> Result<()> {
    let machine = with_kernel(&nested(), add_one()?)?;
    let seen: Arc<Mutex<Vec<std::string::String>>> = Arc::default();
    let log = seen.clone();
    let instrument = Function::from_packed(move |args| {
        let name: String = args[1].get()?;
        let is_before: bool = args[2].get()?;
        let result: Option<i64> = args[3].get()?;
        let argument: Option<i64> = args[4].get()?;
        let name = std::string::String::from_utf8_lossy(name.as_bytes()).into_owned();
        log.lock().unwrap().push(format!("{name} {is_before} {result:?} {argument:?}"));
        // Skips the kernel when it is called on 6, the second time.
        Ok(i64::from(is_before && name == "kernel" && argument == Some(6)).into())
    })?;
    machine.set_instrument(Some(instrument))?;
    assert!(call_main(&machine, &[5i64.into()])?.is_none());
    let expected = [
        "twice true None Some(5)",
        "kernel true None Some(5)",
        "kernel false Some(6) Some(5)",
        "twice false Some(6) Some(5)",
        "kernel true None Some(6)",
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
    machine.set_instrument(None)?;
    assert_eq!(call_main(&machine, &[5i64.into()])?.get::<i64>()?, 7);
    Ok(())
}

#[test]
fn a_saved_function_shadows_one_of_the_model() -> Result<()> {
    let machine = with_kernel(&nested(), add_one()?)?;
    machine.save_function(b"main", String::new("twice")?, true, &[1i64.into()])?;
    let closure = machine.closure(b"twice")?.expect("a closure");
    assert_eq!(closure.call(&machine, &[])?.get::<i64>()?, 3);
    machine.save_function(b"main", String::new("twice")?, false, &[1i64.into()])?;
    assert!(machine.closure(b"twice")?.expect("a closure").call(&machine, &[])?.is_none());
    assert_eq!(
        texts(machine.save_function(b"none", String::EMPTY, true, &[])).1,
        "Unknown function: none"
    );
    assert_eq!(texts(machine.closure(b"kernel")).1, "Cannot support closure with function kind 0");
    assert!(machine.closure(b"none")?.is_none());
    Ok(())
}

#[test]
fn saved_functions_and_closures_know_where_the_machine_is() -> Result<()> {
    // `main(x)` returns the machine that its kernel gets.
    let main = bytecode("main", &["x"], 2, vec![call(1, 0, &[MACHINE, 0]), ret(1)]);
    let bytes = executable(&[packed("kernel"), main], &[]);
    let get = Function::from_packed(|args| args[0].to_owned())?;
    let machine = with_kernel(&bytes, get)?;
    machine.save_function(b"main", String::new("saved")?, true, &[1i64.into()])?;
    let (saved, main) = (machine.closure(b"saved")?.unwrap(), machine.closure(b"main")?.unwrap());
    // Neither has been called by `Machine::call` before, and the machine moves.
    let place = |machine: &Machine| core::ptr::from_ref(machine).addr() as u64;
    let address = |value: Any| value.view().payload_bits();
    assert_eq!(address(saved.call(&machine, &[])?), place(&machine));
    let moved = Box::new(machine);
    assert_eq!(address(main.call(&moved, &[1i64.into()])?), place(&moved));
    assert_eq!(address(moved.invoke(&AnyView::from(&main), &[1i64.into()])?), place(&moved));
    Ok(())
}

#[test]
fn inputs_and_outputs_are_kept_by_function() -> Result<()> {
    let machine = with_kernel(&nested(), add_one()?)?;
    let no_inputs = "No inputs set for stateful call of main; use `set_input` first.";
    assert_eq!(texts(machine.invoke_stateful(b"main")).1, no_inputs);
    let no_output = "No output saved for call of \"main\"; use `invoke_stateful` to call it first.";
    assert_eq!(texts(machine.output(b"main", &[])).1, no_output);
    let count = "The number of provided parameters doesn't match the number of arguments for";
    assert_eq!(texts(machine.set_input(b"main", false, &[])).1, count);
    machine.set_input(b"main", false, &[3i64.into()])?;
    machine.invoke_stateful(b"main")?;
    assert_eq!(machine.output(b"main", &[])?.get::<i64>()?, 5);
    let no_array = "Attempted to index into an object that is not an Array.";
    assert_eq!(texts(machine.output(b"main", &[0i64.into()])).1, no_array);
    Ok(())
}

#[test]
fn a_closure_belongs_to_the_machines_of_its_executable() -> Result<()> {
    let (one, other) = (with_kernel(&nested(), add_one()?)?, with_kernel(&nested(), add_one()?)?);
    let closure = one.closure(b"main")?.expect("a closure");
    assert_eq!(closure.call(&one, &[1i64.into()])?.get::<i64>()?, 3);
    let text = "A closure was called by the machine of another executable";
    error(closure.call(&other, &[1i64.into()]), "InternalError", text);
    Ok(())
}

/// A model as TVM writes it for CUDA graphs: `main(x)` gets storages by `allocate`, and calls
/// `captured(x)`.
#[test]
fn functions_for_cuda_graphs_are_called_each_time() -> Result<()> {
    let [run, allocate] =
        ["run_or_capture", "get_cached_alloc"].map(|name| format!("vm.builtin.cuda_graph.{name}"));
    let made = bytecode("allocate", &[], 1, vec![call(0, 0, &[immediate(40)]), ret(0)]);
    let captured = bytecode("captured", &["x", "y"], 3, vec![call(2, 1, &[0, 1]), ret(2)]);
    let main = bytecode(
        "main",
        &["x"],
        4,
        vec![
            call(1, 3, &[MACHINE, function(5), immediate(0)]),
            call(2, 4, &[0, 1]),
            call(3, 2, &[MACHINE, function(6), 2, immediate(0)]),
            ret(3),
        ],
    );
    let kernels = [
        packed("copy"),
        packed("add"),
        packed(&run),
        packed(&allocate),
        packed("vm.builtin.make_tuple"),
    ];
    let functions: Vec<_> = kernels.into_iter().chain([made, captured, main]).collect();
    let machine = Machine::new(load(&executable(&functions, &[]))?);
    machine.initialize_on_cpu(Kind::Pooled, &|name| match name {
        b"copy" => Function::from_typed(|x: i64| x).map(Some),
        b"add" => Function::from_typed(|x: i64, y: i64| x + y).map(Some),
        _ => Ok(None),
    })?;
    for x in [2i64, 3] {
        assert_eq!(call_main(&machine, &[x.into()])?.get::<i64>()?, x + 40);
    }
    Ok(())
}
