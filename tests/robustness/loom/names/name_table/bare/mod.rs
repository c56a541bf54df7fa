//! The name table of bare metal: the core's names and their lookup, and entries like those of the
//! core's `NameTable`.

mod lookup;
#[path = "../../../../../../core/src/names/name_table/names.rs"]
#[allow(unfulfilled_lint_expectations, reason = "the trie uses the links")]
mod names;
#[path = "../../../../../../core/src/names/name_table/trie.rs"]
mod trie;

use std::ptr::NonNull;

use names::{Name, Names};

/// A name and its value.
#[repr(C)]
pub struct Entry<V> {
    name: Name,
    value: V,
}

/// A table with entries that are never freed.
pub struct Table<V>(Names, std::marker::PhantomData<V>);

// SAFETY: entries are never changed after they are published, and the values may be shared.
unsafe impl<V: Send + Sync> Send for Table<V> {}
// SAFETY: as above.
unsafe impl<V: Send + Sync> Sync for Table<V> {}

impl<V> Table<V> {
    pub fn new() -> Self {
        Self(Names::new(), std::marker::PhantomData)
    }

    /// Borrows the value of an entry of this table.
    fn value(&self, name: NonNull<Name>) -> &V {
        // SAFETY: `insert` writes the value of each entry before it is published.
        unsafe { &name.cast::<Entry<V>>().as_ref().value }
    }

    pub fn get(&self, text: &[u8]) -> Option<&V> {
        self.0.find(text).map(|name| self.value(name))
    }

    /// Returns the value of a name, which is `value` if there was none.
    pub fn insert(&self, text: &[u8], value: V) -> &V {
        let mut value = Some(value);
        let name = self.0.find_or_insert(text, size_of::<Entry<V>>(), &mut |name| {
            if let Some(value) = value.take() {
                // SAFETY: the block has space for an entry, and is not shared yet.
                unsafe { (&raw mut (*name.cast::<Entry<V>>().as_ptr()).value).write(value) };
            }
        });
        self.value(name.unwrap())
    }

    pub fn for_each(&self, mut visit: impl FnMut(&V)) {
        self.0.for_each(|name| {
            visit(self.value(name));
            true
        });
    }
}

impl<V> Drop for Table<V> {
    fn drop(&mut self) {
        let mut name = self.0.first();
        while let Some(gone) = name {
            // SAFETY: the table is dropped; each entry is in the list once.
            name = unsafe {
                (&raw mut (*gone.cast::<Entry<V>>().as_ptr()).value).drop_in_place();
                Name::free(gone, size_of::<Entry<V>>())
            };
        }
    }
}
