//! What C++ clients of upstream's library link and meet beside the C symbols: functions under their C++ names, classes that
//! they derive from and catch, and calls in both directions.
//!
//! | file | holds |
//! |---|---|
//! | `class_info` | virtual tables and typeinfo of `ModuleObj` and `Error` |
//! | `throw` | our errors as C++ exceptions |
//! | `call`, `unit.cc` | calls of C++ code, with what it throws as our error |
//! | `export` | functions that return classes, under the C++ calling convention |
//! | `functions` | the free functions and static members |
//! | `module_members`, `module_slots` | `ModuleObj`: the members that it exports; the virtual functions of modules made here |
//! | `foreign` | modules of C++, used by their virtual functions |
//!
//! Errors of ours leave the outermost Rust function, which holds nothing by then. Exceptions of clients are stopped in
//! `unit.cc`, below all Rust frames.
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

/// Lets C++ and modules use each other.
pub(crate) fn install() {
    cxx::install(&RUNTIME);
    cxx_class::install(&MODULE);
}
