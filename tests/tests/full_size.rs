//! Size of the profile `full` on a Cortex-M4F: rings 1 and 2, their largest modules, and the
//! functions for compiled models.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::firmware::{self, FirmwareSize, Profile};
use ferrite_tests::{Outcome, require_arm_gcc};

/// Limits with every symbol and global function of the profile kept, which excludes
/// `TVMFFIEnvMod*`, beyond a firmware that contains only the C library's memory functions. Flash is
/// text, constants and initial values; RAM excludes the pool. The goal is 49,152 bytes of flash,
/// which borrows of Lists and Dicts miss: they take 3,500.
const MOST_FULL: FirmwareSize = FirmwareSize { flash: 51_584, ram: 512 };

/// Limits with all features of a microcontroller build: functions for compiled models, modules, and
/// the functions of ring 1 by name.
const MOST_OF_ALL: FirmwareSize = FirmwareSize { flash: 66_968, ram: 512 };

/// Limits of ring 1 with only the global functions that firmware with a TVM system library needs.
const MOST_MODULES: FirmwareSize = FirmwareSize { flash: 31_508, ram: 512 };

/// Number of modules that the list of the largest modules contains.
const LISTED: usize = 24;

fn fits(profile: &Profile, most: &FirmwareSize) -> Outcome<()> {
    let (elf, FirmwareSize { flash, ram }) = profile.every_symbol()?;
    println!("every symbol: {flash} bytes of flash, {ram} of RAM beside the pool; of that");
    for (bytes, count, module) in firmware::costs(&elf)?.into_iter().take(LISTED) {
        println!("{bytes:>8} in {count:>3} pieces: {module}");
    }
    let names = firmware::names(&elf)?;
    // JSON numbers are parsed and printed without the tables of `core`.
    for unwanted in ["core::num::flt2dec", "core::num::dec2flt", "core::slice::sort"] {
        assert!(!names.contains(unwanted), "the firmware contains {unwanted}");
    }
    assert!(
        flash <= most.flash && ram <= most.ram,
        "too large: {flash} bytes of flash, {ram} of RAM"
    );
    Ok(())
}

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh full-size"]
fn full_fits() -> Outcome<()> {
    require_arm_gcc()?;
    fits(&Profile::build("full", "full")?, &MOST_FULL)
}

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh full-size"]
fn all_that_a_board_can_have_fits() -> Outcome<()> {
    require_arm_gcc()?;
    let profile = Profile::build("all", "full,backend,functions,modules")?;
    assert_eq!(profile.symbols()?.len(), 55);
    fits(&profile, &MOST_OF_ALL)
}

#[test]
#[ignore = "needs arm-none-eabi-gcc and the target thumbv7em-none-eabihf: ./ci.sh full-size"]
fn what_a_system_library_needs_fits() -> Outcome<()> {
    require_arm_gcc()?;
    fits(&Profile::build("modules", "core,backend,modules")?, &MOST_MODULES)
}
