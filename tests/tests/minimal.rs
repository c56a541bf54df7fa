//! Tests the profile `minimal`: a C program that behaves the same with it and with the whole
//! library, full tables, and the size and instruction counts on a Cortex-M4F.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, require, require_arm_gcc, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const CORTEX_M4F: &str = "thumbv7em-none-eabihf";

/// Limit of the flash in bytes on a Cortex-M4F with every symbol kept: text and constants.
const MOST_FLASH: u64 = 2048;
/// Limit of the RAM in bytes: zero-initialised memory.
const MOST_RAM: u64 = 1536;

/// Limits of instruction counts on a Cortex-M4F, from a symbol's entry to its return: a call of a
/// function that returns immediately, retaining and releasing a reference, and an average lookup
/// among 16 names.
const MOST_INSTRUCTIONS: [(&str, u64); 3] = [("call", 25), ("count", 30), ("lookup", 130)];

/// Capacities other than the default ones. The program that fills every table receives them, too.
const CAPACITIES: [(&str, &str); 6] = [
    ("FUNCTIONS", "5"),
    ("NAMES", "8"),
    ("ERRORS", "3"),
    ("ERROR_BYTES", "80"),
    ("STRINGS", "3"),
    ("STRING_BYTES", "40"),
];

/// Builds the archive. Returns its path.
fn build(folder: &str, target: Option<&str>, capacities: &[(&str, &str)]) -> Outcome<PathBuf> {
    let folder = scratch("minimal")?.join(folder);
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
    command.arg("--manifest-path").arg(root().join("Cargo.toml")).arg("--target-dir").arg(&folder);
    if let Some(target) = target {
        command.args(["--target", target]);
    }
    for (name, value) in capacities {
        command.env(format!("FERRITE_{name}"), value);
    }
    output_of(&mut command)?;
    Ok(folder.join(target.unwrap_or_default()).join("mcu/libtvm_ffi.a"))
}

/// Returns the archive for this machine.
fn host_archive() -> Outcome<&'static Path> {
    static ARCHIVE: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    let archive = ARCHIVE.get_or_init(|| build("host", None, &CAPACITIES));
    archive.as_ref().map(PathBuf::as_path).map_err(Clone::clone)
}

fn program(name: &str, output: &str) -> Outcome<Cc> {
    let cc = Cc::program(scratch("minimal")?.join(output)).strict();
    Ok(cc.source(root().join(format!("tests/embedded/minimal/{name}.c"))))
}

fn run(executable: PathBuf) -> Outcome<()> {
    print!("{}", output_of(&mut Command::new(executable))?);
    Ok(())
}

#[test]
fn what_both_have_works_with_minimal() -> Outcome<()> {
    run(program("both", "both-minimal")?.source(host_archive()?).link()?)
}

#[test]
fn what_both_have_works_with_the_whole_library() -> Outcome<()> {
    run(program("both", "both-whole")?.link_shared(Library::get()?)?)
}

#[test]
fn full_tables_refuse_and_go_on() -> Outcome<()> {
    let defines = CAPACITIES.map(|(name, value)| format!("-D{name}={value}"));
    run(program("capacity", "capacity")?.args(defines).source(host_archive()?).link()?)
}

/// Links a firmware that keeps every symbol, without a C library.
fn firmware() -> Outcome<PathBuf> {
    let archive = build("board", Some(CORTEX_M4F), &[])?;
    let output = scratch("minimal")?.join("every_symbol.elf");
    let mut command = Command::new("arm-none-eabi-gcc");
    command.args(["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Os"]);
    command.args(["-nostdlib", "-nostartfiles", "-Wl,--gc-sections", "-Wl,-e,0"]);
    command.args(["-Wl,-z,noexecstack", "-Wl,--fatal-warnings"]);
    let symbols = std::fs::read_to_string(root().join("tests/embedded/minimal/symbols.txt"))?;
    command.args(symbols.lines().map(|symbol| format!("-Wl,-u,{symbol}")));
    command.arg(archive).arg("-o").arg(&output);
    output_of(&mut command)?;
    Ok(output)
}

