//! Runs `targets::packed_calls` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::packed_calls::run(input));
