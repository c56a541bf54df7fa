//! Kernels in Rust: functions that name no framework, each exported by one attribute.
//!
//! ```text
//! norm, reduce  the kernels, a file for each family
//! simd          one function for several vector units, of which the processor's is chosen: the only unsafe code
//! parallel      rows on several threads
//! ```
//!
//! Tensors are float32 and compact, in main memory, unless a kernel documents otherwise. An output
//! comes last; where it is optional and absent, the kernel returns a new tensor that the caller's
//! framework allocates. Outputs share no memory with other arguments.
#![deny(unsafe_code)]

mod norm;
mod parallel;
mod reduce;
#[allow(unsafe_code, reason = "calls functions that are compiled for the processor's vector unit")]
mod simd;
