//! Properties of upstream's library and this one: the same calls with the same generated inputs
//! give the same results.
//!
//! Both libraries are loaded into this process and called through their C symbols. A property is a
//! function that makes calls to one library and records everything visible to a client.
//! `support::check` runs it with generated inputs on both and compares the transcripts. An input
//! with different transcripts is shrunk and stored in `regressions/`.
//!
//! Ignored by default, since upstream's library comes from PyPI: `./ci.sh properties`. Variables:
//! `PARITY_TIMES=10` tries ten times as many inputs, `PROPTEST_RNG_SEED` repeats a run,
//! `FERRITE_LIBRARY_DIR` names another library to compare.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(missing_docs, reason = "each test's name says it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failure ends the test"
)]
#![allow(non_upper_case_globals, reason = "the C ABI spells the type indices so")]

mod support;

mod deep_copy;
mod dict;
mod dlpack;

mod dtype;
mod functions;
mod json_parse;
mod json_stringify;
mod list;
mod map;
mod object_graph;
mod recursive;
mod repr;
mod structural;
