//! Tests the headers: they compile without warnings in every dialect, and have the same constants
//! and layouts as upstream's.
//!
//! The ignored tests compare with upstream's headers, which they download, or need compilers beyond
//! `cc`: `./ci.sh layout` runs them.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{
    Outcome, include, output_of, quickstart, require, require_arm_gcc, root, scratch,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const C_DIALECTS: [&str; 8] = [
    "-std=c89",
    "-std=c99",
    "-std=c11",
    "-std=c17",
    "-std=c2x",
    "-std=gnu89",
    "-std=gnu99",
    "-std=gnu17",
];
const CPP_DIALECTS: [&str; 3] = ["-std=c++11", "-std=c++17", "-std=c++20"];
const STRICT: [&str; 7] =
    ["-Wall", "-Wextra", "-Wundef", "-Wconversion", "-pedantic", "-Werror", "-c"];

type Table = BTreeMap<String, i64>;

fn sources() -> PathBuf {
    root().join("tests/conformance/layout")
}

/// Returns the sources that every dialect compiles, the example of the header-only helpers among
/// them.
fn compiled_sources() -> [PathBuf; 5] {
    let here = |name: &str| sources().join(name);
    [
        here("table.c"),
        here("prototypes.c"),
        here("twice_a.c"),
        here("twice_b.c"),
        quickstart().join("scale.c"),
    ]
}

fn system_compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

/// Returns the folder of upstream's headers.
fn upstream_include() -> Outcome<PathBuf> {
    let folder = output_of(&mut Command::new(root().join("tests/conformance/upstream/wheel.sh")))?;
    Ok(Path::new(folder.trim()).join("tvm_ffi/include"))
}

/// Returns a compiler command with target flags, without a source.
fn compiler(words: &[&str], headers: &Path) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg("-I").arg(headers);
    command
}

/// Parses the assembly of `table.c`: labels, each followed by a number.
fn numbers(assembly: &str) -> Table {
    let mut table = Table::new();
    let mut label: Option<&str> = None;
    for line in assembly.lines() {
        if let Some((name, _)) =
            line.split_once(':').filter(|_| !line.starts_with(char::is_whitespace))
        {
            label = Some(name);
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(directive), Some(value)) = (words.next(), words.next()) else { continue };
        let value = match directive {
            ".quad" | ".long" | ".word" | ".4byte" | ".8byte" | ".int32" => value.parse().ok(),
            ".zero" | ".space" | ".skip" => Some(0),
            _ => None,
        };
        if let (Some(name), Some(value)) = (label, value) {
            table.insert(name.to_string(), value);
            label = None;
        }
    }
    table
}

fn table_of(words: &[&str], language: &str, headers: &Path) -> Outcome<Table> {
    let mut command = compiler(words, headers);
    command.args(["-x", language, "-S", "-o", "-"]).arg(sources().join("table.c"));
    Ok(numbers(&output_of(&mut command)?))
}

fn differences(ours: &Table, theirs: &Table) -> Vec<String> {
    let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
    names
        .filter(|name| ours.get(*name) != theirs.get(*name))
        .map(|name| format!("{name}: ours {:?}, expected {:?}", ours.get(name), theirs.get(name)))
        .collect()
}

fn expect_same(what: &str, ours: &Table, theirs: &Table) -> Outcome<()> {
    let found = differences(ours, theirs);
    println!("{what}: {} numbers, {} differ", theirs.len(), found.len());
    if theirs.len() < 300 {
        return Err(format!("{what}: only {} numbers were read", theirs.len()).into());
    }
    if found.is_empty() { Ok(()) } else { Err(format!("{what}:\n{}", found.join("\n")).into()) }
}

