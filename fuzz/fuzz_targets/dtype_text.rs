//! Runs `targets::dtype_text` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::dtype_text::run(input));
