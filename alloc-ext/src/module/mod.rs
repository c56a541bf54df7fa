//! Modules: collections of named functions, implemented by a library, by Rust code or by C++ code,
//! and their imports.
//!
//! | file | purpose |
//! |---|---|
//! | `interface`, `methods` | the reference type, the trait of implementations, their function table; the methods of modules |
//! | `record`, `class`, `rust_ops` | memory layout of modules, static data per implementation, modules of implementations in Rust |
//! | `cxx_class` | modules as C++ objects, with the feature `cxx` |
//! | `imports`, `module_set`, `lookup_cache` | the import tree, sets of modules, and cached lookups in the tree |
//! | [`library`], [`library_module`] | libraries, which find symbols by name; modules over a library |
//! | [`library_bin`], `bin_reader` | the modules that are embedded in a library, and their imports |
//! | `library_function`, `symbol_name` | functions of a library, and symbol names |
//! | `packed` | libraries compiled by TVM before tvm-ffi, with the feature `packed` |
//! | [`context`], [`backend_slots`] | context symbols: addresses for the pointer slots of libraries |
//! | [`system_lib`], `symbol_table`, [`globals`] | modules of symbols linked into the program, and modules that stay loaded |
//! | `by_name` | loading and lookups by name, for programs in Rust |
//! | [`functions`], `calls` | the global functions `ffi.Module*` |

pub mod backend_slots;
mod bin_reader;
mod by_name;
mod calls;
mod class;
pub mod context;
pub mod cxx_class;
pub mod functions;
pub mod globals;
pub mod imports;
mod interface;
pub mod library;
pub mod library_bin;
mod library_function;
pub mod library_module;
mod lookup_cache;
mod methods;
mod module_set;
#[cfg(feature = "packed")]
pub mod packed;
#[cfg(not(feature = "packed"))]
#[path = "no_packed.rs"]
mod packed;
mod record;
mod rust_ops;
mod symbol_name;
pub(crate) mod symbol_table;
pub mod system_lib;
#[cfg(test)]
mod testing;

pub use by_name::FileName;
pub use interface::{
    BINARY_SERIALIZABLE, COMPILATION_EXPORTABLE, Module, ModuleImpl, ModuleOps, Query, RUNNABLE,
};
