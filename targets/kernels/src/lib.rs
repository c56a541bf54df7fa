//! Dense kernels for compiled models, as functions of the model's library.
//!
//! [`exports`] is the table of functions; [`arguments`] checks what they get. [`matmul`], [`conv`],
//! [`attention`] and [`epilogue`] are written once over the vectors of [`simd`], which compiles
//! them for each instruction set and selects one on the first call. [`threads`] and [`scratch`] use
//! the pool and the workspaces of the program.
#![cfg_attr(not(test), no_std)]

mod arguments;
mod attention;
mod conv;
mod element;
mod epilogue;
mod exports;
mod matmul;
#[cfg(not(test))]
mod panic;
#[cfg(test)]
mod program;
mod quantized;
mod scratch;
mod simd;
#[cfg(test)]
mod tests;
mod threads;
