//! Runs `targets::map_operations` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::map_operations::run(input));
