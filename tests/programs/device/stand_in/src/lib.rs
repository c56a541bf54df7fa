//! A stand-in for GPU drivers, for tests on machines without one. It is not a driver and is never
//! installed.
//!
//! | Module | Contents |
//! |---|---|
//! | `machine` | the devices and their objects, and checks of arguments |
//! | `memory` | device memory, at addresses that the CPU cannot read, and pinned host memory |
//! | `pool` | memory that is allocated and freed in the order of streams |
//! | `graph` | recorded commands |
//! | `queue` | streams: commands run when a thread waits for them, not before |
//! | `image` | module images: finds the kernels that PTX or an ELF file names |
//! | `kernels` | kernels of the fixtures, on the CPU |
//! | `product` | products of matrices, on the CPU |
//! | `faults` | requested failures, call counts, and complaints |
//! | `control` | control functions for tests |
//! | `cuda` | the names of libcuda, a feature |
//! | `cublaslt` | the names of libcublasLt, with those of libcuda |
//! | `hip` | the names of libamdhip64, a feature |
//!
//! A call that only a faulty library makes (an unknown handle, freed memory, a context of another
//! device, a record with garbage) is an error and a *complaint*, which tests read at their end. A
//! call that a user's bad input can cause, such as a block that is too large, is only an error.

#![cfg(all(any(feature = "cuda", feature = "hip"), target_os = "linux"))] // without a driver feature, the crate is empty
#![cfg_attr(
    not(all(feature = "cuda", feature = "hip")),
    allow(dead_code, reason = "each driver uses a part of the machine")
)]

mod control;
#[cfg(feature = "cuda")]
mod cublaslt;
#[cfg(feature = "cuda")]
mod cuda;
mod faults;
mod graph;
#[cfg(feature = "hip")]
mod hip;
mod image;
mod kernels;
mod machine;
mod memory;
mod pool;
#[cfg(feature = "cuda")]
mod product;
mod queue;
