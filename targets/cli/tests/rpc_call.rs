//! Runs `ferrite rpc call` and `bench` against `ferrite rpc serve`, with and without a tracker.
#![allow(missing_docs, reason = "each test's name says it")]
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ferrite_tests::{Outcome, root, scratch};
use support::{ferrite, json, kernels};

const TOKEN: &str = "0123456789abcdef";

/// Running server or tracker, which ends with the test.
struct Running {
    process: Child,
    address: String,
}

impl Running {
    /// Starts a command that prints its address at the end of its first line.
    fn start(arguments: &[&str]) -> Outcome<Running> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
        command.arg("rpc").args(arguments).args(["--tcp", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or_else(|| "no output".to_string())?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.split_whitespace().last().unwrap_or_default().to_string();
        Ok(Running { process, address })
    }

    fn serve(arguments: &[&str]) -> Outcome<Running> {
        Running::start(&[&["serve"], arguments].concat())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[test]
fn arguments_and_results_are_those_of_local_calls() -> Outcome<()> {
    let library = kernels("rpc-call")?;
    let server = Running::serve(&["--library", text(&library)])?;
    let call = |words: &[&str]| ferrite(&[&["rpc", "call", &server.address], words].concat(), &[]);
    let x = format!("@{}", root().join("tests/programs/device/data/add_one/x.npy").display());
    for words in [["add_one", "[1, 2.5]", "float32[2]"], ["add_one", &x, "float32[1024]"]] {
        let local = ferrite(&[&["call", text(&library)], &words[..]].concat(), &[])?.success()?;
        assert_eq!(call(&words)?.success()?, local);
    }
    let found = json(&call(&["--json", "add_one", "[1]", "float32[1]"])?.success()?)?;
    assert_eq!(found["outputs"]["1"]["elements"], serde_json::json!([2.0]));
    for (argument, printed) in [("5", "5"), ("-2.5", "-2.5"), ("true", "True"), ("\"a\"", "a")] {
        assert_eq!(call(&["testing.echo", argument])?.success()?.trim(), printed);
    }
    Ok(())
}

#[test]
fn errors_have_their_kind_and_a_status() -> Outcome<()> {
    let library = kernels("rpc-call-errors")?;
    let server = Running::serve(&["--library", text(&library), "--key", "board"])?;
    let call = |words: &[&str]| ferrite(&[&["rpc", "call"], words].concat(), &[]);
    let at = server.address.as_str();
    let raised = call(&["--key", "board", at, "add_one", "[1]", "float32[2]"])?.failure(1)?;
    assert!(raised.contains("ValueError: add_one: expected vectors"), "{raised}");
    let refused = call(&["--key", "board", at, "ffi.Array"])?.failure(1)?;
    assert!(refused.contains("PermissionError"), "{refused}");
    for (words, status, message) in [
        (&["--key", "board", at, "add_on"][..], 2, "no function add_on"),
        (&["--key", "board", at, "testing.echo", "{"], 2, "argument 0"),
        (&["--key", "board", at], 2, "name the function"),
        (&["--key", "board", "--device", "toaster", at, "testing.echo"], 2, "toaster"),
        (&["--key", "board", "--module", "missing.so", at, "add_one"], 3, "missing.so"),
        (&["--token", "missing.txt", at, "testing.echo"], 3, "missing.txt"),
        (&["--key", "phone", at, "testing.echo"], 4, "refuses the key \"phone\""),
        (&["127.0.0.1:1", "testing.echo"], 4, "127.0.0.1:1"),
        (&["board.lan:x", "testing.echo"], 2, "board.lan:x"),
        (&["--tracker", "127.0.0.1:1", "--key", "board", "testing.echo"], 4, "tracker 127.0.0.1:1"),
        (&["--tracker", at, "--key", "board", "testing.echo"], 4, "not a tracker"),
    ] {
        let found = call(words)?.failure(status)?;
        assert!(found.contains(message), "{words:?}: {found}");
    }
    Ok(())
}

#[test]
fn a_module_is_uploaded_with_a_token() -> Outcome<()> {
    let library = kernels("rpc-call-module")?;
    let token = scratch("rpc-call-token")?.join("token");
    std::fs::write(&token, format!("{TOKEN}\n"))?;
    let server = Running::serve(&["--allow-code", "--token", text(&token)])?;
    let words = [&server.address, "add_one", "[1]", "float32[1]"];
    let call = |options: &[&str]| ferrite(&[&["rpc", "call"], options, &words].concat(), &[]);
    let module = ["--module", text(&library)];
    let with_token = ["--token", text(&token)];
    let printed = call(&[module, with_token].concat())?.success()?;
    assert_eq!(printed, "argument 1: float32[1] [2]\n");
    call(&module)?.failure(4)?;
    call(&with_token)?.failure(2)?;
    Ok(())
}

#[test]
fn a_call_waits_for_a_server_of_the_tracker() -> Outcome<()> {
    let tracker = Running::start(&["tracker"])?;
    let arguments = ["--tracker", &tracker.address, "--key", "board"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    command.args(["rpc", "call"]).args(arguments).args(["testing.echo", "7"]);
    let mut waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let errors = waiting.stderr.take().ok_or_else(|| "no output".to_string())?;
    BufReader::new(errors).read_line(&mut line)?;
    assert!(line.starts_with("waiting for a server of board: 0 registered"), "{line}");
    let _server = Running::serve(&arguments)?;
    let output = waiting.wait_with_output()?;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7\n");
    Ok(())
}

#[test]
fn a_server_is_measured() -> Outcome<()> {
    let library = kernels("rpc-bench")?;
    let server = Running::serve(&["--library", text(&library)])?;
    let options = ["rpc", "bench", "--calls", "20", "--runs", "3", "--copy", "1"];
    let measured = |more: &[&str]| ferrite(&[&options, more].concat(), &[]);
    let function = ["add_one", "[1, 2]", "float32[2]"];
    let all = [&["--json", &server.address], &function[..]].concat();
    let report = json(&measured(&all)?.success()?)?;
    assert_eq!(report["server"], server.address.as_str());
    assert_eq!(report["round_trip"]["request"], "call");
    assert_eq!(report["copies"]["bytes"], 1 << 20);
    assert_eq!(report["function"]["seconds"]["count"], 3);
    for pointer in ["/round_trip/seconds/median", "/copies/up", "/copies/down"] {
        let found = report.pointer(pointer).and_then(serde_json::Value::as_f64);
        assert!(found.is_some_and(|found| found > 0.0), "{pointer}: {report}");
    }
    let printed = measured(&[&server.address])?.success()?;
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[0], server.address);
    assert!(lines[1].contains("round trip  median") && lines[2].contains("MB/s"), "{printed}");
    let missing = measured(&[&server.address, "no_such"])?.failure(2)?;
    assert!(missing.contains("no_such"), "{missing}");
    Ok(())
}
