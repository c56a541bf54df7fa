//! The C++ part of upstream's ABI: functions under their mangled names, the classes `ModuleObj` and
//! `Error` that clients derive from and catch, and calls in both directions.
//!
//! | file | content |
//! |---|---|
//! | `class_info` | layout of virtual tables and typeinfo |
//! | `module_class`, `error_class` | virtual tables and typeinfo of `ModuleObj` and `Error` |
//! | `throw` | the library's errors as C++ exceptions |
//! | `call`, `unit.cc` | calls of C++ functions, whose exceptions become errors |
//! | `export` | functions that return classes, under the C++ calling convention |
//! | `functions` | free functions and static member functions |
//! | `module_members`, `module_slots` | exported members of `ModuleObj`; virtual functions of the library's own modules |
//! | `foreign` | modules implemented by C++ classes, called through their virtual functions |
//!
//! The outermost Rust function throws the library's errors when nothing is left to drop. `unit.cc`
//! catches exceptions of clients before they reach a Rust frame.
//!
//! # Upstream
//! The symbols that `libtvm_ffi.so` 0.1.15 defines for other libraries, with the Itanium C++ ABI.
#![cfg(feature = "abi")]
#![allow(non_snake_case, reason = "the names of C++")]

mod call;
mod class_info;
mod error_class;
mod export;
mod foreign;
mod functions;
mod module_class;
mod module_members;
mod module_slots;
mod throw;

use ferrite_alloc_ext::cxx::{self, CxxRuntime};
use ferrite_alloc_ext::module::cxx_class::{self, CxxClass};

#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!(
    "`cxx-abi` knows the C++ calling conventions of x86-64 and AArch64 on Unix only: disable it"
);

static RUNTIME: CxxRuntime = CxxRuntime { call_hook: call::hook };

static MODULE: CxxClass = CxxClass { vptr: module_slots::VPTR, ops: foreign::OPS };

/// Installs the C++ runtime hooks and the operations of C++ modules in the inner crates.
pub fn install() {
    // SAFETY: the runtime and the virtual table of this build, which is linked with a C++ runtime.
    unsafe {
        cxx::install(&RUNTIME);
        cxx_class::install(&MODULE);
    }
}
