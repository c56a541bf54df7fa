//! Capacities chosen at build time, each with its default and the environment variable that
//! overrides it.
#![forbid(unsafe_code)]

use ferrite_core::platform::config::from_env;

/// Capacity for function objects, 48 bytes each on 32-bit targets. Global functions and
/// symbols of the system library count too.
///
/// Set `FERRITE_FUNCTIONS` when building.
pub const FUNCTIONS: usize = from_env(option_env!("FERRITE_FUNCTIONS"), 14);

/// Capacity for function names, 12 bytes each on 32-bit targets; a power of two.
///
/// Set `FERRITE_NAMES` when building.
pub const NAMES: usize = from_env(option_env!("FERRITE_NAMES"), 16).next_power_of_two();

/// Capacity for error objects: the raised error and every error that is not yet released.
///
/// Set `FERRITE_ERRORS` when building.
pub const ERRORS: usize = from_env(option_env!("FERRITE_ERRORS"), 2);

/// Maximum size in bytes of the kind and message of an error; longer messages are truncated.
///
/// Set `FERRITE_ERROR_BYTES` when building. Messages of compiled functions contain the function's
/// signature.
pub const ERROR_BYTES: usize = from_env(option_env!("FERRITE_ERROR_BYTES"), 140);

/// Capacity for string and bytes objects of more than seven bytes.
///
/// Set `FERRITE_STRINGS` when building.
pub const STRINGS: usize = from_env(option_env!("FERRITE_STRINGS"), 2);

/// Maximum length of a string, in bytes.
///
/// Set `FERRITE_STRING_BYTES` when building.
pub const STRING_BYTES: usize = from_env(option_env!("FERRITE_STRING_BYTES"), 31);
