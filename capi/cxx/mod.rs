//! The C++ ABI of upstream's library besides the C symbols: functions under their C++ names, classes that clients
//! derive from and catch, and calls in both directions.
//!
//! | file | content |
//! |---|---|
//! | `class_info` | virtual tables and typeinfo of `ModuleObj` and `Error` |
//! | `throw` | the library's errors as C++ exceptions |
//! | `call`, `unit.cc` | calls of C++ code, whose exceptions become errors |
//! | `export` | functions that return classes, under the C++ calling convention |
//! | `functions` | the free functions and static members |
//! | `module_members`, `module_slots` | `ModuleObj`: its exported members; the virtual functions of the library's own modules |
//! | `foreign` | modules implemented by C++ classes, called through their virtual functions |
//!
//! The library's errors are thrown from the outermost Rust function, when nothing is left to drop. Exceptions of
//! clients are caught in `unit.cc`, below all Rust frames.
//!
//! # Upstream
//! The symbols that `libtvm_ffi.so` 0.1.15 defines for other libraries, with the Itanium C++ ABI.

mod call;
mod class_info;
mod export;
mod foreign;
mod functions;
mod module_members;
mod module_slots;
mod throw;

use ferrite_alloc_ext::cxx::{self, CxxRuntime};
use ferrite_alloc_ext::module::cxx_class::{self, CxxClass};

#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("`cxx-abi` knows the C++ calling conventions of x86-64 and AArch64 on Unix only: disable it");

static RUNTIME: CxxRuntime = CxxRuntime { call_hook: call::hook };

static MODULE: CxxClass = CxxClass { vptr: module_slots::VPTR, ops: foreign::OPS };

/// Connects C++ classes and modules.
pub(crate) fn install() {
    cxx::install(&RUNTIME);
    cxx_class::install(&MODULE);
}
