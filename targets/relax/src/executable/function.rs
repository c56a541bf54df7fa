//! Entries of the function table.
#![forbid(unsafe_code)]

use core::ops::Range;

use super::reader::Text;

/// Kind of implementation of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel or a builtin, looked up by name.
    Packed = 0,
    /// Instructions of the executable.
    Bytecode = 1,
    /// Native code in the model's library, under the name `__vmtir__NAME`.
    Compiled = 2,
}

/// An entry of the function table.
pub struct FunctionInfo {
    /// Kind of implementation.
    pub kind: FunctionKind,
    pub(super) name: Text,
    /// Range of instruction indices.
    pub instructions: Range<usize>,
    /// Number of arguments; 0 for packed functions.
    pub arguments: usize,
    /// Number of registers, at least the number of arguments.
    pub registers: usize,
    /// Maximum number of arguments of the calls in the function.
    pub call_arguments: usize,
    /// Range of indices of its parameter names.
    pub(super) parameters: Range<usize>,
}
