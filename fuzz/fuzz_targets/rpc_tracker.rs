//! Runs `targets::rpc_tracker` in libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::rpc_tracker::run(input));
