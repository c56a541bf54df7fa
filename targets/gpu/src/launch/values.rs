//! Parameter values of a launch, stored on the stack of the launching thread.

/// Maximum number of kernel parameters: as many 8-byte values as fit into CUDA's limit of 4 KiB.
pub const MAX_PARAMETERS: usize = 512;

/// Parameter values. Elements beyond the length stay uninitialised.
pub type Values = heapless::Vec<u64, MAX_PARAMETERS>;
