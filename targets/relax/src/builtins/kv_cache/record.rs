//! The attention cache object.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{ObjectRecord, allocate};
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::{Tensor, object_class};

use crate::class::Class;

static CLASS: Class = Class::new("relax.vm.AttentionKVCacheLegacy");

object_class! {
    /// Reference to an attention cache.
    ///
    /// # Threads
    /// Callable from any thread. Of concurrent changes, the last one wins.
    ///
    /// # Upstream
    /// `AttentionKVCacheLegacy` of `src/runtime/vm/lm_support.cc`, with the same memory layout:
    /// each runtime accepts the caches of the other.
    pub(super) struct Cache, CLASS.index(), "relax.vm.AttentionKVCacheLegacy"
}

/// Content of an attention cache.
#[repr(C)]
pub(super) struct State {
    /// Tensor of all rows: compact, with unused rows as spare capacity.
    pub(super) data: Tensor,
    /// Number of rows in use.
    pub(super) filled: i64,
    /// Row that a window writes next.
    pub(super) position: i64,
}

#[repr(C)]
struct CacheRecord {
    header: TVMFFIObject,
    state: ManuallyDrop<State>,
    /// Zero-sized on hosts, where the cache has the layout of TVM's, which has no lock.
    lock: ObjectMutex<()>,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(CacheRecord, state) == 24);
    assert!(
        offset_of!(State, data) == 0
            && offset_of!(State, filled) == 8
            && offset_of!(State, position) == 16
    );
};

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for CacheRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<CacheRecord>()).state) };
    }
}

impl Cache {
    /// Creates a cache.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; MemoryError.
    pub(super) fn new(state: State) -> Result<Cache> {
        let index = CLASS.register()?;
        // SAFETY: the record has room for its fields.
        let init = move |record: *mut CacheRecord| unsafe {
            (&raw mut (*record).lock).write(ObjectMutex::new(()));
            (&raw mut (*record).state).write(ManuallyDrop::new(state));
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        unsafe {
            let object = allocate(index, 0, init)?;
            Ok(Cache::from_object_unchecked(object))
        }
    }

    /// Returns a copy of the content.
    pub(super) fn state(&self) -> State {
        // SAFETY: the object is a cache, of this library or of TVM's; the lock keeps changes out.
        unsafe {
            let record = self.record();
            (*record).lock.with_mut(|()| {
                let State { data, filled, position } = &*(*record).state;
                State { data: data.clone(), filled: *filled, position: *position }
            })
        }
    }

    /// Replaces the content.
    pub(super) fn set(&self, state: State) {
        // SAFETY: as for `state`.
        let old = unsafe {
            let record = self.record();
            let state = ManuallyDrop::new(state);
            (*record).lock.with_mut(|()| (&raw mut (*record).state).replace(state))
        };
        // After the lock, since a deleter may be a user callback.
        drop(ManuallyDrop::into_inner(old));
    }

    fn record(&self) -> *mut CacheRecord {
        self.as_object().as_ptr().cast()
    }
}
