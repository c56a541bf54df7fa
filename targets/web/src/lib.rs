//! The library in web pages and Node, on `wasm32-unknown-unknown`: what TVM's JavaScript runtime
//! (tvmjs) expects of a WebAssembly module beyond the C symbols of TVM-FFI.
//!
//! | module | content |
//! |---|---|
//! | `imports` | functions that JavaScript provides |
//! | `callback` | function objects that call JavaScript |
//! | `memory` | memory blocks that JavaScript allocates |
//! | `last_error` | the raised error as a C string |
//! | `functions` | global functions `tvmjs.*` |
//! | `log` | the library's log on the console |
//! | `webgpu` | WebGPU devices and modules, by functions that JavaScript registers |
//! | `testing` | functions of upstream's tests, with the feature `testing` |
//!
//! `ferrite-ffi-capi` exports the C symbols, with the feature `web`. One WebAssembly instance is
//! one copy of the library: two instances share nothing.
//!
//! For other targets the crate is empty.
#![cfg(target_family = "wasm")]
#![no_std]

pub mod callback;
pub mod functions;
pub mod imports;
pub mod last_error;
pub mod log;
pub mod memory;
#[cfg(feature = "testing")]
mod testing;
pub mod webgpu;

use ferrite_alloc_ext::device::{self, Backend};

/// Runs the constructors of the module, which register its system libraries, registers the back
/// end of WebGPU if it is linked, and sends the log to the console. Must be called once, before the
/// first lookup of a function.
pub fn install() {
    // SAFETY: called once; constructors of compiled code have no requirement but that.
    unsafe { imports::__wasm_call_ctors() };
    log::install();
    static REGISTER_WEBGPU: fn() = register_no_webgpu;
    // SAFETY: a static. The compiler must not see which function it reads: the linker's option
    // `--wrap=device.webgpu` changes that.
    let register = unsafe { (&raw const REGISTER_WEBGPU).read_volatile() };
    register();
}

/// Leaves the back end of WebGPU out, in modules without a kernel for it.
#[unsafe(export_name = "device.webgpu")]
fn register_no_webgpu() {}

#[unsafe(export_name = "__wrap_device.webgpu")]
fn register_webgpu() {
    static WEBGPU: &dyn Backend = &webgpu::WebGpu;
    // The device type is within the table.
    let _ = device::register(&WEBGPU);
}
