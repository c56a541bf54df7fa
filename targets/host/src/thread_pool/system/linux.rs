//! What the pool asks of Linux, without memory from the heap.

use core::ffi::CStr;
use core::mem;
use std::fs::File;
use std::io::Read;

/// The processors that the process may run on, or fewer when the CPU quota of its container gives less time than theirs.
pub(super) fn processors() -> Option<usize> {
    let allowed = allowed().or_else(online)?;
    Some(quota().map_or(allowed, |quota| allowed.min(quota)))
}

/// How many processors the process may run on; `None` where the kernel knows more of them than a set has room for.
fn allowed() -> Option<usize> {
    // SAFETY: a set of processors is an array of numbers, for which zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the set has the size that is told.
    let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    if status != 0 {
        return None;
    }
    // SAFETY: the set is filled in.
    usize::try_from(unsafe { libc::CPU_COUNT(&set) }).ok()
}

/// How many processors the machine has at work.
fn online() -> Option<usize> {
    // SAFETY: the call takes a number alone.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).ok()
}

/// How many processors the quota keeps busy. Std reads those of outer control groups too, but ends the process without memory.
fn quota() -> Option<usize> {
    let mut text = [0; 64];
    let len = File::open("/sys/fs/cgroup/cpu.max").and_then(|mut file| file.read(&mut text)).ok()?;
    parse_quota(core::str::from_utf8(text.get(..len)?).ok()?)
}

/// Reads a quota and its period, both in microseconds; `max` stands for no quota.
fn parse_quota(text: &str) -> Option<usize> {
    let mut words = text.split_ascii_whitespace();
    let quota: usize = words.next()?.parse().ok()?;
    let period: usize = words.next()?.parse().ok()?;
    Some(quota.checked_div(period)?.max(1))
}

/// Gives the calling thread a name, for debuggers.
pub(super) fn name_thread(name: &CStr) {
    // SAFETY: the thread is the calling one, and the name ends in a NUL. A name that is too long is refused.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_are_those_that_may_be_used() {
        assert!(processors().is_some_and(|count| count > 0));
        assert!(allowed() <= online() && online() > Some(0));
    }

    #[test]
    fn quotas_are_rounded_down_to_whole_processors() {
        for (text, quota) in [("200000 100000\n", 2), ("250000 100000", 2), ("50000 100000", 1)] {
            assert_eq!(parse_quota(text), Some(quota), "{text:?}");
        }
        for text in ["", "max 100000\n", "100000", "1 0"] {
            assert_eq!(parse_quota(text), None, "{text:?}");
        }
    }
}
