//! `ferrite bench`: numbers that hold on any machine, and functions that execute a known number of
//! instructions.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Cc, Outcome, require, root, scratch};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use support::{ferrite, kernels};

/// Compiles the functions with a known number of instructions.
fn counted(folder: &str) -> Outcome<PathBuf> {
    let source = root().join("targets/cli/tests/bench/counted.c");
    Cc::shared(scratch(folder)?.join("counted.so")).strict().source(source).link()
}

/// Runs the command on a function without arguments, and returns its report.
fn bench(folder: &str, function: &str, options: &[&str]) -> Outcome<Value> {
    let library = counted(folder)?;
    let words = ["bench", "--json", "--runs", "5"].into_iter().chain(options.iter().copied());
    let words: Vec<_> =
        words.chain([&*library.to_string_lossy(), function]).map(String::from).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let printed = ferrite(&words, &[])?.success()?;
    serde_json::from_str(&printed).map_err(|error| format!("{error}\n{printed}").into())
}

#[test]
fn times_are_in_order() -> Outcome<()> {
    for function in ["none", "text"] {
        let report = bench("cli-bench-times", function, &["--instructions", "none"])?;
        let times = &report["nanoseconds"];
        let number = |value: &Value| value.as_f64().unwrap_or(-1.0);
        let (min, median) = (number(&times["min"]), number(&times["median"]));
        let [first, third] = [number(&times["quartiles"][0]), number(&times["quartiles"][1])];
        assert!(0.0 <= min && min <= first && first <= median && median <= third, "{times}");
        assert!(times["calls"].as_u64() > Some(1) && times["runs"] == 5, "{times}");
        assert_eq!(report["instructions"]["reason"], "--instructions none");
    }
    Ok(())
}

#[test]
fn text_has_the_same_numbers() -> Outcome<()> {
    let library = kernels("cli-bench-text")?;
    let library = library.to_string_lossy();
    let words =
        ["bench", &library, "dot", "[1,2]", "[3,4]", "--runs", "3", "--instructions", "none"];
    let printed = ferrite(&words, &[])?.success()?;
    assert!(
        printed.starts_with("dot of ") && printed.contains("\n  time          median "),
        "{printed}"
    );
    assert!(printed.ends_with("\n  instructions  not counted: --instructions none\n"), "{printed}");
    Ok(())
}

#[test]
#[ignore = "needs valgrind: ./ci.sh cli"]
fn instructions_are_those_of_the_call() -> Outcome<()> {
    require("valgrind", "valgrind")?;
    let count = |function: &str| -> Outcome<f64> {
        let report = bench("cli-bench-counted", function, &["--instructions", "valgrind"])?;
        assert_eq!(report["instructions"]["by"], "valgrind", "{report}");
        Ok(report["instructions"]["per_call"].as_f64().unwrap_or_default())
    };
    let (none, thousand, text) = (count("none")?, count("thousand")?, count("text")?);
    assert_eq!(thousand - none, 1000.0);
    // A call and its function take a few, the loop none.
    assert!(none > 5.0 && none < 100.0, "{none}");
    assert!(text > none, "{text}");
    Ok(())
}

#[test]
fn missing_counters_are_explained() -> Outcome<()> {
    let library = counted("cli-bench-missing")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    command.args(["bench", "--runs", "1", "--instructions", "valgrind"]).arg(library).arg("none");
    let output = command.env("PATH", "/no/such/folder").output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(
        printed.contains("instructions  not counted: valgrind cannot be started ("),
        "{printed}"
    );
    Ok(())
}

#[test]
fn errors_are_those_of_call() -> Outcome<()> {
    let library = kernels("cli-bench-errors")?;
    let library = library.to_string_lossy();
    let message = ferrite(&["bench", &library, "add_one", "[1]", "[1,2]"], &[])?.failure(1)?;
    assert!(
        message.starts_with("error: ValueError: add_one: expected vectors of the same length\n"),
        "{message}"
    );
    ferrite(&["bench", &library, "missing"], &[])?.failure(2)?;
    ferrite(&["bench", &library, "dot", "--runs", "0"], &[])?.failure(2)?;
    ferrite(&["bench", "no/such/library.so", "f"], &[])?.failure(3)?;
    Ok(())
}
