//! The object class of the states of a recurrent model.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{ObjectRecord, allocate};
use ferrite_core::object_class;
use ferrite_core::platform::sync::ObjectMutex;

use super::sequences::Sequences;
use super::storage::Storage;
use crate::class::Class;

static CLASS: Class = Class::new("ferrite.relax.RnnState");

object_class! {
    /// Reference to the states of a recurrent model.
    ///
    /// # Threads
    /// Callable from any thread, but a step belongs to one.
    ///
    /// # Upstream
    /// `RNNStateImpObj` of `src/runtime/vm/rnn_state.cc`. The class is another one, so each runtime
    /// refuses the states of the other.
    pub(in super::super) struct RnnState, CLASS.index(), "ferrite.relax.RnnState"
}

struct RnnContent {
    storage: Storage,
    sequences: ObjectMutex<Sequences>,
}

#[repr(C)]
struct RnnRecord {
    header: TVMFFIObject,
    content: ManuallyDrop<RnnContent>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for RnnRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<RnnRecord>()).content) };
    }
}

impl RnnState {
    /// Creates states without sequences.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; MemoryError.
    pub(super) fn new(storage: Storage) -> Result<RnnState> {
        let index = CLASS.register()?;
        let sequences = ObjectMutex::new(storage.no_sequences()?);
        let mut content = Some(RnnContent { storage, sequences });
        let init = |record: *mut RnnRecord| {
            if let Some(content) = content.take() {
                // SAFETY: the record has room for the content.
                unsafe { (&raw mut (*record).content).write(ManuallyDrop::new(content)) };
            }
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        unsafe { Ok(RnnState::from_object_unchecked(allocate(index, 0, init)?)) }
    }

    fn content(&self) -> &RnnContent {
        // SAFETY: the object is of this class, whose content stays while it lives.
        unsafe { &(*self.as_object().as_ptr().cast::<RnnRecord>()).content }
    }

    /// Returns the storage of the values.
    pub(super) fn storage(&self) -> &Storage {
        &self.content().storage
    }

    /// Calls `body` with the sequences, locked. Returns its result.
    pub(super) fn with_sequences<R>(&self, body: impl FnOnce(&mut Sequences) -> R) -> R {
        self.content().sequences.with_mut(body)
    }
}
