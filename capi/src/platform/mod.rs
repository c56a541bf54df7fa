//! The platform interface for firmware (`include/tvm_ffi_platform.h`): hooks that firmware may define, and functions
//! beyond the TVM-FFI ABI.
//!
//! | file | content |
//! |---|---|
//! | [`hooks`] | functions that firmware may define, each with a default |
//! | `defaults` | default hooks, as weak symbols |
//! | `cortex_m`, `riscv` | interrupt masking, and the fault that ends a program |
//! | `sections` | the critical sections of the library: the hooks, or in `minimal` direct masking |
//! | [`firmware`], `workspace` | the functions that firmware may call |

#[cfg(all(target_os = "none", any(cortex_m, riscv), not(feature = "minimal")))]
mod defaults;
#[cfg(not(feature = "minimal"))]
pub mod firmware;
#[cfg(all(target_os = "none", not(feature = "minimal")))]
pub mod hooks;
#[cfg(all(target_os = "none", any(cortex_m, riscv)))]
#[cfg_attr(cortex_m, path = "cortex_m.rs")]
#[cfg_attr(riscv, path = "riscv.rs")]
mod interrupts;
#[cfg(target_os = "none")]
mod sections;
#[cfg(feature = "backend")]
pub mod workspace;

#[cfg(all(target_os = "none", not(feature = "minimal")))]
pub(crate) use hooks::FerritePlatformAbort as abort;

#[cfg(all(feature = "minimal", target_os = "none", not(any(cortex_m, riscv))))]
compile_error!("`minimal` masks interrupts itself, which it can do on Cortex-M and RISC-V cores");
