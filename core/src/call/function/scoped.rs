//! Functions over closures that borrow from their caller, for the time of a call.

use core::ffi::{c_int, c_void};
use core::num::NonZeroUsize;
use core::ptr;

use super::{Function, FunctionRecord, cell, serve_safe_call};
use crate::abi::{TVMFFIAny, TVMFFIObject, type_index};
use crate::error::{Error, Result};
use crate::object::ObjectClass;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::plain_error;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::current_thread;
use crate::value::any::{Any, AnyView};

/// A closure over packed arguments.
type Closure<'a> = dyn Fn(&[AnyView<'_>]) -> Result<Any> + 'a;

/// Record of a function object over a borrowed closure.
#[repr(C)]
struct ScopedRecord {
    function: FunctionRecord,
    /// Address of the reference to the closure, in the frame of [`Function::scoped`]; null after
    /// its scope.
    closure: AtomicPtr<c_void>,
    /// The thread of the scope.
    thread: Option<NonZeroUsize>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ScopedRecord {
    unsafe fn destroy(_: *mut TVMFFIObject) {}
}

impl Function {
    /// Calls `body` with a function over a closure that may borrow from the caller, and returns
    /// what `body` returns.
    ///
    /// The function may be retained, but calls the closure only on this thread and until `body`
    /// returns. It raises RuntimeError otherwise. The closure must be `Fn`, since it may be called
    /// re-entrantly.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, Function, Result};
    /// use core::cell::Cell;
    ///
    /// # fn main() -> Result<()> {
    /// let (apply, count) = (Function::from_typed(|f: Function| f.call::<()>((1,)))?, Cell::new(0));
    /// let add = |args: &[ferrite_core::AnyView<'_>]| {
    ///     count.set(count.get() + args[0].get::<i64>()?);
    ///     Ok(Any::NONE)
    /// };
    /// Function::scoped(&add, |f| apply.call::<()>((f,)))?;
    /// assert_eq!(count.get(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of `body`; MemoryError.
    ///
    /// # Threads
    /// Builds that cannot identify threads (several cores without an operating system) do not check
    /// the thread: `body` must not hand the function to another core.
    pub fn scoped<R>(
        closure: &Closure<'_>,
        body: impl FnOnce(&Function) -> Result<R>,
    ) -> Result<R> {
        let place: &Closure<'_> = closure;
        let thread = current_thread();
        // SAFETY: the allocation has room for the record.
        let init = |record: *mut ScopedRecord| unsafe {
            (&raw mut (*record).function.cell).write(cell(scoped_safe_call));
            (&raw mut (*record).closure)
                .write(AtomicPtr::new(ptr::from_ref(&place).cast_mut().cast::<c_void>()));
            (&raw mut (*record).thread).write(thread);
        };
        // SAFETY: `init` writes every field.
        let function =
            unsafe { object_alloc::allocate(type_index::FUNCTION, 0, init).map(Function) }?;
        let scope = Scope(function);
        body(&scope.0)
    }
}

/// Guard that ends the scope of a function when it is dropped, also by a panic.
struct Scope(Function);

impl Drop for Scope {
    fn drop(&mut self) {
        let record: *const ScopedRecord = self.0.as_object().as_ptr().cast_const().cast();
        // SAFETY: the reference keeps the record alive; its field is only accessed as an atomic.
        unsafe { &(*record).closure }.store(ptr::null_mut(), Ordering::Release);
    }
}

/// The safe call of functions over borrowed closures.
unsafe extern "C" fn scoped_safe_call(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let record: *const ScopedRecord = handle.cast();
    let call = |args: &[AnyView<'_>]| {
        // SAFETY: the handle is a live function with this record, the only kind that uses this
        // trampoline; the thread never changes.
        let (closure, thread) = unsafe { (&(*record).closure, (*record).thread) };
        let place = closure.load(Ordering::Acquire).cast_const().cast::<&Closure<'_>>();
        // A thread of an operating system that is ending has no identity.
        let is_unknown = cfg!(feature = "std") && thread.is_none();
        if place.is_null() || is_unknown || thread != current_thread() {
            return Err(out_of_scope());
        }
        // SAFETY: this is the thread of the scope, which has not ended, and cannot end before this
        // call returns to it.
        unsafe { (*place)(args) }
    };
    // SAFETY: the arguments are those of a safe call (ABI).
    unsafe { serve_safe_call(args, count, result, &call) }
}

#[cold]
fn out_of_scope() -> Error {
    plain_error!(RUNTIME_ERROR, "The function was called outside of the call that it was made for")
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn closures_borrow_until_the_scope_ends() -> Result<()> {
        let calls = Cell::new(0);
        let closure = |args: &[AnyView<'_>]| {
            calls.set(calls.get() + args.len());
            Ok(calls.get().into())
        };
        let kept = Function::scoped(&closure, |function| {
            assert_eq!(function.call_packed(&[1i64.into(), 2i64.into()])?.get::<i64>()?, 2);
            Ok(function.clone())
        })?;
        let error = kept.call_packed(&[]).unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        assert_eq!(calls.get(), 2);
        Ok(())
    }

    #[test]
    fn closures_may_be_called_while_they_run() -> Result<()> {
        let function: Cell<Option<Function>> = Cell::new(None);
        let factorial = |args: &[AnyView<'_>]| {
            let number = args[0].get::<i64>()?;
            if number < 2 {
                return Ok(Any::from(1i64));
            }
            let own = function.take();
            function.set(own.clone());
            let smaller =
                own.map_or(Ok(0), |own| own.call_packed(&[(number - 1).into()])?.get::<i64>())?;
            Ok(Any::from(number * smaller))
        };
        let result = Function::scoped(&factorial, |own| {
            function.set(Some(own.clone()));
            own.call_packed(&[5i64.into()])?.get::<i64>()
        });
        assert_eq!(result?, 120);
        Ok(())
    }

    #[test]
    #[cfg(feature = "std")]
    fn other_threads_are_refused() -> Result<()> {
        let closure = |_: &[AnyView<'_>]| Ok(Any::NONE);
        Function::scoped(&closure, |function| {
            let function = function.clone();
            let other = std::thread::spawn(move || function.call_packed(&[]).is_err());
            assert_eq!(other.join().ok(), Some(true));
            Ok(())
        })
    }

    #[test]
    #[cfg(feature = "std")]
    fn a_panic_ends_the_scope() -> Result<()> {
        let kept = std::cell::RefCell::new(None);
        let closure = |_: &[AnyView<'_>]| Ok(Any::NONE);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Function::scoped(&closure, |function| -> Result<()> {
                *kept.borrow_mut() = Some(function.clone());
                std::panic::resume_unwind(std::boxed::Box::new(()))
            })
        }));
        assert!(outcome.is_err());
        assert!(kept.borrow().as_ref().is_some_and(|function| function.call_packed(&[]).is_err()));
        Ok(())
    }
}
