//! The state of a walk in the hands of a registered hook: its callback finds it here, and only while the hook runs.

use core::marker::PhantomData;
use core::mem;
use core::ptr;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::{ObjectRecord, allocate};
use ferrite_core::sync::ObjectMutex;
use ferrite_core::{plain_bail, plain_error, stack, type_index};

/// The state of a walk that calls hooks. The default takes its place while it is lent.
pub trait HookState: Default + Send + 'static {}

#[repr(C)]
struct CallbackStateRecord<S> {
    header: TVMFFIObject,
    state: ObjectMutex<Option<S>>,
}

// SAFETY: repr(C), header first; the state is dropped once.
unsafe impl<S> ObjectRecord for CallbackStateRecord<S> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and nobody else uses it any more.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<CallbackStateRecord<S>>()).state) };
    }
}

/// The place of a lent state, shared by the walk and the callback of a hook.
pub struct CallbackState<S> {
    record: ObjectRef,
    state: PhantomData<fn(S) -> S>,
}

impl<S: HookState> CallbackState<S> {
    fn new() -> Result<Self> {
        const { assert!(align_of::<CallbackStateRecord<S>>() <= 16) };
        let init = |record: *mut CallbackStateRecord<S>| {
            // SAFETY: the allocation has room for the record.
            unsafe { (&raw mut (*record).state).write(ObjectMutex::new(None)) };
        };
        // SAFETY: init writes the one field after the header, which `destroy` drops; nobody else sees the object.
        let record = unsafe { allocate(type_index::OBJECT, 0, init)? };
        Ok(Self { record, state: PhantomData })
    }

    fn share(&self) -> Self {
        Self { record: self.record.clone(), state: PhantomData }
    }

    fn place(&self) -> &ObjectMutex<Option<S>> {
        // SAFETY: the reference keeps the record, made by `new` for this very type, alive; a mutex may be shared, and
        // `S` may go from thread to thread.
        unsafe { &(*self.record.as_ptr().cast::<CallbackStateRecord<S>>()).state }
    }

    fn take(&self) -> Option<S> {
        self.place().lock().take()
    }

    fn put(&self, state: S) {
        *self.place().lock() = Some(state);
    }

    /// Runs `work` with the state, for a callback.
    ///
    /// # Errors
    /// RuntimeError when the hook has returned, or another callback is at work; those of `work`.
    pub fn with<R>(&self, work: impl FnOnce(&mut S) -> Result<R>) -> Result<R> {
        let Some(mut state) = self.take() else {
            plain_bail!(
                RUNTIME_ERROR,
                "The callback of a hook can be called only while the hook runs, by one at a time"
            );
        };
        let outcome = work(&mut state);
        self.put(state);
        outcome
    }
}

/// Calls a hook with a callback that finds the state, which is back when the hook has returned.
///
/// # Errors
/// Those of the hook; ValueError when there is no room for it on the stack (see [`stack::nest`]); RuntimeError when the hook
/// left its callback at work in another thread; MemoryError.
pub fn with_callback<S: HookState, R>(
    state: &mut S,
    make_callback: impl FnOnce(CallbackState<S>) -> Result<Function>,
    call: impl FnOnce(&Function) -> Result<R>,
) -> Result<R> {
    stack::nest(|| {
        let slot = CallbackState::new()?;
        let callback = make_callback(slot.share())?;
        slot.put(mem::take(state));
        let outcome = call(&callback);
        *state = slot.take().ok_or_else(|| {
            plain_error!(RUNTIME_ERROR, "A hook returned while its callback was at work elsewhere")
        })?;
        outcome
    })
}
