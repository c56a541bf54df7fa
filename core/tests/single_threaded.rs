//! Reference counts in a process with one thread, where hosts count without locked instructions.
//! The harness of unit tests starts threads, so this program has none. Compares each operation with
//! its definition, for counts near 0, near half of the range and near its end.
use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectDeleterSlot};
use ferrite_core::object::refcount::{self, Release};
use ferrite_core::platform::sync::{find_thread_flag, is_single_threaded};

/// Result of an operation, with the strong and the weak count afterwards.
#[derive(Debug, PartialEq)]
struct Outcome<R>(R, u32, u32);

/// Runs an operation on an object with these counts.
fn run<R>(strong: u32, weak: u32, operate: impl FnOnce(*mut TVMFFIObject) -> R) -> Outcome<R> {
    let combined_ref_count = u64::from(weak) << 32 | u64::from(strong);
    let deleter = TVMFFIObjectDeleterSlot { ensure_align: 0 };
    let mut object = TVMFFIObject { combined_ref_count, type_index: 64, padding: 0, deleter };
    let result = operate(&raw mut object);
    Outcome(result, object.combined_ref_count as u32, (object.combined_ref_count >> 32) as u32)
}

fn released(strong: u32, weak: u32) -> Release {
    match (strong, weak) {
        (1, 1) => Release::Both,
        (1, _) => Release::StrongOnly,
        _ => Release::Alive,
    }
}

fn check(strong: u32, weak: u32) {
    if strong < u32::MAX {
        // SAFETY: the object lives during the call, and its counts are those that the operation
        // requires.
        let found = run(strong, weak, |object| unsafe { refcount::retain(object) });
        assert_eq!(found, Outcome((), strong + 1, weak));
    }
    if weak < u32::MAX {
        // SAFETY: as above.
        let found = run(strong, weak, |object| unsafe { refcount::retain_weak(object) });
        assert_eq!(found, Outcome((), strong, weak + 1));
    }
    if weak > 1 || strong == 0 {
        // SAFETY: as above.
        let found = run(strong, weak, |object| unsafe { refcount::release_weak(object) });
        assert_eq!(found, Outcome(weak == 1, strong, weak - 1), "{strong} strong, {weak} weak");
    }
    if strong == 0 {
        return;
    }
    // SAFETY: as above.
    let found = run(strong, weak, |object| unsafe { refcount::release(object) });
    assert_eq!(
        found,
        Outcome(released(strong, weak), strong - 1, weak),
        "{strong} strong, {weak} weak"
    );
    for single_threaded in [false, is_single_threaded()] {
        let release = |object| {
            // SAFETY: as above.
            unsafe { refcount::release_contended(object, single_threaded) }
        };
        let found = run(strong, weak, release);
        assert_eq!(
            found,
            Outcome(released(strong, weak), strong - 1, weak),
            "{strong} strong, {weak} weak"
        );
    }
    // SAFETY: as above.
    let found = run(strong, weak, |object| unsafe { refcount::try_release_shared(object) });
    let releases = strong > 1 && is_single_threaded();
    assert_eq!(
        found,
        Outcome(releases, strong - u32::from(releases), weak),
        "{strong} strong, {weak} weak"
    );
}

fn main() {
    find_thread_flag();
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        assert!(is_single_threaded(), "the program has no threads");
    }
    let half = 1 << 31;
    let parts = [0..=4, half - 3..=half + 2, u32::MAX - 4..=u32::MAX];
    let near_limits = || parts.clone().into_iter().flatten();
    for strong in near_limits() {
        near_limits().filter(|weak| *weak > 0).for_each(|weak| check(strong, weak));
    }
    println!("{} pairs of counts", near_limits().count() * (near_limits().count() - 1));
}
