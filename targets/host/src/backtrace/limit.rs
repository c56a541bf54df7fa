//! The maximum number of frames in a backtrace, from the environment.

use crate::environment;

/// Default of the environment variable `TVM_TRACEBACK_LIMIT`: the maximum number of frames in a
/// backtrace.
pub(super) const DEFAULT_LIMIT: usize = 512;

/// Returns the maximum number of frames.
pub(super) fn limit() -> usize {
    environment::read(c"TVM_TRACEBACK_LIMIT", parse_limit).unwrap_or(DEFAULT_LIMIT)
}

/// Parses a number from 0 to 2147483647 as C's `strtol` does; returns the default for any other
/// text.
fn parse_limit(text: &[u8]) -> usize {
    let value = core::str::from_utf8(text.trim_ascii_start())
        .ok()
        .and_then(|digits| digits.parse::<i32>().ok());
    value.and_then(|value| usize::try_from(value).ok()).unwrap_or(DEFAULT_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_upstream_reads_them() {
        for (text, limit) in [("0", 0), (" 7", 7), ("+5", 5), ("2147483647", i32::MAX as usize)] {
            assert_eq!(parse_limit(text.as_bytes()), limit, "{text:?}");
        }
        for text in ["", "x", "-1", "5 ", "5x", "2147483648"] {
            assert_eq!(parse_limit(text.as_bytes()), DEFAULT_LIMIT, "{text:?}");
        }
    }
}
