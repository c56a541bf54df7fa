//! Tests the packed-function API of TVM 0.5 to 0.20: C programs and libraries of those releases,
//! and the symbols of the shared object.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, require, root, scratch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources() -> PathBuf {
    root().join("tests/conformance/legacy")
}

/// Compiles a library in the form of an earlier release or of the current one.
fn compiled(folder: &Path, name: &str) -> Outcome<PathBuf> {
    Cc::shared(folder.join(format!("{name}.so")))
        .args(["-std=c99"])
        .source(sources().join(name).with_extension("c"))
        .link()
}

fn run_with(name: &str, how: &str, options: impl Fn(Cc) -> Cc) -> Outcome<String> {
    let folder = scratch(&format!("legacy/{name}-{how}"))?;
    let program =
        Cc::program(folder.join(name)).strict().source(sources().join(name).with_extension("c"));
    let program = options(program).link_shared(Library::with_legacy()?)?;
    let mut command = Command::new(program);
    let report =
        output_of(command.args([compiled(&folder, "old6")?, compiled(&folder, "today")?]))?;
    print!("{report}");
    Ok(report)
}

fn run(name: &str, how: &str, options: impl Fn(Cc) -> Cc) -> Outcome<()> {
    let report = run_with(name, how, options)?;
    assert!(report.contains(" 0 failed"), "{report}");
    Ok(())
}

#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn a_program_for_the_header_of_0_6() -> Outcome<()> {
    run("api6", "plain", |program| program)
}

#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn a_program_for_the_header_of_0_18() -> Outcome<()> {
    run("api18", "plain", |program| program)
}

#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn a_program_of_0_6_under_address_and_undefined_behaviour_checks() -> Outcome<()> {
    run("api6", "sanitized", Cc::sanitized)
}

#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn a_program_of_0_18_under_address_and_undefined_behaviour_checks() -> Outcome<()> {
    run("api18", "sanitized", Cc::sanitized)
}

#[test]
#[cfg(target_env = "gnu")]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn any_allocation_may_fail() -> Outcome<()> {
    run("alloc_fail", "plain", |program| program)
}

/// Makes the calls of the Python front end of each release, without the front end. Those are run by
/// `./ci.sh legacy-front-ends`.
#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn the_calls_of_the_front_end_of_each_release() -> Outcome<()> {
    require("python3", "python3")?;
    let folder = scratch("legacy/releases")?;
    for library in ["old3", "old6", "today"] {
        compiled(&folder, library)?;
    }
    let program = sources().join("releases/calls.py");
    for release in ["0.5", "0.6.1", "0.8.0", "0.14.0", "0.18.0"] {
        let mut command = Command::new("python3");
        command
            .arg("-B")
            .arg(&program)
            .arg(Library::with_legacy()?.shared())
            .arg(&folder)
            .arg(release);
        let run = command.output()?;
        let report = String::from_utf8_lossy(&run.stderr).into_owned();
        print!("{release}: {report}");
        assert!(
            run.status.success() && report.trim_end().ends_with("\nOK"),
            "{release}:\n{report}"
        );
    }
    Ok(())
}

/// Compiles the current headers and those of each earlier generation, in every dialect.
#[test]
fn the_header_is_clean_for_every_generation() -> Outcome<()> {
    let unit = scratch("legacy/header")?.join("unit.c");
    std::fs::write(
        &unit,
        "#include <tvm/runtime/c_runtime_api.h>\n#include <tvm/runtime/c_backend_api.h>\n\
         #include <tvm/runtime/c_runtime_api.h>\n",
    )?;
    clean_in_every_dialect(&unit, &["6", "8", "14", "18"])
}

