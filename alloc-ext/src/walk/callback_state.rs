//! Access to the state of a walk from the callback passed to a hook, only while the hook runs.

use core::marker::PhantomData;
use core::mem;
use core::ptr;

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::{ObjectRecord, allocate};
use ferrite_core::platform::stack;
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::{plain_bail, plain_error};

/// State of a walk that calls hooks. Replaced by its default value while a hook runs.
pub trait HookState: Default + Send + 'static {}

#[repr(C)]
struct CallbackStateRecord<S> {
    header: TVMFFIObject,
    state: ObjectMutex<Option<S>>,
}

// SAFETY: repr(C), header first; the state is dropped once.
unsafe impl<S> ObjectRecord for CallbackStateRecord<S> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and it has no other user any more.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<CallbackStateRecord<S>>()).state) };
    }
}

/// Reference-counted slot for the state of a walk, shared by the walk and the callback passed to a
/// hook.
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
        // SAFETY: init writes the one field after the header, which `destroy` drops; the object is
        // not visible elsewhere.
        let record = unsafe { allocate(type_index::OBJECT, 0, init)? };
        Ok(Self { record, state: PhantomData })
    }

    fn share(&self) -> Self {
        Self { record: self.record.clone(), state: PhantomData }
    }

    fn place(&self) -> &ObjectMutex<Option<S>> {
        // SAFETY: the reference keeps the record alive, which `new` made for this very type; a
        // mutex may be shared, and `S` is Send.
        unsafe { &(*self.record.as_ptr().cast::<CallbackStateRecord<S>>()).state }
    }

    fn take(&self) -> Option<S> {
        self.place().with_mut(Option::take)
    }

    fn put(&self, state: S) {
        self.place().with_mut(|place| *place = Some(state));
    }

    /// Runs `work` with the state, and returns its result. Called from the callback passed to a
    /// hook.
    ///
    /// # Errors
    /// RuntimeError if the hook has returned or the callback is already running; errors of `work`.
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

/// Calls a hook with a callback that can access `state`, and returns the hook's result. `state` is
/// restored when the hook returns.
///
/// # Errors
/// Errors of the hook; ValueError if the remaining stack is too small for another nested call (see
/// [`stack::nest`]); RuntimeError if the hook returned while its callback was running in another
/// thread; MemoryError.
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
