//! The log on hosts: standard error.

#[cfg_attr(unix, path = "stderr/unix.rs")]
#[cfg_attr(not(unix), path = "stderr/other.rs")]
mod stderr;

use crate::platform::text::Writer;

/// Maximum length of a line in bytes.
const LINE_BYTES: usize = 1024;

/// Writes one line. Errors of the stream are ignored.
pub(super) fn line(compose: &dyn Fn(&mut Writer<'_>)) {
    let mut line = [0; LINE_BYTES];
    let mut out = Writer::new(&mut line);
    compose(&mut out);
    let len = out.wanted.min(LINE_BYTES - 1);
    line[len] = b'\n';
    stderr::write(&line[..=len]);
}
