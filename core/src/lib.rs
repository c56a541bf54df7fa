//! The TVM-FFI stable ABI in `no_std` Rust: values, objects, functions, errors, tensors, and the
//! tables of types and functions. This is ring 1 of Ferrite, which needs nothing but Rust's `core`;
//! ring 2, with containers and modules, is `ferrite-ffi-alloc`.
//!
//! ```
//! use ferrite_core::{Function, Result};
//!
//! fn main() -> Result<()> {
//!     let add = Function::from_typed(|a: i64, b: i64| a + b)?;
//!     assert_eq!(add.call_packed(&[2i64.into(), 3i64.into()])?.get::<i64>()?, 5);
//!     Ok(())
//! }
//! ```
//!
//! The modules are nine layers, in reading order. A module imports only modules above it, with five
//! exceptions, which `tests/ci/import_layers.py core` lists: objects and their borrows fail with
//! errors, conversions look up types and call global functions.
//!
//! | module | content |
//! |---|---|
//! | [`abi`] | the C records, with their layout asserted for 32 and 64 bit, and the indices of built-in types |
//! | [`platform`] | memory, locks, threads, the log: the seam to operating system, processor and firmware |
//! | [`object`] | references to counted objects: their counts, their memory, their borrow state, their destruction |
//! | [`mod@error`] | errors, their messages, and the raised error of each thread |
//! | [`value`] | [`Any`] and [`AnyView`], conversions, strings, shapes, data types, devices |
//! | [`tensor`] | tensors, and their exchange by DLPack |
//! | [`mod@call`] | packed calls, typed calls, functions exported from a kernel library, workspaces and parallel loops |
//! | [`names`] | the tables of types and of global functions |
//! | [`class`] | classes defined in Rust, and functions registered with their documentation |
//!
//! The module `forks` lists the locks that a fork takes.
//!
//! # Ownership
//! A type of this crate that holds an object owns one strong reference to it and releases it on
//! drop. Views ([`AnyView`], slices) borrow. `from_raw` / `into_raw` transfer ownership, `as_raw`
//! borrows.
//!
//! # Pointers from C
//! Unless a function says otherwise, a pointer that C hands in is either null or valid for the
//! duration of the call under the rules of [`core::ptr::read`] / [`core::ptr::write`]; a
//! pointer-length pair follows [`core::slice::from_raw_parts`], except that null with length zero
//! is an empty slice.
//!
//! # Features
//! - `speed` (default): fast instead of small code, lookup tables instead of lists, and full error
//!   messages. Chooses between `fast.rs` and `small.rs` of a concept.
//! - `std`: an operating system: threads and thread-locals, standard locks, panics caught at the
//!   boundary, `malloc` and `free`, backtraces, other runtimes in the process. Independent of
//!   `speed`.
//! - `spin`: spinning locks for several cores without an operating system.
//! - `half`, `bytes`, `ndarray`, `num-bigint`, `serde`: types of these crates as values; see
//!   `interop`.
//! - `defmt`: errors, values, dtypes and devices in logs of the crate `defmt`.
//! - `defaults`: default functions, which other runtimes may replace. `std` enables it.
//! - `growing-memory`: WebAssembly memory that grows, in place of a fixed pool.
//! - `optional-functions`: in WebAssembly without `speed`, the linker leaves out global functions
//!   that it is not told to link.
//! - `custom-dtypes`: custom data types `custom[name]`, resolved by global functions.
//!   `ferrite-ffi-alloc` enables it.
//! - `packed-messages`: packs error messages in builds without `speed`. `ferrite-ffi-alloc` enables
//!   it.
#![no_std]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod abi;
pub mod call;
pub mod class;
pub mod error;
#[cfg(all(feature = "std", not(feature = "client")))]
pub mod forks;
pub mod names;
pub mod object;
pub mod platform;
pub mod tensor;
pub mod value;

pub use call::function::Function;
pub use class::{Object, ObjectArc};
pub use error::{Error, Result};
pub use object::{ObjectClass, ObjectRef};
pub use tensor::Tensor;
pub use value::any::{Any, AnyView};
pub use value::convert::AnyCompatible;
pub use value::shape::Shape;
pub use value::string::{Bytes, String};

/// Items used by code that `ferrite-ffi-macros` generates.
#[doc(hidden)]
pub mod __macros {
    pub use core::mem::offset_of;

    pub use crate::call::typed::IntoResult;
    pub use crate::class::registration::{DescribedFunction, GlobalFunction};
    pub use crate::class::{
        Class, ClassOptions, DerivedFrom, Field, FieldDefault, Frozen, LayoutFallback, LayoutProbe,
        Method, MethodKind, MethodResult, MethodsOf, Mutable, NoMethods, NotAClass, Object,
        ObjectArc, ObjectMethods, ObjectRecordOf, ParentOf, Probe, ProbeFallback, ZeroFallback,
        ZeroProbe, constructor, create, initial, method, shallow_copy,
    };
    pub use crate::error::Result;
    pub use crate::value::convert::{AnyCompatible, IntoAny, TypeText};
    pub use crate::{__at_load, __class_at_load, Any, Function, export_function};
}
