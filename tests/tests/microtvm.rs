//! Runs the boards' microTVM firmware on this machine, where the sanitizers detect null pointers
//! and bad addresses.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Outcome, output_of, root, scratch};
use std::path::PathBuf;
use std::process::Command;

/// Returns the archive of the profile `minimal` with microTVM's runtime, for this machine.
fn archive() -> Outcome<PathBuf> {
    let folder = scratch("microtvm")?.join("build");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args([
        "rustc",
        "--profile",
        "mcu",
        "--package",
        "ferrite-ffi-minimal",
        "--crate-type",
        "staticlib",
    ]);
    command.args(["--features", "microtvm"]);
    command.arg("--manifest-path").arg(root().join("Cargo.toml")).arg("--target-dir").arg(&folder);
    output_of(&mut command)?;
    Ok(folder.join("mcu/libtvm_ffi.a"))
}

#[test]
fn bad_input_is_refused_under_address_and_undefined_behaviour_checks() -> Outcome<()> {
    let firmware = root().join("targets/boards/firmware");
    let mut program = Cc::program(scratch("microtvm")?.join("firmware")).generated().sanitized();
    program = program.headers(&firmware).headers(firmware.join("microtvm"));
    for name in ["microtvm", "microtvm/packed", "microtvm/table", "microtvm/unpacked"] {
        program = program.source(firmware.join(name).with_extension("c"));
    }
    for name in ["ffi", "print", "workspace", "profile_minimal"] {
        program = program.source(firmware.join(name).with_extension("c"));
    }
    let program =
        program.source(root().join("tests/embedded/microtvm/board.c")).source(archive()?).link()?;
    let report = output_of(&mut Command::new(program))?;
    println!("{report}");
    let rows = report.lines().filter(|line| line.starts_with("row|")).count();
    assert!(rows > 40 && !report.contains("FAILED"), "{rows} rows");
    Ok(())
}
