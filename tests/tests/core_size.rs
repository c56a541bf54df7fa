//! The profile `core` on a Cortex-M4F: what all of ring 1 costs, and what a program costs that registers, looks up and calls.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Outcome, output_of, require_tool, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

const CORTEX_M4F: &str = "thumbv7em-none-eabihf";

/// Memory of the library for objects and names, which is not counted.
const POOL_BYTES: u64 = 8192;

/// Bytes with every symbol of ring 1 kept, over a firmware that has the C library's memory functions anyway: text, constants and
/// initial values, and RAM beside the pool. The goal is 12,288 of flash.
const MOST_FLASH: u64 = 22_850;
const MOST_RAM: u64 = 256;

/// Bytes of flash of the whole program, start-up and memory functions included. The goal is 4,096.
const MOST_PROGRAM: u64 = 7_340;

/// The functions that compilers call, from the C library rather than from the archive, which has larger ones.
const MEMORY: [&str; 17] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    "__aeabi_memcpy",
    "__aeabi_memcpy4",
    "__aeabi_memcpy8",
    "__aeabi_memmove",
    "__aeabi_memmove4",
    "__aeabi_memmove8",
    "__aeabi_memset",
    "__aeabi_memset4",
    "__aeabi_memset8",
    "__aeabi_memclr",
    "__aeabi_memclr4",
    "__aeabi_memclr8",
];

/// Builds the archive and gives its path.
fn archive() -> Outcome<PathBuf> {
    let folder = scratch("core_size")?.join("board");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["rustc", "--profile", "mcu", "--package", "ferrite-capi", "--crate-type", "staticlib"]);
    command.args(["--no-default-features", "--features", "core", "--target", CORTEX_M4F]);
    command.arg("--manifest-path").arg(root().join("Cargo.toml")).arg("--target-dir").arg(&folder);
    command.env("FERRITE_POOL_BYTES", POOL_BYTES.to_string());
    output_of(&mut command)?;
    Ok(folder.join(CORTEX_M4F).join("mcu/libtvm_ffi.a"))
}

/// The symbols of the C ABI in an archive.
fn symbols(archive: &Path) -> Outcome<Vec<String>> {
    let list = output_of(Command::new("arm-none-eabi-nm").args(["-g", "--defined-only"]).arg(archive))?;
    let names = list.lines().filter_map(|line| line.rsplit_once(' ')).map(|(_, name)| name.to_owned());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("TVMFFI")).collect();
    names.sort();
    Ok(names)
}

/// A firmware of one C file; gives its path.
fn link(source: &str, output: &str, keep: &[String], archive: Option<&Path>) -> Outcome<PathBuf> {
    let sources = root().join("tests/core_size");
    let output = scratch("core_size")?.join(output);
    let mut command = Command::new("arm-none-eabi-gcc");
    command.args([
        "-mcpu=cortex-m4",
        "-mthumb",
        "-mfloat-abi=hard",
        "-mfpu=fpv4-sp-d16",
        "--specs=nano.specs",
    ]);
    command.args(["-Os", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-nostartfiles"]);
    command.args(["-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]).arg("-I").arg(root().join("include"));
    command.arg("-T").arg(sources.join("link.ld")).arg(sources.join(source));
    command.args(keep.iter().map(|symbol| format!("-Wl,-u,{symbol}")));
    command.arg("-lc_nano").args(archive).args(["-lc_nano", "-lgcc", "-o"]).arg(&output);
    output_of(&mut command)?;
    Ok(output)
}

/// Bytes of flash and of RAM.
fn size(firmware: &Path) -> Outcome<(u64, u64)> {
    let sizes = output_of(Command::new("arm-none-eabi-size").arg(firmware))?;
    let columns = sizes.lines().nth(1).unwrap_or_default().split_whitespace();
    let mut columns = columns.map_while(|number| number.parse::<u64>().ok());
    let mut column = || columns.next().ok_or("arm-none-eabi-size printed no sizes".to_owned());
    let (text, data, bss) = (column()?, column()?, column()?);
    Ok((text + data, data + bss))
}

fn memory() -> Vec<String> {
    MEMORY.map(str::to_owned).to_vec()
}

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh core-size"]
fn every_symbol_fits() -> Outcome<()> {
    if !require_tool("arm-none-eabi-gcc")? {
        return Ok(());
    }
    let archive = archive()?;
    let kept = symbols(&archive)?;
    assert_eq!(kept.len(), 40, "symbols of ring 1: {kept:?}");
    let without = size(&link("empty.c", "without.elf", &memory(), None)?)?;
    let firmware = link("empty.c", "with.elf", &[memory(), kept].concat(), Some(&archive))?;
    let names = output_of(Command::new("arm-none-eabi-nm").arg("--demangle").arg(&firmware))?;
    for unwanted in ["panic", "core::fmt", "compiler_builtins::mem"] {
        assert!(!names.contains(unwanted), "core contains {unwanted}: {names}");
    }
    let with = size(&firmware)?;
    let (flash, ram) = (with.0 - without.0, with.1 - without.1 - POOL_BYTES);
    println!("every symbol of ring 1: {flash} bytes of flash, {ram} of RAM beside the pool");
    assert!(flash <= MOST_FLASH && ram <= MOST_RAM, "too large: {flash} bytes of flash, {ram} of RAM");
    Ok(())
}

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh core-size"]
fn a_program_that_registers_looks_up_and_calls_fits() -> Outcome<()> {
    if !require_tool("arm-none-eabi-gcc")? {
        return Ok(());
    }
    let used = [
        "memcpy",
        "memset",
        "memcmp",
        "__aeabi_memcpy",
        "__aeabi_memcpy4",
        "__aeabi_memclr",
        "__aeabi_memclr4",
    ];
    let (flash, _) = size(&link("program.c", "program.elf", &used.map(str::to_owned), Some(&archive()?))?)?;
    println!("a program that registers, looks up and calls: {flash} bytes of flash");
    assert!(flash <= MOST_PROGRAM, "too large: {flash} bytes of flash");
    Ok(())
}
