//! Registration of the built-in functions, context symbols and platform providers of this build.

use crate::boundary;
use ferrite_core::names::builtins::{self, Builtins};
#[cfg(any(feature = "host", feature = "relax"))]
use ferrite_core::names::defaults::{self, Defaults};

#[cfg(feature = "modules")]
mod context;
#[cfg(any(feature = "host", feature = "relax"))]
#[cfg_attr(
    not(any(
        feature = "cuda",
        feature = "metal",
        feature = "opencl",
        feature = "rocm",
        feature = "rpc",
        feature = "vulkan",
        feature = "web",
        feature = "webgpu"
    )),
    path = "no_devices.rs"
)]
mod devices;

// Installs them at load time, so that errors have backtraces from the start.
#[cfg(all(feature = "host", any(target_os = "linux", windows)))]
ferrite_core::at_load!(install);

static BUILTINS: Builtins = Builtins {
    prefix: "ffi.",
    groups: &[
        #[cfg(feature = "functions")]
        &ferrite_core::names::ffi_functions::FUNCTIONS,
        #[cfg(feature = "containers")]
        ferrite_alloc_ext::containers::functions::FUNCTIONS,
        #[cfg(feature = "builtins")]
        ferrite_alloc_ext::dataclass::FUNCTIONS,
        #[cfg(feature = "builtins")]
        ferrite_alloc_ext::graph::FUNCTIONS,
        #[cfg(feature = "containers")]
        ferrite_alloc_ext::json::FUNCTIONS,
        #[cfg(feature = "modules")]
        ferrite_alloc_ext::module::functions::FUNCTIONS,
        #[cfg(feature = "containers")]
        ferrite_alloc_ext::structural::equal::FUNCTIONS,
        #[cfg(all(feature = "builtins", feature = "host"))]
        ferrite_alloc_ext::reflection::FUNCTIONS,
        #[cfg(all(feature = "builtins", feature = "host"))]
        ferrite_alloc_ext::reflection::RELEASE_FUNCTIONS,
        #[cfg(all(feature = "builtins", feature = "host"))]
        ferrite_alloc_ext::structural::key::FUNCTIONS,
        #[cfg(all(feature = "builtins", feature = "host"))]
        ferrite_alloc_ext::structural::equal::PATH_FUNCTIONS,
        #[cfg(all(feature = "builtins", feature = "host"))]
        ferrite_alloc_ext::structural::mutate::FUNCTIONS,
        #[cfg(all(feature = "builtins", feature = "host"))]
        ferrite_alloc_ext::structural::visit::FUNCTIONS,
        #[cfg(feature = "host")]
        ferrite_host::dynamic_lib::FUNCTIONS,
    ],
};

/// Default implementations of functions of TVM's runtime, used until that runtime is loaded and
/// registers its own.
#[cfg(any(feature = "host", feature = "relax"))]
static DEFAULTS: Defaults = Defaults {
    groups: &[
        #[cfg(feature = "host")]
        &[defaults::Group {
            prefix: "runtime.",
            functions: &ferrite_host::thread_pool::FUNCTIONS,
            wrap: None,
        }],
        devices::GROUPS,
        #[cfg(feature = "relax")]
        ferrite_relax::functions::GROUPS,
        #[cfg(feature = "rpc")]
        ferrite_rpc::client::functions::GROUPS,
        #[cfg(all(feature = "web", target_family = "wasm"))]
        ferrite_web::functions::GROUPS,
        #[cfg(feature = "legacy")]
        ferrite_legacy::globals::GROUPS,
        #[cfg(all(feature = "legacy", not(feature = "relax")))]
        ferrite_legacy::globals::WITHOUT_MODELS,
        #[cfg(all(feature = "legacy", not(feature = "rpc")))]
        ferrite_legacy::globals::WITHOUT_REMOTE_CALLS,
    ],
};

/// Installs the built-ins unless they are installed already. On platforms without load-time
/// constructors, the first use of the library installs them.
#[inline]
pub(crate) fn ensure_installed() {
    if !boundary::is_installed() {
        install();
    }
}

/// Installs the built-ins with atomic stores. May be called from several threads concurrently, and
/// before `main`.
#[cold]
fn install() {
    builtins::install(&BUILTINS);
    #[cfg(feature = "modules")]
    context::install();
    #[cfg(feature = "cxx-abi")]
    ferrite_cxx::install();
    // Miri has no frames to walk.
    #[cfg(all(feature = "host", not(miri)))]
    ferrite_host::backtrace::install();
    #[cfg(feature = "host")]
    install_on_host();
    #[cfg(any(feature = "host", feature = "relax"))]
    {
        defaults::install(&DEFAULTS);
        devices::install();
    }
    boundary::set_installed();
    // Its constructors call the library.
    #[cfg(all(feature = "web", target_family = "wasm"))]
    ferrite_web::install();
}

#[cfg(feature = "host")]
fn install_on_host() {
    ferrite_host::forks::install();
    ferrite_core::names::type_table::provide(register_own);
    ferrite_core::platform::sync::find_thread_flag();
    ferrite_host::stack::install();
    ferrite_host::thread_pool::install();
    #[cfg(feature = "rpc")]
    ferrite_rpc::client::install();
    #[cfg(feature = "legacy")]
    ferrite_legacy::install();
}

/// Registers the types and attributes that the library itself provides: its reflected classes, and
/// attributes of built-in types. Runs when a program first looks up a type.
#[cfg(feature = "host")]
fn register_own() -> ferrite_core::Result<()> {
    ferrite_alloc_ext::containers::key::install_hooks()?;
    ferrite_alloc_ext::reflection::install()?;
    ferrite_alloc_ext::structural::install()
}
