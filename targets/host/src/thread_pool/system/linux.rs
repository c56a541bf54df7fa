//! System interface of the pool on Linux: processors, affinity and threads. Uses no heap memory.

use core::ffi::CStr;
use core::mem;
use core::time::Duration;
use std::fs::File;
use std::io::{Read, Write};

/// Returns the number of processors that the process may run on, limited by the CPU quota of its
/// container.
pub(super) fn processors() -> Option<usize> {
    let allowed = allowed().or_else(online)?;
    Some(quota().map_or(allowed, |quota| allowed.min(quota)))
}

/// Returns the number of processors in the affinity mask; `None` if the kernel's mask is larger
/// than a `cpu_set_t`.
fn allowed() -> Option<usize> {
    // SAFETY: the set is initialised.
    allowed_set(THIS_THREAD).and_then(|set| usize::try_from(unsafe { libc::CPU_COUNT(&set) }).ok())
}

/// Returns the processors that the calling thread may run on.
pub(super) fn allowed_processors() -> impl Iterator<Item = u16> + Clone {
    let set = allowed_set(THIS_THREAD);
    let is_allowed = move |processor: &u16| {
        // SAFETY: the set is initialised; a number beyond its end is in no set.
        set.is_some_and(|set| unsafe { libc::CPU_ISSET(usize::from(*processor), &set) })
    };
    (0..libc::CPU_SETSIZE as u16).filter(is_allowed)
}

fn allowed_set(thread: Thread) -> Option<libc::cpu_set_t> {
    let mut set = empty_set();
    // SAFETY: the set has the size passed.
    let status = unsafe { libc::sched_getaffinity(thread, size_of_val(&set), &mut set) };
    (status == 0).then_some(set)
}

fn empty_set() -> libc::cpu_set_t {
    // SAFETY: a processor set is an array of integers, for which zeros are valid.
    unsafe { mem::zeroed() }
}

/// Returns the fastest processors; none if all are equally fast.
pub(super) fn fast_processors() -> impl Iterator<Item = u16> + Clone {
    processors_of_speed(|speed, (_, fastest)| speed == fastest)
}

/// Returns the slowest processors; none if all are equally fast.
pub(super) fn slow_processors() -> impl Iterator<Item = u16> + Clone {
    processors_of_speed(|speed, (slowest, _)| speed == slowest)
}

/// Returns the allowed processors that `is_wanted` accepts, given their speed and the lowest and
/// highest speed. Returns none if all are equally fast.
fn processors_of_speed(
    is_wanted: fn(u32, (u32, u32)) -> bool,
) -> impl Iterator<Item = u16> + Clone {
    let speeds = || allowed_processors().filter_map(speed);
    let bounds = (speeds().min().unwrap_or(0), speeds().max().unwrap_or(0));
    let differ = bounds.0 != bounds.1;
    allowed_processors().filter(move |processor| {
        differ && speed(*processor).is_some_and(|speed| is_wanted(speed, bounds))
    })
}

/// Returns the maximum frequency of a processor in kHz, or `None` if it is unknown.
fn speed(processor: u16) -> Option<u32> {
    let mut path = [0; 64];
    let mut rest = &mut path[..];
    write!(rest, "/sys/devices/system/cpu/cpu{processor}/cpufreq/cpuinfo_max_freq").ok()?;
    let len = 64 - rest.len();
    let mut text = [0; 16];
    let path = core::str::from_utf8(path.get(..len)?).ok()?;
    let len = File::open(path).and_then(|mut file| file.read(&mut text)).ok()?;
    core::str::from_utf8(text.get(..len)?).ok()?.trim().parse().ok()
}

/// Thread identifier of the kernel.
pub(super) type Thread = libc::pid_t;

/// Identifier of the calling thread, for [`bind`].
pub(super) const THIS_THREAD: Thread = 0;

/// Returns the calling thread's identifier, for use by other threads.
pub(super) fn this_thread() -> Thread {
    // The function of that name needs glibc 2.30.
    // SAFETY: the call has no arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as Thread }
}

/// Returns the processor that the calling thread runs on; negative if unknown.
pub(super) fn this_processor() -> i32 {
    // SAFETY: the call has no arguments.
    unsafe { libc::sched_getcpu() }
}

/// Moves a thread off a processor, if it runs there and may run elsewhere.
pub(super) fn move_off(thread: Thread, processor: i32) {
    let Some(allowed) = allowed_set(thread) else { return };
    let mut others = allowed;
    // SAFETY: the sets are initialised and have the sizes passed. A number beyond their end is
    // ignored.
    unsafe {
        libc::CPU_CLR(usize::try_from(processor).unwrap_or(usize::MAX), &mut others);
        if libc::sched_setaffinity(thread, size_of_val(&others), &others) == 0 {
            libc::sched_setaffinity(thread, size_of_val(&allowed), &allowed);
        }
    }
}

/// Returns the time of a monotonic clock with a resolution of a few milliseconds.
pub(super) fn coarse_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Binds a thread to these processors. Has no effect if there are none. Errors of the kernel are
/// ignored.
pub(super) fn bind(thread: Thread, processors: &[u16]) {
    if processors.is_empty() {
        return;
    }
    let mut set = empty_set();
    for processor in processors {
        // SAFETY: a number beyond the end of the set is ignored.
        unsafe { libc::CPU_SET(usize::from(*processor), &mut set) };
    }
    // SAFETY: the set has the size passed.
    unsafe { libc::sched_setaffinity(thread, size_of_val(&set), &set) };
}

/// Returns the number of processors online.
fn online() -> Option<usize> {
    // SAFETY: the call takes only a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).ok()
}

/// Returns the number of processors that the CPU quota of the control group allows, or `None` if
/// there is no quota. `std` also reads the quotas of outer control groups, but aborts the process
/// when out of memory.
fn quota() -> Option<usize> {
    let mut text = [0; 64];
    let len =
        File::open("/sys/fs/cgroup/cpu.max").and_then(|mut file| file.read(&mut text)).ok()?;
    parse_quota(core::str::from_utf8(text.get(..len)?).ok()?)
}

/// Parses a quota and its period, both in microseconds, and returns their quotient as a number of
/// processors. `max` means no quota.
fn parse_quota(text: &str) -> Option<usize> {
    let mut words = text.split_ascii_whitespace();
    let quota: usize = words.next()?.parse().ok()?;
    let period: usize = words.next()?.parse().ok()?;
    Some(quota.checked_div(period)?.max(1))
}

/// Names the calling thread, for debuggers.
pub(super) fn name_thread(name: &CStr) {
    // SAFETY: the thread is the calling one, and the name ends in a NUL. A name that is too long is
    // rejected.
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
