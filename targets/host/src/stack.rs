//! The bounds of the stacks of threads, for calls that nest.

use ferrite_core::stack;

#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "stack/pthread_np.rs"]
mod bounds;
#[cfg(target_vendor = "apple")]
#[path = "stack/apple.rs"]
mod bounds;
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
#[path = "stack/unknown.rs"]
mod bounds;

/// Makes calls nest as deep as the stack of their thread allows.
///
/// # Threads
/// Takes a lock for a moment; calling it again changes nothing.
pub fn install() {
    stack::set_provider(bounds::of_this_thread);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use ferrite_core::Result;
    use ferrite_core::stack::{MAX_NESTED_CALLS, nest};

    fn nest_all(count: &mut usize) -> Result<()> {
        let local = [*count as u8; 64];
        *count += 1;
        let outcome = nest(|| nest_all(count));
        core::hint::black_box(&local);
        outcome
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no stacks to run out of")]
    fn calls_nest_until_little_of_the_stack_is_left() {
        super::install();
        let run = |bytes: usize| {
            let work = || {
                let mut count = 0;
                let error = nest_all(&mut count).unwrap_err();
                assert_eq!(error.kind(), b"ValueError");
                count
            };
            std::thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap()
        };
        let (small, large) = (run(256 << 10), run(4 << 20));
        assert!(small > 20, "{small}");
        assert!(large > 8 * small && large > MAX_NESTED_CALLS, "{small}, {large}");
    }
}
