//! Runs `targets::json_text` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::json_text::run(input));