/// Compiles every source of the folder in every dialect. Returns the number of compilations.
fn compile_everything(cc: &str, cxx: &str) -> Outcome<usize> {
    let mut count = 0;
    for source in &compiled_sources() {
        for dialect in C_DIALECTS {
            let mut command = compiler(&[cc, dialect, "-Wstrict-prototypes"], &include());
            output_of(command.args(STRICT).args(["-o", "/dev/null"]).arg(source))?;
            count += 1;
        }
        for dialect in CPP_DIALECTS {
            let mut command = compiler(&[cxx, dialect], &include());
            command.args(STRICT).args(["-x", "c++", "-o", "/dev/null"]);
            output_of(command.arg(source))?;
            count += 1;
        }
    }
    println!("{cc}, {cxx}: {count} compilations without a warning");
    Ok(count)
}

#[test]
fn headers_are_clean_with_the_system_compiler() -> Outcome<()> {
    let cc = system_compiler();
    for source in &compiled_sources() {
        for dialect in ["-std=c89", "-std=c99", "-std=c11"] {
            let mut command = compiler(&[cc.as_str(), dialect], &include());
            output_of(command.args(STRICT).args(["-o", "/dev/null"]).arg(source))?;
        }
    }
    Ok(())
}

/// Links two translation units that include every header twice.
#[test]
fn headers_are_included_twice() -> Outcome<()> {
    let program = scratch("layout")?.join("twice");
    let mut command = compiler(&[system_compiler().as_str(), "-std=c89"], &include());
    command.arg("-o").arg(&program);
    output_of(command.arg(sources().join("twice_a.c")).arg(sources().join("twice_b.c")))?;
    output_of(&mut Command::new(program))?;
    Ok(())
}

/// Compares with the recorded numbers of upstream's headers on 64-bit hosts. Downloads nothing.
#[test]
#[cfg(target_pointer_width = "64")]
fn numbers_are_the_recorded_ones() -> Outcome<()> {
    let ours = table_of(&[system_compiler().as_str(), "-std=c11"], "c", &include())?;
    let recorded = std::fs::read_to_string(sources().join("expected-lp64.txt"))?;
    let expected = recorded.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse().ok()?))
    });
    expect_same("recorded", &ours, &expected.collect())
}

#[test]
#[ignore = "needs gcc and clang: ./ci.sh layout"]
fn headers_are_clean_with_gcc_and_clang() -> Outcome<()> {
    require("gcc", "gcc g++")?;
    require("clang", "clang")?;
    compile_everything("gcc", "g++")?;
    compile_everything("clang", "clang++")?;
    Ok(())
}

#[test]
#[ignore = "downloads upstream's headers: ./ci.sh layout"]
fn numbers_are_upstreams() -> Outcome<()> {
    let theirs = upstream_include()?;
    for words in [&["gcc", "-std=c11"][..], &["clang", "-std=c11"]] {
        let expected = table_of(words, "c", &theirs)?;
        expect_same(&words.join(" "), &table_of(words, "c", &include())?, &expected)?;
        // With -fshort-enums, upstream's C records differ from its C++ ones; this library's do not.
        let short = [words, &["-fshort-enums"]].concat();
        expect_same(&short.join(" "), &table_of(&short, "c", &include())?, &expected)?;
    }
    for words in [&["g++", "-std=c++17"][..], &["clang++", "-std=c++17"]] {
        let ours = table_of(words, "c++", &include())?;
        expect_same(&words.join(" "), &ours, &table_of(words, "c++", &theirs)?)?;
    }
    Ok(())
}

/// Compares the numbers on all 32-bit targets.
#[test]
#[ignore = "downloads upstream's headers: ./ci.sh layout"]
fn numbers_are_upstreams_on_32_bit() -> Outcome<()> {
    require("clang", "clang")?;
    require_arm_gcc()?;
    require("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf")?;
    let theirs = upstream_include()?;
    for words in [
        &["clang", "--target=i686-linux-gnu", "-ffreestanding", "-std=c11"][..],
        &["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-std=c11", "-fno-short-enums"],
        &[
            "clang",
            "--target=thumbv7em-none-eabihf",
            "-ffreestanding",
            "-std=c11",
            "-fno-short-enums",
        ],
        &["clang", "--target=riscv32", "-ffreestanding", "-std=c11"],
        &[
            "riscv64-unknown-elf-gcc",
            "-march=rv32imac",
            "-mabi=ilp32",
            "-ffreestanding",
            "-std=c11",
        ],
        &["clang", "--target=wasm32-unknown-unknown", "-ffreestanding", "-std=c11"],
    ] {
        let ours = table_of(words, "c", &include())?;
        expect_same(&words.join(" "), &ours, &table_of(words, "c", &theirs)?)?;
    }
    Ok(())
}

