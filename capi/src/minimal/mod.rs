//! The profile `minimal`: the symbols that firmware and compiled functions need, without any heap.
//!
//! Names and signatures are those of the whole library, and so are meanings and kinds of errors; the documentation of a symbol
//! here says only what is different. Capacities are chosen when the library is built (see `core/src/config.rs`); what
//! does not fit is refused with a MemoryError that names the capacity without `FERRITE_`, and everything goes on. Other
//! messages are two or three words; that of an exhausted workspace has the bytes asked and those free.
//!
//! # Cost
//! Cortex-M4F, every symbol kept: 2,041 bytes of flash, 1,532 of zeros. What is not called is not linked. From entry to return,
//! a call takes 22 instructions, one reference up and down 27, a lookup among 16 names of 8 to 19 bytes 129 on average (166 for
//! the last one); `./ci.sh minimal` measures them.
//!
//! # Interrupts
//! One core is assumed. The raised error is the program's: a handler that lets calls fail takes the raised error first
//! (`TVMFFIErrorMoveFromRaised`) and puts it back last (`TVMFFIErrorSetRaised`, `TVMFFIObjectDecRef`).
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
//! | `TVMBackendAllocWorkspace`, `TVMBackendFreeWorkspace` | safe: blocks of a handler lie above those that it interrupts, and end before it does |
//! | `TVMBackendParallelLaunch`, `TVMBackendParallelBarrier` | safe |
//! | `TVMFFIHandleInitOnce` | safe; refused with RuntimeError for a handle that is being made by what it interrupts |
//! | `TVMFFIHandleDeinitOnce` | safe |
//! | `FerriteWorkspaceSet` | safe; refused with RuntimeError while workspaces are in use |
//!
//! Interrupts are masked by the library itself: PRIMASK on Cortex-M, `mstatus.MIE` on RISC-V. Nothing is asked of the board.

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
