//! What C may do wrong.

mod arguments;
#[cfg(feature = "modules")]
mod environment;
