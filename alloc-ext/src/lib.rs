//! What the TVM-FFI stable ABI offers beyond its core: containers, modules and the environment, in `no_std` Rust.
//!
//! | module | holds |
//! |---|---|
//! | [`base64`] | bytes as text |
//! | [`containers`] | Array, List, Map and Dict in upstream's exact layout, and the global functions on them |
//! | `cxx` | with the feature `cxx`: what only a build beside a C++ runtime can do |
//! | [`dataclass`] | whole values: their text, copies, order and hash |
//! | [`mod@env`] | streams, the tensor allocator and functions of the environment |
//! | [`graph`] | graphs of objects as JSON, both ways |
//! | [`json`] | JSON text to values and back |
//! | [`module`] | named functions from libraries, Rust or C++, their imports, and the system library |
//! | [`walk`] | going through values by reflection, however deep they are |
//! | [`reflection`] | the reflected classes of the library itself, and making and changing objects by name |
//! | [`structural`] | equality, hash, visits and mutations of structure, where names of variables do not count |
//!
//! Nothing here needs an allocator crate: memory comes from `ferrite_core::object_alloc` and `ferrite_core::memory`, and
//! every request may be refused.
#![no_std]

#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(target_arch = "x86")]
compile_error!(
    "i386 aligns 64-bit integers to 4 bytes; the containers know the layouts of targets that use 8"
);

pub mod base64;
pub mod containers;
#[cfg(feature = "cxx")]
pub mod cxx;
#[cfg(not(feature = "cxx"))]
#[path = "no_cxx.rs"]
mod cxx;
pub mod dataclass;
pub mod env;
pub mod graph;
pub mod json;
pub mod module;
mod operation;
pub mod reflection;
pub mod structural;
pub mod walk;
