//! Types of other crates as values. Each is a feature of the crate's name, and a file here.

#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "half")]
mod half;
#[cfg(feature = "num-bigint")]
mod num_bigint;
#[cfg(feature = "serde")]
pub mod serde;
