//! The profile `minimal`: the symbols that firmware and compiled functions need, without any heap.
//!
//! Names, signatures, meanings and error kinds are those of the whole library; the documentation of a symbol here only
//! states differences. Capacities are chosen when the library is built (see `core/src/config.rs`); a request beyond one
//! fails with a MemoryError that names the capacity without `FERRITE_`, and the library stays usable. Other messages
//! are two or three words; that of an exhausted workspace states the requested and the free bytes.
//!
//! # Cost
//! Cortex-M4F, every symbol linked: 2,041 bytes of flash, 1,532 of zeros. Unused symbols are not linked. From entry to
//! return, a call takes 22 instructions, a retain with a release 27, a lookup among 16 names of 8 to 19 bytes 129 on
//! average (166 for the last one); `./ci.sh minimal` measures them.
//!
//! # Interrupts
//! One core is assumed. The raised error belongs to the program: a handler whose calls may fail takes the raised error
//! first (`TVMFFIErrorMoveFromRaised`) and restores it last (`TVMFFIErrorSetRaised`, `TVMFFIObjectDecRef`).
//!
//! | symbols | in an interrupt handler |
//! |---|---|
//! | `TVMFFIGetVersion`, `FerriteWorkspaceHighWater` | safe |
//! | `TVMFFIFunctionCall` | safe; the callee must be safe itself. Compiled functions are |
//! | `TVMFFIObjectIncRef`, `TVMFFIObjectDecRef` | safe; the deleter of a function runs in the handler |
//! | `TVMFFIFunctionCreate`, `TVMFFIStringFromByteArray`, `TVMFFIBytesFromByteArray` | safe: slots are claimed with interrupts masked |
//! | `TVMFFIFunctionGetGlobal` | safe: done with interrupts masked |
//! | `TVMFFIFunctionSetGlobal`, `TVMFFIEnvModRegisterSystemLibSymbol` | safe: done with interrupts masked |
//! | `TVMFFIEnvModLookupFromImports` | safe |
//! | `TVMFFIErrorSetRaised…`, `TVMFFIErrorMoveFromRaised` | safe, with the rule above |
//! | `TVMBackendAllocWorkspace`, `TVMBackendFreeWorkspace` | safe: blocks of a handler lie above those of the interrupted code, and are freed before the handler returns |
//! | `TVMBackendParallelLaunch`, `TVMBackendParallelBarrier` | safe |
//! | `TVMFFIHandleInitOnce` | safe; refused with RuntimeError for a handle that the interrupted code is initialising |
//! | `TVMFFIHandleDeinitOnce` | safe |
//! | `FerriteWorkspaceSet` | safe; refused with RuntimeError while workspaces are in use |
//!
//! The library masks interrupts itself: PRIMASK on Cortex-M, `mstatus.MIE` on RISC-V. The firmware need not provide
//! anything.

pub mod backend;
mod boundary;
pub mod env;
pub mod error;
pub mod firmware;
pub mod function;
pub mod init_once;
pub mod object;
pub mod string;

#[cfg(not(test))]
mod panic;
