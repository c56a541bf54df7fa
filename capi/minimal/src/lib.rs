//! The profile `minimal` of `libtvm_ffi`: the C symbols that firmware and compiled functions need,
//! implemented without a heap.
//!
//! Names, signatures, behaviour, error kinds and the rules for pointers are those of
//! `ferrite-ffi-capi`; the documentation here only states the differences. Capacities are chosen
//! when the library is built (see `engine/capacity.rs`). When one is exhausted, a call fails with a
//! MemoryError that names the capacity without its prefix `FERRITE_`, and the library stays usable.
//! Other messages are two or three words long. For an exhausted workspace, the message states the
//! requested and the free number of bytes.
//!
//! | file | content |
//! |---|---|
//! | [`engine`] | the implementation: fixed tables and pools, errors in one byte |
//! | `boundary` | argument checks, and results as status codes |
//! | `platform` | critical sections by interrupt masking, and the panic handler |
//! | all others | the symbols, one file per section of the header |
//!
//! With the feature `microtvm`, the archive also has the symbols of `ferrite-ffi-microtvm`.
//!
//! # Cost
//! On a Cortex-M4F with every symbol linked: 2,047 bytes of flash and 1,532 bytes of
//! zero-initialised RAM. Unused symbols are not linked. From entry to return, a call takes 22
//! instructions, a retain with a release 27, a lookup among 16 names of 8 to 19 bytes 129 on
//! average (166 for the last one); `./ci.sh minimal` measures them.
//!
//! # Interrupts
//! A single core is assumed. All code shares one raised error. An interrupt handler whose calls may
//! fail must save the raised error first (`TVMFFIErrorMoveFromRaised`) and restore it last
//! (`TVMFFIErrorSetRaised`, `TVMFFIObjectDecRef`).
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
//! The library masks interrupts itself, by PRIMASK on Cortex-M and `mstatus.MIE` on RISC-V.
//! Firmware need not provide any hooks.
#![no_std]
#![allow(non_snake_case, reason = "the C ABI fixes these spellings")]

pub mod backend;
mod boundary;
pub mod engine;
pub mod env;
pub mod error;
pub mod firmware;
pub mod function;
pub mod init_once;
pub mod object;
mod platform;
pub mod string;

// Linked for its symbols.
#[cfg(feature = "microtvm")]
use ferrite_microtvm as _;
