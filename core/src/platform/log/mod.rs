//! Lines of the log on hosts: standard error. On bare metal `error::log` passes them to a function
//! that firmware sets.

#[cfg_attr(unix, path = "stderr/unix.rs")]
#[cfg_attr(not(unix), path = "stderr/other.rs")]
mod stderr;

/// Writes a line, which ends with a newline. Errors of the stream are ignored.
pub(crate) fn write(line: &[u8]) {
    stderr::write(line);
}
