//! What C may do wrong.

mod arguments;
#[cfg(feature = "alloc")]
mod environment;
