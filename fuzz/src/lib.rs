//! Programs of calls over the C ABI of TVM-FFI, for fuzzing and for comparison of two libraries.
//!
//! A [`program`] is a list of steps over eight registers. Each byte string is a program ([`code`]),
//! so fuzzers mutate bytes and corpora are small. The [`machine`] runs a program on a [`library`]:
//! the one that is linked into a fuzz target, or any `libtvm_ffi.so`. It notes the outcome of each
//! step in a [`normal`] form without addresses, in which two libraries are compared.
//!
//! A program never does what the ABI leaves undefined; [`limits`] lists what is left out, with
//! reasons.

#![allow(non_upper_case_globals, reason = "the C ABI fixes these spellings")]

pub mod builtins;
pub mod c_code;
pub mod callbacks;
pub mod classes;
pub mod code;
pub mod differences;
pub mod library;
pub mod limits;
pub mod machine;
pub mod normal;
pub mod notes;
pub mod payloads;
pub mod program;
pub mod random;
pub mod seeds;
pub mod shared_object;
#[cfg(feature = "targets")]
pub mod targets;
pub mod tensors;
pub mod texts;
pub mod worker;

pub use library::Library;
pub use machine::Machine;
pub use program::{Line, Program, Step};
