//! Environment of a call: current streams, tensor allocator, and callbacks of the host language.
//!
//! # Upstream
//! `src/ffi/extra/env_context.cc`, `src/ffi/extra/env_c_api.cc`.

pub mod context;
pub mod stream;
pub mod tensor_alloc;
