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
pub(super) struct NamedValues<T>(ObjectMutex<Buffer<NamedValue<T>>>);

struct NamedValue<T> {
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
        self.0.with_mut(|table| {
            table
                .iter()
                .find(|entry| entry.name.as_bytes() == name)
                .map(|entry| entry.value.clone())
        })
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
        let mut entry = Some(NamedValue { name, value });
        // An entry that stays here is dropped after unlocking.
        let put = self.0.with_mut(|table| {
            let Some(new) = &mut entry else { return Ok(false) };
            let known = table
                .as_mut_slice()
                .iter_mut()
                .find(|known| known.name.as_bytes() == new.name.as_bytes());
            if let Some(known) = known {
                if replaces {
                    core::mem::swap(known, new);
                }
                return Ok(replaces);
            }
            table.try_reserve(1)?;
            entry.take().map_or(Ok(()), |entry| table.try_push(entry)).map(|()| true)
        });
        Ok(put?)
    }

    /// Removes a name and its value, if it has one.
    pub(super) fn remove(&self, name: &[u8]) {
        let removed = self.0.with_mut(|table| {
            let at = table.iter().position(|entry| entry.name.as_bytes() == name);
            at.and_then(|at| table.remove(at))
        });
        drop(removed);
    }

    /// Removes all names.
    pub(super) fn clear(&self) {
        let removed = self.0.with_mut(|table| core::mem::replace(table, Buffer::new()));
        drop(removed);
    }
}
