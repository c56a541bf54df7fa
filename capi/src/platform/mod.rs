//! The platform interface for firmware (`include/tvm_ffi_platform.h`): hooks that firmware may
//! define, and functions beyond the TVM-FFI ABI.
//!
//! | file | content |
//! |---|---|
//! | [`hooks`] | functions that firmware may define, each with a default |
//! | `defaults` | default hooks, as weak symbols |
//! | `cortex_m`, `riscv` | interrupt masking, and the fault that ends a program |
//! | `sections` | the critical sections of the library, by the hooks |
//! | [`firmware`], `workspace` | the functions that firmware may call |

#[cfg(all(target_os = "none", any(cortex_m, riscv)))]
mod defaults;
pub mod firmware;
#[cfg(target_os = "none")]
pub mod hooks;
#[cfg(all(target_os = "none", any(cortex_m, riscv)))]
#[cfg_attr(cortex_m, path = "cortex_m.rs")]
#[cfg_attr(riscv, path = "riscv.rs")]
mod interrupts;
#[cfg(target_os = "none")]
mod sections;
#[cfg(feature = "backend")]
pub mod workspace;

#[cfg(target_os = "none")]
pub(crate) use hooks::FerritePlatformAbort as abort;
