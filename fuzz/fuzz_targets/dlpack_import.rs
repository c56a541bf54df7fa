//! Runs `targets::dlpack_import` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::dlpack_import::run(input));
