//! The object class of paged key-value caches.

use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::borrow::Exclusive;
use ferrite_core::object::object_alloc::{ObjectRecord, allocate};
use ferrite_core::object_class;

use super::cache::Cache;
use crate::class::Class;

static STATE: Class = Class::new("ferrite.relax.KVState");
static ATTENTION: Class = Class::derived("ferrite.relax.AttentionKVCache", &STATE);
static CLASS: Class = Class::derived("ferrite.relax.PagedAttentionKVCache", &ATTENTION);

object_class! {
    /// Reference to a paged key-value cache.
    ///
    /// # Threads
    /// Callable from any thread, one call at a time: a call during another one is a RuntimeError.
    ///
    /// # Upstream
    /// `PagedAttentionKVCacheObj` of `src/runtime/vm/paged_kv_cache.cc`. The class is another one,
    /// so each runtime refuses the caches of the other.
    pub(in super::super) struct PagedCache, CLASS.index(), "ferrite.relax.PagedAttentionKVCache"
}

#[repr(C)]
struct CacheRecord {
    header: TVMFFIObject,
    content: ManuallyDrop<UnsafeCell<Cache>>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for CacheRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<CacheRecord>()).content) };
    }
}

impl PagedCache {
    /// Creates the object of a cache.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; MemoryError.
    pub(super) fn new(cache: Cache) -> Result<PagedCache> {
        let index = CLASS.register()?;
        let mut content = Some(UnsafeCell::new(cache));
        let init = |record: *mut CacheRecord| {
            if let Some(content) = content.take() {
                // SAFETY: the record has room for the content.
                unsafe { (&raw mut (*record).content).write(ManuallyDrop::new(content)) };
            }
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        unsafe { Ok(PagedCache::from_object_unchecked(allocate(index, 0, init)?)) }
    }

    /// Calls `body` with the cache, which no other call uses meanwhile. Returns its result.
    ///
    /// # Errors
    /// RuntimeError during another call, also if that one calls a function which calls this one;
    /// errors of `body`.
    #[inline]
    pub(super) fn with<R>(&self, body: impl FnOnce(&mut Cache) -> Result<R>) -> Result<R> {
        let _guard = Exclusive::of(self.as_object())?;
        // SAFETY: the object is of this class, whose content stays while it lives, and is borrowed
        // exclusively.
        body(unsafe { &mut *(*self.as_object().as_ptr().cast::<CacheRecord>()).content.get() })
    }
}
