//! Detection of truncated files before the dynamic linker maps them: the first access to a missing
//! page would end the process with a bus error.

#[cfg_attr(target_os = "linux", path = "elf.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod imp;

pub(super) use imp::is_truncated;