fn clean_in_every_dialect(unit: &Path, generations: &[&str]) -> Outcome<()> {
    for generation in generations {
        for dialect in ["-std=c89", "-std=c99", "-std=c11", "-std=c++11"] {
            let language = if dialect.contains("++") { "c++" } else { "c" };
            let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
            command.args([
                "-pedantic",
                "-Wall",
                "-Wextra",
                "-Wundef",
                "-Werror",
                "-fsyntax-only",
                dialect,
            ]);
            command
                .arg(format!("-DTVM_LEGACY_API={generation}"))
                .arg("-I")
                .arg(root().join("include"));
            output_of(command.args(["-x", language]).arg(unit))?;
        }
    }
    Ok(())
}

/// Compiles the headers that microTVM firmware includes. Firmware for 0.6 includes none of them.
#[test]
fn the_headers_of_microtvm_are_clean() -> Outcome<()> {
    let unit = scratch("legacy/microtvm")?.join("unit.c");
    let names = [
        "crt/platform",
        "crt/stack_allocator",
        "crt/module",
        "metadata_types",
        "crt/func_registry",
    ];
    let lines = names.map(|name| format!("#include <tvm/runtime/{name}.h>\n")).concat();
    std::fs::write(&unit, format!("{lines}#include <tvm/ffi/c_api.h>\n{lines}"))?;
    clean_in_every_dialect(&unit, &["8", "14", "18"])
}

#[test]
fn headers_that_contradict_each_other_say_so() -> Outcome<()> {
    let unit = scratch("legacy/conflict")?.join("unit.c");
    for (first, second) in
        [("runtime/c_runtime_api.h", "ffi/c_api.h"), ("ffi/c_api.h", "runtime/c_runtime_api.h")]
    {
        std::fs::write(&unit, format!("#include <tvm/{first}>\n#include <tvm/{second}>\n"))?;
        let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
        command.args(["-fsyntax-only", "-DTVM_LEGACY_API=6", "-I"]).arg(root().join("include"));
        let refused = command.arg(&unit).output()?;
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && text.contains("TVM_LEGACY_API 6"), "{text}");
    }
    Ok(())
}

#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn symbols() -> Outcome<()> {
    require("nm", "binutils")?;
    let exports = |file: &str| -> Outcome<BTreeSet<String>> {
        let text = std::fs::read_to_string(root().join("tests/conformance/exports").join(file))?;
        Ok(text.lines().map(str::to_string).collect())
    };
    let mut command = Command::new("nm");
    let text =
        output_of(command.args(["-D", "--defined-only"]).arg(Library::with_legacy()?.shared()))?;
    let found: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_string)
        .collect();
    let today = &exports("symbols.txt")? | &exports("backend-symbols.txt")?;
    let wanted = &today | &exports("legacy-symbols.txt")?;
    assert_eq!(found, wanted);
    Ok(())
}

/// Limits the number of additional instructions of a call through the earlier API, compared with a
/// call through the current one.
#[test]
#[ignore = "needs valgrind: ./ci.sh legacy"]
fn a_call_costs_little_more_than_one_of_today() -> Outcome<()> {
    const CALLS: u64 = 10_000;
    /// Additional instructions per call and per argument.
    const BOUND: [u64; 2] = [48, 14];
    require("valgrind", "valgrind")?;
    let folder = scratch("legacy/cost")?;
    let program =
        Cc::program(folder.join("cost")).strict().args(["-O2"]).source(sources().join("cost.c"));
    let program = program.link_shared(Library::with_legacy()?)?;
    let count = |api: &str, arguments: u64, calls: u64| -> Outcome<u64> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&program);
        let run = command.args([api, &arguments.to_string(), &calls.to_string()]).output()?;
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        let counted =
            text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
        counted.ok_or_else(|| format!("no count in:\n{text}").into())
    };
    for arguments in [0, 1, 4, 16] {
        let cost = |api| -> Outcome<u64> {
            Ok((count(api, arguments, CALLS)? - count(api, arguments, 0)?).div_ceil(CALLS))
        };
        let (legacy, today) = (cost("legacy")?, cost("ffi")?);
        println!("{arguments} arguments: {legacy} instructions, today's API {today}");
        assert!(legacy - today <= BOUND[0] + BOUND[1] * arguments, "{arguments} arguments");
    }
    Ok(())
}
