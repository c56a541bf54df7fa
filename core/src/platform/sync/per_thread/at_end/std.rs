//! By the destructor of one thread-local value of std. Values that are first used after it are
//! never destroyed.
#![forbid(unsafe_code)]

/// A value whose destructor destroys the remaining values.
struct Announced;

impl Drop for Announced {
    fn drop(&mut self) {
        super::values::destroy_all();
    }
}

std::thread_local!(static ANNOUNCED: Announced = const { Announced });

pub(super) fn announce() -> bool {
    ANNOUNCED.try_with(|_| ()).is_ok()
}
