//! Tests whole models from C: every call of the fixtures, in both execution modes.
#![forbid(unsafe_code)]
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::path::PathBuf;
use std::process::Command;

fn folder() -> PathBuf {
    root().join("tests/programs/relax")
}

/// Returns the calls of the fixtures: for each, the model, and the runner's arguments after the
/// library.
fn calls() -> Outcome<Vec<(String, Vec<String>)>> {
    let text = std::fs::read_to_string(folder().join("models/calls.txt"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let calls = lines.map(|line| {
        let mut words = line.split(' ').map(str::to_string);
        (words.next().unwrap_or_default(), words.collect())
    });
    Ok(calls.collect())
}

/// Builds the runner and links it with the library as released.
fn runner(test: &str) -> Outcome<PathBuf> {
    let program = Cc::program(scratch(&format!("relax-{test}"))?.join("run_model"))
        .source(folder().join("run_model.c"));
    program.args(["-lm", "-ldl"]).link_shared(Library::with_cxx()?)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn models_give_the_results_of_tvms_machine() -> Outcome<()> {
    let (runner, calls) = (runner("results")?, calls()?);
    assert_eq!(calls.len(), 31);
    for (model, arguments) in calls {
        for (mode, allocator) in
            [("bytecode", "1"), ("bytecode", "2"), ("compiled", "1"), ("compiled", "2")]
        {
            let mut command = Command::new(&runner);
            command.current_dir(folder().join("models").join(&model)).args(["-a", allocator]);
            let output = output_of(command.arg(format!("./{mode}.so")).args(&arguments))?;
            assert_eq!(output, "ok\n", "{model} {mode}");
        }
    }
    Ok(())
}

/// Checks that the runner really compares results: with another tolerance or function, it fails.
#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn other_results_are_refused() -> Outcome<()> {
    let runner = runner("refusals")?;
    let run = |arguments: &str| {
        let mut command = Command::new(&runner);
        command
            .current_dir(folder().join("models/control"))
            .arg("./bytecode.so")
            .args(arguments.split(' '));
        command.output().map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (arguments, message) in [
        ("choose 0.001 c0_arg0.npy c0_arg1.npy -- c1_out0.npy", "another value than c1_out0.npy"),
        ("choose 0.001 c0_arg0.npy c0_arg1.npy --", "more results than expected"),
        (
            "choose 0.001 c0_arg0.npy c0_arg1.npy -- c0_out0.npy c1_out0.npy",
            "missing result c1_out0.npy",
        ),
        (
            "choose 0.001 c0_arg0.npy -- c0_out0.npy",
            "expects 2 arguments (c, x), but 1 arguments were provided.",
        ),
        ("chosen 0.001 c0_arg0.npy -- c0_out0.npy", "no function chosen"),
    ] {
        let found = run(arguments)?;
        assert!(found.contains(message), "{arguments}: {found}");
    }
    Ok(())
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn the_example_classifies_a_picture() -> Outcome<()> {
    let program = Cc::program(scratch("relax-digits")?.join("digits")).strict();
    let program = program.source(folder().join("digits.c")).link_shared(Library::with_cxx()?)?;
    let mut command = Command::new(program);
    command.current_dir(folder().join("models/mlp_i8"));
    let output = output_of(command.args(["bytecode.so", "params.bin"]))?;
    assert!(output.starts_with("input x   int8   1 64\ninput w1  int8   32 64\n"), "{output}");
    assert!(
        output.contains("\ndigit 1\n") && output.ends_with("its duplicate says 1\n"),
        "{output}"
    );
    Ok(())
}

/// Builds a program that checks the functions for models, and runs it by a command.
fn model_program(
    source: &str,
    name: &str,
    mut command: Command,
    prepare: impl FnOnce(Cc) -> Cc,
) -> Outcome<()> {
    let program = Cc::program(scratch("relax-api")?.join(name)).strict().args(["-pthread"]);
    let program = prepare(program.source(folder().join(source)));
    command.arg(program.link_shared(Library::with_cxx()?)?).arg(folder().join("models"));
    assert_eq!(output_of(command.env("ASAN_OPTIONS", "detect_leaks=1"))?, "ok\n");
    Ok(())
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn every_function_for_models_works_and_refuses() -> Outcome<()> {
    model_program("model_api.c", "plain", Command::new("env"), |cc| cc)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn every_function_for_models_works_under_sanitizers() -> Outcome<()> {
    model_program("model_api.c", "sanitized", Command::new("env"), Cc::sanitized)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn every_function_for_models_works_under_valgrind() -> Outcome<()> {
    model_program("model_api.c", "valgrind", ferrite_tests::valgrind("definite")?, |cc| cc)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
#[cfg(target_env = "gnu")]
fn every_function_for_models_survives_failing_allocations() -> Outcome<()> {
    let quiet = |cc: Cc| cc.args(["-Wno-unused-function"]);
    model_program("model_no_memory.c", "no_memory", Command::new("env"), quiet)
}

/// Runs a model while the system refuses each mapping of memory.
#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
#[cfg(target_env = "gnu")]
fn models_survive_refused_mappings() -> Outcome<()> {
    let program = Cc::program(scratch("relax-no-mappings")?.join("program")).strict();
    let program =
        program.source(folder().join("model_no_mappings.c")).link_shared(Library::with_cxx()?)?;
    print!("{}", output_of(Command::new(program).arg(folder().join("models")))?);
    Ok(())
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
fn c_programs_load_models_by_path() -> Outcome<()> {
    let program = Cc::program(scratch("relax-load")?.join("load_model"))
        .source(folder().join("load_model.c"));
    let mut command = Command::new(program.link_shared(Library::with_cxx()?)?);
    let output = output_of(command.current_dir(folder().join("models/cnn")).arg("./bytecode.so"))?;
    assert_eq!(output, "ok\n");
    Ok(())
}

/// Returns the first call of each function of the fixtures.
fn first_calls() -> Outcome<Vec<(String, Vec<String>)>> {
    let mut first: Vec<(String, Vec<String>)> = Vec::new();
    for (model, arguments) in calls()? {
        if !first.iter().any(|(other, known)| *other == model && known.first() == arguments.first())
        {
            first.push((model, arguments));
        }
    }
    Ok(first)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh relax"]
#[cfg(target_env = "gnu")]
fn models_survive_failing_allocations() -> Outcome<()> {
    let program = Cc::program(scratch("relax-no-memory")?.join("module_no_memory"));
    let program = program.source(folder().join("module_no_memory.c")).args(["-lm", "-ldl"]);
    let program = program.link_shared(Library::with_cxx()?)?;
    let first = first_calls()?;
    assert_eq!(first.len(), 13);
    for (model, arguments) in first {
        for (mode, how) in ["bytecode", "compiled"]
            .into_iter()
            .flat_map(|mode| [(mode, "once"), (mode, "onwards")])
        {
            let mut command = Command::new(&program);
            command
                .current_dir(folder().join("models").join(&model))
                .args([how, &format!("./{mode}.so")]);
            let output = output_of(command.args(&arguments))?;
            let numbers: Vec<u32> =
                output.split(' ').filter_map(|word| word.parse().ok()).collect();
            assert!(
                numbers.len() == 2 && numbers[0] > 40 && numbers[1] >= 5,
                "{model} {mode}: {output}"
            );
            print!("{model} {} {mode} {how}: {output}", arguments[0]);
        }
    }
    Ok(())
}
