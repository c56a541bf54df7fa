//! The TVM-FFI stable ABI in `no_std` Rust: values, objects, functions, errors, tensors, and the tables of types and functions.
//! This is ring 1 of Ferrite, which needs nothing but Rust's `core`; ring 2, with containers and modules, is
//! `ferrite-ffi-alloc`.
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
//! | module | content |
//! |---|---|
//! | [`abi`], [`type_index`] | the C records, with their layout asserted for 32 and 64 bit, and the indices of built-in types |
//! | [`any`], [`convert`] | the owned [`Any`], the borrowed [`AnyView`], and conversions to and from Rust types |
//! | [`class`] | classes defined in Rust: fields, methods and constructors, borrowing, and registration |
//! | [`object`], [`weak`], [`refcount`], [`release`] | references to counted objects, their counts, and the destruction of objects |
//! | [`object_alloc`], [`memory`] | allocators of objects, and of all other memory |
//! | [`string`], [`shape`], [`tensor`], [`opaque`], [`big_int`] | strings, shapes, tensors, opaque objects and large integers |
//! | [`mod@error`], [`message`], [`raised_error`] | errors, their messages, and the raised error of each thread |
//! | [`function`], [`typed`], [`export`], [`registration`] | packed calls, typed calls, functions exported from a kernel library, and global functions with documentation |
//! | [`dtype`], [`device`] | data types and devices, and their names |
//! | [`type_table`], [`global_table`], [`name_table`] | types and functions by name, and the map from names that both use |
//! | [`upstream_release`] | compatibility with earlier releases of upstream |
//! | [`builtins`], [`ffi_functions`], [`defaults`] | functions in read-only tables, the `ffi.*` functions of this crate, and default functions that other runtimes may replace |
//! | [`text`], [`words`], [`store_forwarding`], [`prefetch`] | text writers, comparison of short strings as words, copies of recently written records, prefetch hints |
//! | [`backend`] | runtime support for functions compiled by TVM: workspaces, parallel loops and one-time initialisers |
//! | `interop` | types of other crates as values, a feature each |
//! | `platform` | hooks that firmware may define, for memory and tasks |
//! | [`init_once`], [`sync`], [`log`], [`backtrace`], [`stack`], [`unwind`] | one-time initialisation, locks, logging, backtraces and other services of the platform |
//!
//! # Ownership
//! A type of this crate that holds an object owns one strong reference to it and releases it on drop. Views
//! ([`AnyView`], slices) borrow. `from_raw` / `into_raw` transfer ownership, `as_raw` borrows.
//!
//! # Pointers from C
//! Unless a function says otherwise, a pointer that C hands in is either null or valid for the duration of the call under
//! the rules of [`core::ptr::read`] / [`core::ptr::write`]; a pointer-length pair follows
//! [`core::slice::from_raw_parts`], except that null with length zero is an empty slice.
//!
//! # Features
//! - `speed` (default): fast instead of small code, lookup tables instead of lists, and full error messages. Chooses
//!   between `fast.rs` and `small.rs` of a concept.
//! - `std`: an operating system: threads and thread-locals, standard locks, panics caught at the boundary, `malloc` and `free`,
//!   backtraces, other runtimes in the process. Independent of `speed`.
//! - `spin`: spinning locks for several cores without an operating system.
//! - `half`, `bytes`, `ndarray`, `num-bigint`, `serde`: types of these crates as values; see `interop`.
//! - `defmt`: errors, values, dtypes and devices in logs of the crate `defmt`.
//! - `custom-dtypes`: custom data types `custom[name]`, resolved by global functions. `ferrite-ffi-alloc` enables it.
//! - `packed-messages`: packs error messages in builds without `speed`. `ferrite-ffi-alloc` enables it.
#![no_std]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod abi;
pub mod any;
#[cfg(not(feature = "client"))]
pub mod backend;
pub mod backtrace;
pub mod big_int;
pub mod borrow;
#[cfg(not(feature = "client"))]
pub mod builtins;
pub mod class;
pub mod config;
pub mod convert;
#[cfg(not(feature = "client"))]
#[cfg_attr(not(feature = "std"), path = "defaults/none.rs")]
pub mod defaults;
pub mod device;
pub mod dtype;
pub mod error;
pub mod export;
#[cfg(not(feature = "client"))]
pub mod ffi_functions;
#[cfg(all(feature = "std", not(feature = "client")))]
pub mod forks;
#[cfg(feature = "defmt")]
mod format;
pub mod function;
#[cfg(not(feature = "client"))]
pub mod global_table;
#[cfg(not(feature = "client"))]
pub mod init_once;
#[cfg(any(
    feature = "half",
    feature = "bytes",
    feature = "ndarray",
    feature = "num-bigint",
    feature = "serde"
))]
pub mod interop;
#[cfg(any(not(feature = "speed"), not(any(feature = "std", feature = "client"))))]
mod lazy_link;
pub mod log;
pub mod memory;
pub mod message;
#[cfg(not(feature = "client"))]
pub mod name_table;
pub mod object;
pub mod object_alloc;
pub mod opaque;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub mod platform;
pub mod prefetch;
pub mod raised_error;
pub mod refcount;
pub mod registration;
pub mod release;
mod sequence;
pub mod shape;
pub mod stack;
pub mod store_forwarding;
pub mod string;
pub mod sync;
pub mod tensor;
pub mod text;
pub mod type_index;
#[cfg_attr(feature = "client", path = "type_table/client.rs")]
pub mod type_table;
pub mod typed;
pub mod unwind;
pub mod upstream_release;
pub mod weak;
pub mod words;

pub use any::{Any, AnyView};
pub use class::{Object, ObjectArc};
pub use convert::AnyCompatible;
pub use error::{Error, Result};
pub use function::Function;
pub use object::{ObjectClass, ObjectRef};
pub use shape::Shape;
pub use string::{Bytes, String};
pub use tensor::Tensor;

/// Items that the expansions of `ferrite-ffi-macros` name.
#[doc(hidden)]
pub mod __macros {
    pub use core::mem::offset_of;

    pub use crate::class::{
        Class, ClassOptions, DerivedFrom, Field, FieldDefault, Frozen, LayoutFallback, LayoutProbe, Method,
        MethodKind, MethodResult, MethodsOf, Mutable, NoMethods, NotAClass, Object, ObjectArc, ObjectMethods,
        ObjectRecordOf, ParentOf, Probe, ProbeFallback, ZeroFallback, ZeroProbe, constructor, create,
        initial, method, shallow_copy,
    };
    pub use crate::convert::{AnyCompatible, IntoAny, TypeText};
    pub use crate::error::Result;
    pub use crate::registration::{DescribedFunction, GlobalFunction};
    pub use crate::typed::IntoResult;
    pub use crate::{__at_load, __class_at_load, Any, Function, export_function};
}
