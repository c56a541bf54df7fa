//! Capacities chosen at build time, each with its default and the environment variable that
//! overrides it.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "which capacities matter depends on the build")]

/// Initial size of the block pool in bytes. Builds without an operating system's heap allocate only
/// from this pool.
///
/// Set `FERRITE_POOL_BYTES` when building; with 0 the program must add memory itself. The default
/// for microcontrollers is 8 KiB, which fits beside a stack in 16 KiB of RAM; the default for
/// builds that run on an operating system or in a browser is 1 MiB.
pub const POOL_BYTES: usize =
    from_env_or_zero(option_env!("FERRITE_POOL_BYTES"), POOL_BYTES_DEFAULT);

/// Half the maximum length in bytes of a line passed to the log sink. The line is composed on the
/// stack.
///
/// Set `FERRITE_LOG_CHUNK_BYTES` when building. Longer lines are truncated.
pub const LOG_CHUNK_BYTES: usize = from_env(option_env!("FERRITE_LOG_CHUNK_BYTES"), 64);

/// Initial number of slots in the hash index of a name table on hosts; a power of two. Bare-metal
/// builds have no index.
///
/// Set `FERRITE_NAME_SLOTS` when building.
pub const NAME_SLOTS: usize = from_env(option_env!("FERRITE_NAME_SLOTS"), 8).next_power_of_two();

/// Maximum depth of nested calls between the library and user callbacks, used if the bounds of the
/// stack are unknown.
///
/// Set `FERRITE_NESTED_CALLS` when building. Each level takes stack: up to 2 KiB on a
/// microcontroller, plus the stack of the callback.
pub const NESTED_CALLS: usize = from_env(option_env!("FERRITE_NESTED_CALLS"), NESTED_CALLS_DEFAULT);

/// Alignment of workspaces in microcontroller builds and in the `minimal` profile, in bytes; a
/// power of two.
///
/// Set `FERRITE_WORKSPACE_ALIGN` when building. Code for a core without vector registers needs at
/// most 8; 16 is the vector alignment that LLVM assumes everywhere. Each workspace loses up to this
/// many bytes to padding.
pub const WORKSPACE_ALIGN: usize =
    from_env(option_env!("FERRITE_WORKSPACE_ALIGN"), 16).next_power_of_two();

/// Capacity for symbols of system libraries in builds with whole models and without modules, 8
/// bytes each on 32-bit targets.
///
/// Set `FERRITE_SYSTEM_SYMBOLS` when building. A model has a symbol for each kernel, and two more.
pub const SYSTEM_SYMBOLS: usize = from_env(option_env!("FERRITE_SYSTEM_SYMBOLS"), 48);

/// Maximum load factor of a name index, in eighths. Higher on 32-bit cores, to save memory.
pub const NAME_LOAD_EIGHTHS: usize = if cfg!(target_pointer_width = "64") { 4 } else { 6 };

const NESTED_CALLS_DEFAULT: usize = if cfg!(target_os = "none") { 8 } else { 128 };

const POOL_BYTES_DEFAULT: usize = if cfg!(target_os = "none") { 8 << 10 } else { 1 << 20 };

/// Parses a non-zero decimal capacity, or returns the default for `None`. An invalid value fails
/// the build instead of being ignored.
pub const fn from_env(text: Option<&str>, default: usize) -> usize {
    let value = from_env_or_zero(text, default);
    assert!(value > 0, "a FERRITE_* capacity must not be zero");
    value
}

/// Parses a decimal capacity as [`from_env`] does, but accepts zero.
const fn from_env_or_zero(text: Option<&str>, default: usize) -> usize {
    let Some(text) = text else { return default };
    let digits = text.as_bytes();
    assert!(
        !digits.is_empty() && digits.len() <= 9,
        "a FERRITE_* capacity must have 1 to 9 digits"
    );
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