/// Checks that every enumerator and macro of upstream's headers is in the table or named here.
#[test]
#[ignore = "downloads upstream's headers: ./ci.sh layout"]
fn nothing_of_upstreams_headers_is_left_out() -> Outcome<()> {
    const MARKS: [&str; 9] = [
        "TVM_FFI_WEAK",
        "TVM_FFI_DLL",
        "TVM_FFI_DLL_EXPORT",
        "TVM_FFI_ATTRIBUTE_PURE",
        "DLPACK_DLL",
        "DLPACK_EXTERN_C",
        "TVM_FFI_C_API_H_",
        "TVM_FFI_EXTRA_C_ENV_API_H_",
        "DLPACK_DLPACK_H_",
    ];
    let table = std::fs::read_to_string(sources().join("table.c"))?;
    let known = identifiers(&table);
    let mut missing = Vec::new();
    for header in ["tvm/ffi/c_api.h", "tvm/ffi/extra/c_env_api.h", "dlpack/dlpack.h"] {
        let theirs = std::fs::read_to_string(upstream_include()?.join(header))?;
        let ours = identifiers(&std::fs::read_to_string(include().join(header))?);
        for name in enumerators_and_macros(&theirs) {
            let in_table = known.contains(&name) || MARKS.contains(&name.as_str());
            if !in_table || !ours.contains(&name) {
                missing.push(format!("{header}: {name}"));
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
}

fn identifiers(text: &str) -> std::collections::BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_string).collect()
}

/// Returns the names after `#define`, and words at the beginning of a line that look like
/// enumerators.
fn enumerators_and_macros(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if first == "#define" {
            names.extend(
                words.next().map(|name| name.split('(').next().unwrap_or(name).to_string()),
            );
        } else if first.starts_with("kDL") || first.starts_with("kTVMFFI") {
            names.push(first.trim_end_matches(',').to_string());
        }
    }
    names
}

/// Compiles code for upstream's headers with this library's, and vice versa.
#[test]
#[ignore = "downloads upstream's headers: ./ci.sh layout"]
fn prototypes_are_upstreams() -> Outcome<()> {
    let theirs = upstream_include()?;
    for headers in [&include(), &theirs] {
        for words in [&["gcc", "-std=c11"][..], &["clang", "-std=c11"]] {
            let mut command = compiler(words, headers);
            command.args(["-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null"]);
            output_of(command.arg(sources().join("prototypes.c")))?;
        }
        for words in [&["g++", "-std=c++17"][..], &["clang++", "-std=c++17"]] {
            let mut command = compiler(words, headers);
            command.args(["-Wall", "-Wextra", "-Werror", "-x", "c++", "-c", "-o", "/dev/null"]);
            output_of(command.arg(sources().join("prototypes.c")))?;
        }
    }
    Ok(())
}

/// Compiles upstream's C++ headers with this library's C headers.
#[test]
#[ignore = "downloads upstream's headers: ./ci.sh layout"]
fn upstreams_cpp_headers_take_ours() -> Outcome<()> {
    let theirs = upstream_include()?;
    for cxx in ["g++", "clang++"] {
        let mut command = compiler(&[cxx, "-std=c++17", "-Wall"], &include());
        command.arg("-I").arg(&theirs).args(["-c", "-o", "/dev/null"]);
        output_of(command.arg(sources().join("cpp_client.cc")))?;
    }
    Ok(())
}
