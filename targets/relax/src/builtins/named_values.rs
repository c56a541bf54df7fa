//! Process-wide tables of values by name.

use ferrite_core::String;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::ObjectMutex;

/// A table of values by name, for a static. Values that leave it are dropped after its lock is
/// released, since a deleter may be a user callback.
///
/// # Threads
/// Callable from any thread.
pub(super) struct NamedValues<T>(ObjectMutex<Buffer<Entry<T>>>);

struct Entry<T> {
    name: String,
    value: T,
}

impl<T: Clone> NamedValues<T> {
    /// Creates an empty table.
    pub(super) const fn new() -> NamedValues<T> {
        NamedValues(ObjectMutex::new(Buffer::new()))
    }

    /// Returns the value of a name.
    pub(super) fn get(&self, name: &[u8]) -> Option<T> {
        let table = self.0.lock();
        table.iter().find(|entry| entry.name.as_bytes() == name).map(|entry| entry.value.clone())
    }

    /// Sets the value of a name.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn set(&self, name: String, value: T) -> Result<()> {
        self.put(name, value, true).map(drop)
    }

    /// Sets the value of a name that has none. Returns `false` if it has one.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn insert(&self, name: String, value: T) -> Result<bool> {
        self.put(name, value, false)
    }

    fn put(&self, name: String, value: T, replaces: bool) -> Result<bool> {
        let mut entry = Entry { name, value };
        let mut table = self.0.lock();
        let known = table
            .as_mut_slice()
            .iter_mut()
            .find(|known| known.name.as_bytes() == entry.name.as_bytes());
        if let Some(known) = known {
            if replaces {
                core::mem::swap(known, &mut entry);
            }
            // Before the entry.
            drop(table);
            return Ok(replaces);
        }
        let room = table.try_reserve(1);
        if room.is_ok() {
            // There is room.
            let _ = table.try_push(entry);
        }
        drop(table);
        Ok(room.map(|()| true)?)
    }

    /// Removes a name and its value, if it has one.
    pub(super) fn remove(&self, name: &[u8]) {
        let removed = {
            let mut table = self.0.lock();
            let at = table.iter().position(|entry| entry.name.as_bytes() == name);
            at.and_then(|at| table.remove(at))
        };
        drop(removed);
    }

    /// Removes all names.
    pub(super) fn clear(&self) {
        let removed = core::mem::replace(&mut *self.0.lock(), Buffer::new());
        drop(removed);
    }
}
