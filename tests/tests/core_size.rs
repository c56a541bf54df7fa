//! Size of the profile `core` on a Cortex-M4F: all of ring 1, and a program that registers, looks
//! up and calls a function.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::firmware::{self, FirmwareSize, Profile};
use ferrite_tests::{Outcome, require_arm_gcc};

/// Limit of the flash of ring 1 in bytes with every symbol kept, beyond a firmware that contains
/// only the C library's memory functions: text, constants and initial values. The goal is 12,288
/// bytes.
const MOST_FLASH: u64 = 12_028;
/// Limit of the RAM of ring 1 in bytes, without the pool.
const MOST_RAM: u64 = 156;

/// Limit of the flash of the whole program, including start-up code and memory functions. The goal
/// is 4,096 bytes.
const MOST_PROGRAM: u64 = 3_873;

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh core-size"]
fn every_symbol_fits() -> Outcome<()> {
    require_arm_gcc()?;
    let profile = Profile::build("core", "core")?;
    let kept = profile.symbols()?;
    assert_eq!(kept.len(), 40, "symbols of ring 1: {kept:?}");
    let (elf, FirmwareSize { flash, ram }) = profile.every_symbol()?;
    let names = firmware::names(&elf)?;
    for unwanted in ["panic", "core::fmt", "compiler_builtins::mem"] {
        assert!(!names.contains(unwanted), "core contains {unwanted}: {names}");
    }
    println!("every symbol of ring 1: {flash} bytes of flash, {ram} of RAM beside the pool");
    assert!(
        flash <= MOST_FLASH && ram <= MOST_RAM,
        "too large: {flash} bytes of flash, {ram} of RAM"
    );
    Ok(())
}

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh core-size"]
fn a_program_that_registers_looks_up_and_calls_fits() -> Outcome<()> {
    require_arm_gcc()?;
    let FirmwareSize { flash, .. } = Profile::build("core", "core")?.program("program.c")?;
    println!("a program that registers, looks up and calls: {flash} bytes of flash");
    assert!(flash <= MOST_PROGRAM, "too large: {flash} bytes of flash");
    Ok(())
}
