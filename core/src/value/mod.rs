//! Values: the 16-byte cell, the Rust types that convert to and from it, and the built-in types
//! without behaviour.
//!
//! | module | content |
//! |---|---|
//! | [`any`] | the owned [`Any`](any::Any) and the borrowed [`AnyView`](any::AnyView) |
//! | [`convert`] | conversions between values and Rust types |
//! | [`callee`] | the call of a function as its parameters see it |
//! | [`string`], [`shape`], [`big_int`], [`opaque`] | strings, shapes, large integers and opaque objects |
//! | [`dtype`], [`device`] | data types and devices, and their names |
//! | `interop` | types of other crates as values, a feature each |
//! | `format` | values and errors in logs of the crate `defmt` |
//! | `sequence` | sequences of other rings as vectors and slices |
//! | [`store_forwarding`] | copies of recently written records |

pub mod any;
pub mod big_int;
pub mod callee;
pub mod convert;
pub mod device;
pub mod dtype;
#[cfg(feature = "defmt")]
mod format;
#[cfg(any(
    feature = "half",
    feature = "bytes",
    feature = "ndarray",
    feature = "num-bigint",
    feature = "serde"
))]
pub mod interop;
pub mod opaque;
pub(crate) mod sequence;
pub mod shape;
pub mod store_forwarding;
pub mod string;
