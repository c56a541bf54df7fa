//! Capacities that a build may choose, each with its default and the environment variable that overrides it.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "which capacities matter depends on the build")]

/// Bytes that the block pool starts with, which serves every allocation of builds without an operating system's heap.
///
/// Set `FERRITE_POOL_BYTES` when building; 0 leaves it to the program to add memory. Boards start with 8 KiB, which fits beside
/// a stack in 16 KiB of RAM; other builds have an operating system or a browser below them and start with 1 MiB.
pub const POOL_BYTES: usize = from_env_or_zero(option_env!("FERRITE_POOL_BYTES"), POOL_BYTES_DEFAULT);

/// Half the bytes of the longest line that the log hook gets; it is put together on the stack.
///
/// Set `FERRITE_LOG_CHUNK_BYTES` when building. A longer line is cut.
pub const LOG_CHUNK_BYTES: usize = from_env(option_env!("FERRITE_LOG_CHUNK_BYTES"), 64);

/// Slots that the first hashed index of a name table has on hosts; a power of two. Boards have none.
///
/// Set `FERRITE_NAME_SLOTS` when building.
pub const NAME_SLOTS: usize = from_env(option_env!("FERRITE_NAME_SLOTS"), 8).next_power_of_two();

/// Calls between library and user code that may run inside one another where the bounds of the stack are not known.
///
/// Set `FERRITE_NESTED_CALLS` when building. Each takes some of the stack of the thread, up to 2 KiB on a board without
/// what user code takes.
pub const NESTED_CALLS: usize = from_env(option_env!("FERRITE_NESTED_CALLS"), NESTED_CALLS_DEFAULT);

/// Function objects that the profile `minimal` has room for at a time, 48 bytes each on 32 bit. Global functions and symbols
/// of the system library are among them.
///
/// Set `FERRITE_FUNCTIONS` when building.
pub const FUNCTIONS: usize = from_env(option_env!("FERRITE_FUNCTIONS"), 14);

/// Names of functions that the profile `minimal` has room for, 12 bytes each on 32 bit; a power of two.
///
/// Set `FERRITE_NAMES` when building.
pub const NAMES: usize = from_env(option_env!("FERRITE_NAMES"), 16).next_power_of_two();

/// Error objects that the profile `minimal` has room for at a time: the raised one, and those that nobody released yet.
///
/// Set `FERRITE_ERRORS` when building.
pub const ERRORS: usize = from_env(option_env!("FERRITE_ERRORS"), 2);

/// Bytes of kind and message of an error object of the profile `minimal`; longer messages are cut.
///
/// Set `FERRITE_ERROR_BYTES` when building. The messages of compiled functions hold their signature.
pub const ERROR_BYTES: usize = from_env(option_env!("FERRITE_ERROR_BYTES"), 140);

/// Strings and bytes of more than seven bytes that the profile `minimal` has room for at a time.
///
/// Set `FERRITE_STRINGS` when building.
pub const STRINGS: usize = from_env(option_env!("FERRITE_STRINGS"), 2);

/// The longest string of the profile `minimal`, in bytes.
///
/// Set `FERRITE_STRING_BYTES` when building.
pub const STRING_BYTES: usize = from_env(option_env!("FERRITE_STRING_BYTES"), 31);

/// The alignment of workspaces on boards, and of those of the profile `minimal`; a power of two.
///
/// Set `FERRITE_WORKSPACE_ALIGN` when building. Code for a core without vector registers wants no more than 8; 16 is what
/// LLVM assumes of vectors everywhere. Up to this many bytes are lost with each workspace.
pub const WORKSPACE_ALIGN: usize = from_env(option_env!("FERRITE_WORKSPACE_ALIGN"), 16).next_power_of_two();

/// Eighths of a name index that may be filled before it grows: less memory on small cores.
pub const NAME_LOAD_EIGHTHS: usize = if cfg!(target_pointer_width = "64") { 4 } else { 6 };

const NESTED_CALLS_DEFAULT: usize = if cfg!(target_os = "none") { 8 } else { 128 };

const POOL_BYTES_DEFAULT: usize = if cfg!(target_os = "none") { 8 << 10 } else { 1 << 20 };

/// Reads a decimal capacity that is not zero; a value that is not one stops the build instead of being ignored.
const fn from_env(text: Option<&str>, default: usize) -> usize {
    let value = from_env_or_zero(text, default);
    assert!(value > 0, "a FERRITE_* capacity must not be zero");
    value
}

/// As `from_env`; zero is a capacity, too.
const fn from_env_or_zero(text: Option<&str>, default: usize) -> usize {
    let Some(text) = text else { return default };
    let digits = text.as_bytes();
    assert!(!digits.is_empty() && digits.len() <= 9, "a FERRITE_* capacity must have 1 to 9 digits");
    let mut value = 0;
    let mut at = 0;
    while at < digits.len() {
        assert!(digits[at].is_ascii_digit(), "a FERRITE_* capacity must be a decimal number");
        value = value * 10 + (digits[at] - b'0') as usize;
        at += 1;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_come_from_the_text_or_the_default() {
        assert_eq!(from_env(None, 8), 8);
        assert_eq!(from_env(Some("4096"), 8), 4096);
        assert_eq!(from_env_or_zero(Some("0"), 8), 0);
    }

    #[test]
    fn the_first_name_index_is_a_power_of_two() {
        assert!(NAME_SLOTS.is_power_of_two());
    }
}
