//! Support code of the properties: the two libraries, their values, generated descriptions of
//! values, and the comparison.

mod build;
mod check;
mod classes;
mod dump;
mod knot;
mod library;
mod node;
mod pair;
mod raised;
pub mod tensor;
mod text;
mod twins;
mod value;

pub use build::{build, build_all};
pub use check::{Transcript, check};
pub use classes::{all_classes, classes_with_variables, classes_without_variables};
pub use dump::slots;
pub use knot::*;
pub use library::{Library, Symbols};
pub use node::*;
pub use pair::Pair;
pub use raised::{Raised, without_addresses};
pub use text::Text;
pub use twins::*;
pub use value::Value;
