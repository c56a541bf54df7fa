//! What C may do wrong.

mod arguments;
#[cfg(feature = "std")]
mod counted;
#[cfg(feature = "modules")]
mod environment;