/// Links without any library, which proves that none is needed. The symbol names show what was
/// linked.
#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh minimal"]
fn nothing_allocates_formats_or_panics() -> Outcome<()> {
    require_arm_gcc()?;
    let firmware = firmware()?;
    let names = output_of(Command::new("arm-none-eabi-nm").arg("--demangle").arg(&firmware))?;
    for unwanted in
        ["panic", "unwind", "fmt", "malloc", "alloc::", "memcpy", "memmove", "memset", "strlen"]
    {
        if let Some(line) = names.lines().find(|line| line.contains(unwanted)) {
            return Err(format!("minimal contains {unwanted}: {line}").into());
        }
    }
    let sizes = output_of(Command::new("arm-none-eabi-size").arg(&firmware))?;
    print!("{sizes}");
    let columns = sizes.lines().nth(1).unwrap_or_default();
    let mut columns = columns.split_whitespace().map(|number| number.parse().unwrap_or(u64::MAX));
    let mut column = || columns.next().unwrap_or(u64::MAX);
    let (text, data, bss) = (column(), column(), column());
    if text <= MOST_FLASH && data == 0 && bss <= MOST_RAM {
        return Ok(());
    }
    Err(format!("too large: {text} bytes of flash, {data} of data, {bss} of RAM").into())
}

/// Builds a program for the emulated board, with the start-up code of `targets/mcu`.
fn board_program(name: &str) -> Outcome<PathBuf> {
    let archive = build("board_18", Some(CORTEX_M4F), &[("FUNCTIONS", "18")])?;
    let output = scratch("minimal")?.join(format!("{name}.elf"));
    let mut command = Command::new("arm-none-eabi-gcc");
    command.args([
        "-mcpu=cortex-m4",
        "-mthumb",
        "-mfloat-abi=hard",
        "-mfpu=fpv4-sp-d16",
        "-std=c99",
        "-Os",
    ]);
    command.args([
        "-fno-builtin",
        "-ffunction-sections",
        "-fdata-sections",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]);
    command.args([
        "-nostdlib",
        "-nostartfiles",
        "-Wl,--gc-sections",
        "-Wl,--defsym=STACK_LEAST=4096",
    ]);
    command.args(["-Wl,-z,noexecstack", "-Wl,--fatal-warnings"]);
    command.arg("-DCORE_HZ=25000000u");
    for folder in ["include", "targets/boards/firmware", "targets/mcu/shared"] {
        command.arg("-I").arg(root().join(folder));
    }
    command.arg("-L").arg(root().join("targets/mcu/cortex_m"));
    command.arg("-T").arg(root().join("targets/boards/cortex-m4f/link.ld"));
    for source in ["cortex_m/start.c", "shared/memory.c", "shared/semihosting.c"] {
        command.arg(root().join("targets/mcu").join(source));
    }
    command.arg(root().join("tests/embedded/minimal").join(format!("{name}.c"))).arg(archive);
    command.args(["-lgcc", "-o"]).arg(&output);
    output_of(&mut command)?;
    Ok(output)
}

/// Runs a program on the emulated board, where each instruction takes one nanosecond. Returns its
/// output.
fn emulate(program: &Path) -> Outcome<String> {
    let mut command = Command::new("qemu-system-arm");
    command.args(["-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none"]);
    command.args([
        "-icount",
        "shift=0",
        "-semihosting-config",
        "enable=on,target=native,chardev=out",
    ]);
    command.args(["-chardev", "stdio,id=out,mux=off", "-kernel"]).arg(program);
    output_of(&mut command)
}

#[test]
#[ignore = "needs arm-none-eabi-gcc, qemu-system-arm and the target thumbv7em-none-eabihf: ./ci.sh minimal"]
fn operations_take_few_instructions() -> Outcome<()> {
    require_arm_gcc()?;
    require("qemu-system-arm", "qemu-system-arm")?;
    let printed = emulate(&board_program("cost")?)?;
    print!("{printed}");
    for (name, most) in MOST_INSTRUCTIONS {
        let mut rows = printed.lines().filter_map(|line| line.split_once(' '));
        let row = rows.find(|(operation, _)| *operation == name);
        let taken = row.and_then(|(_, number)| number.parse::<u64>().ok());
        if taken.is_none_or(|taken| taken > most || taken == 0) {
            return Err(format!("{name} takes {taken:?} instructions, not at most {most}").into());
        }
    }
    Ok(())
}
