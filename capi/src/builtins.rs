//! The functions, context symbols and platform parts that this build of the library has.

use core::sync::atomic::{AtomicBool, Ordering};

use ferrite_core::builtins::{self, Groups};

#[cfg(feature = "alloc")]
mod context;

#[cfg(all(feature = "std", target_os = "linux"))]
mod constructor;

static INSTALLED: AtomicBool = AtomicBool::new(false);

static GROUPS: Groups = &[
    &ferrite_core::ffi_functions::FUNCTIONS,
    #[cfg(feature = "alloc")]
    ferrite_alloc_ext::containers::functions::FUNCTIONS,
    #[cfg(feature = "alloc")]
    ferrite_alloc_ext::dataclass::FUNCTIONS,
    #[cfg(feature = "alloc")]
    ferrite_alloc_ext::json::FUNCTIONS,
    #[cfg(feature = "alloc")]
    ferrite_alloc_ext::module::functions::FUNCTIONS,
    #[cfg(feature = "host")]
    ferrite_alloc_ext::reflection::FUNCTIONS,
    #[cfg(feature = "host")]
    ferrite_host::dynamic_lib::FUNCTIONS,
];

/// Makes them known unless they are: where no constructor runs when the library is loaded, the first use does it.
#[inline]
pub(crate) fn ensure_installed() {
    if !INSTALLED.load(Ordering::Acquire) {
        install();
    }
}

/// Makes them known: several threads may do so at once, and before `main`. Atomic stores, but for the key hooks that
/// C++ clients look for, on hosts.
#[cold]
fn install() {
    builtins::install(&GROUPS);
    #[cfg(feature = "alloc")]
    context::install();
    #[cfg(feature = "host")]
    ferrite_host::backtrace::install();
    // Without memory for them, C++ clients tell big integers apart by address: nothing else is lost.
    #[cfg(feature = "host")]
    let _ = ferrite_alloc_ext::containers::key::install_hooks();
    // Without memory for them, classes of the library cannot be looked at by name: nothing else is lost.
    #[cfg(feature = "host")]
    let _ = ferrite_alloc_ext::reflection::install();
    #[cfg(all(feature = "host", feature = "backend"))]
    ferrite_host::thread_pool::install();
    #[cfg(feature = "host")]
    ferrite_host::thread_pool::install();
    INSTALLED.store(true, Ordering::Release);
}
