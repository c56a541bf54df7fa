//! Caches of global functions at call sites, on processors with compare-and-swap.

use core::ptr;

use super::Function;
use crate::abi::TVMFFIObject;
use crate::error::Result;
use crate::object::{ObjectClass, ObjectRef};
use crate::platform::sync::atomic::{AtomicPtr, Ordering};

/// A global function, looked up at the first use. [`cached_global!`](crate::cached_global) makes
/// one for each call site.
///
/// A later registration under the same name does not replace the function that was found.
pub struct CachedGlobal {
    /// Object of the function, whose reference is never released; null before the first use.
    found: AtomicPtr<TVMFFIObject>,
}

impl CachedGlobal {
    /// Creates an empty cache.
    #[allow(clippy::new_without_default, reason = "for static variables")]
    pub const fn new() -> CachedGlobal {
        CachedGlobal { found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the function of this name. The name must be the same in every call.
    ///
    /// # Errors
    /// The errors of [`Function::global`]; the next call looks again.
    #[inline]
    pub fn get(&'static self, name: &str) -> Result<&'static Function> {
        if self.found.load(Ordering::Acquire).is_null() {
            self.look_up(name)?;
        }
        // SAFETY: the pointer is that of a function whose reference is never released, and does not
        // change any more; a Function is such a pointer.
        Ok(unsafe { &*self.found.as_ptr().cast::<Function>() })
    }

    #[cold]
    fn look_up(&self, name: &str) -> Result<()> {
        let function = Function::global(name)?.into_object().into_raw();
        let place = self.found.compare_exchange(
            ptr::null_mut(),
            function.as_ptr(),
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if place.is_err() {
            // SAFETY: another thread was first, so that this reference is not kept.
            drop(unsafe { ObjectRef::from_raw(function) });
        }
        Ok(())
    }
}

// A reference to a function is the address of its object.
const _: () = assert!(size_of::<Function>() == size_of::<*mut TVMFFIObject>());

/// Returns a global function, `Result<&'static Function>`, which this call site looks up once.
/// Cores without compare-and-swap, such as Cortex-M0, have no such macro.
///
/// ```
/// use ferrite_core::{Function, Result, cached_global};
///
/// fn doubled(x: i64) -> Result<i64> {
///     cached_global!("example.double")?.call((x,))
/// }
///
/// # fn main() -> Result<()> {
/// assert!(doubled(1).is_err());
/// Function::register("example.double", |x: i64| 2 * x)?;
/// assert_eq!(doubled(2)? + doubled(3)?, 10);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `cached_global_func!` of the crate `tvm-ffi`, which ends the process for an unknown name.
#[macro_export]
macro_rules! cached_global {
    ($name:literal) => {{
        static PLACE: $crate::call::function::CachedGlobal =
            $crate::call::function::CachedGlobal::new();
        PLACE.get($name)
    }};
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn the_first_function_that_is_found_stays() -> Result<()> {
        fn call() -> Result<i64> {
            cached_global!("test.cached.stays")?.call(())
        }
        assert_eq!(call().unwrap_err().kind_bytes(), b"ValueError");
        Function::register("test.cached.stays", || 1)?;
        assert_eq!(call()?, 1);
        Function::set_global("test.cached.stays", &Function::from_typed(|| 2)?, true)?;
        assert_eq!(call()?, 1);
        Ok(())
    }

    #[test]
    fn threads_that_look_up_at_once_keep_one_reference() -> Result<()> {
        static PLACE: CachedGlobal = CachedGlobal::new();
        let function = Function::from_typed(|| 3)?;
        Function::set_global("test.cached.threads", &function, false)?;
        let before = function.as_object().strong_count();
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    assert_eq!(
                        PLACE.get("test.cached.threads").unwrap().call::<i64>(()).unwrap(),
                        3
                    )
                });
            }
        });
        assert_eq!(function.as_object().strong_count(), before + 1);
        Ok(())
    }
}
