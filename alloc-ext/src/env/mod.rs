//! Environment of a call: current streams, tensor allocator, and callbacks of the host language.
//!
//! # Upstream
//! `src/ffi/extra/env_context.cc`, `src/ffi/extra/env_c_api.cc`.

#[cfg_attr(feature = "client", path = "context_client.rs")]
pub mod context;
#[cfg_attr(feature = "client", path = "stream/client.rs")]
pub mod stream;
pub mod tensor;
#[cfg_attr(feature = "client", path = "tensor_alloc_client.rs")]
pub mod tensor_alloc;
