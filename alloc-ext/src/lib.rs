//! Containers, JSON, reflection, structural operations, modules and the environment: the parts of
//! the TVM-FFI stable ABI that build on `ferrite-ffi-core`, in `no_std` Rust. This is ring 2 of
//! Ferrite; `ferrite-ffi-core` is ring 1.
//!
//! | module | content |
//! |---|---|
//! | [`base64`] | base64 encoding and decoding of bytes |
//! | [`containers`] | Array, List, Map and Dict in upstream's exact layout, and the global functions on them |
//! | `cxx` | calls to and from C++ code, with the feature `cxx` |
//! | [`dataclass`] | recursive operations on values: repr, deep copy, equality, order and hash |
//! | [`device`] | devices other than the CPU: back ends by device type, memory, tensors and workspaces |
//! | [`mod@env`] | current streams, the tensor allocator and callbacks of the host language |
//! | [`graph`] | serialisation of object graphs to JSON, and deserialisation |
//! | [`json`] | JSON parser and writer |
//! | [`module`] | function modules in shared libraries, Rust or C++, their imports, and the system library |
//! | [`walk`] | iterative traversal of values by reflection, to any depth |
//! | [`reflection`] | the library's own reflected classes, and creation and modification of objects by field name |
//! | [`structural`] | structural equality, hash, visitors and mutators, which identify variables by binding site, not by name |
//!
//! No allocator crate is needed: memory comes from `ferrite_core::object::object_alloc` and
//! `ferrite_core::platform::memory`, and every allocation may fail.
//!
//! # Features
//! - `speed` (default), `std`, `alloc`: enable the features of the same names in
//!   `ferrite-ffi-core`.
//! - `module-types`: [`Module::implementation`](module::Module::implementation). `std` enables it.
//! - `cxx`: calls to and from C++ code, for libraries that are linked with a C++ runtime.
#![no_std]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(target_arch = "x86")]
compile_error!(
    "i386 aligns 64-bit integers to 4 bytes; the containers know the layouts of targets that use 8"
);

pub mod base64;
pub mod containers;
pub mod cxx;
#[cfg_attr(feature = "client", path = "dataclass/client.rs")]
pub mod dataclass;
#[cfg(not(feature = "client"))]
pub mod device;
pub mod env;
#[cfg(all(feature = "std", not(feature = "client")))]
pub mod forks;
#[cfg(any(feature = "client", test))]
#[cfg_attr(
    not(feature = "client"),
    allow(dead_code, unused_macros, unused_imports, reason = "its tests alone")
)]
mod global_function;
#[cfg_attr(feature = "client", path = "graph/client.rs")]
pub mod graph;
#[cfg(not(feature = "client"))]
mod hash_index;
#[cfg_attr(feature = "client", path = "json/client.rs")]
pub mod json;
#[cfg_attr(feature = "client", path = "module/client.rs")]
pub mod module;
#[cfg(not(feature = "client"))]
mod operation;
#[cfg_attr(feature = "client", path = "reflection/client.rs")]
pub mod reflection;
#[cfg_attr(feature = "client", path = "structural/client.rs")]
pub mod structural;
#[cfg(not(feature = "client"))]
pub mod walk;
