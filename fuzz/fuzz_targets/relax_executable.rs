//! Runs `targets::relax_executable` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::relax_executable::run(input));
