//! Bindings of type indices to classes: within one binary, a type key belongs to one Rust class.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::abi::TVMFFIObject;
#[cfg(not(feature = "client"))]
use crate::abi::TVMFFITypeInfo;
use crate::error::{Error, Result};
use crate::names::type_table;
#[cfg(not(feature = "client"))]
use crate::names::type_table::TypeEntry;
use crate::plain_error;
use crate::platform::sync::atomic::{AtomicI32, AtomicPtr};
use crate::platform::sync::critical;

use super::elsewhere;
#[cfg(not(feature = "client"))]
use super::register::MUTABLE;
use super::register::is_of_rust;

/// Index of a class that is not bound. No object has this type index.
pub(super) const UNREGISTERED: i32 = -2;

/// The type index of a class that this binary defines, or none. Bindings are in a list, which only
/// grows.
pub struct KeyBinding {
    index: AtomicI32,
    /// The binding that was listed before; this binding itself if it is the first. Null before it
    /// is listed.
    next: AtomicPtr<KeyBinding>,
}

/// The binding that was listed last. Changes in critical sections.
static LAST: AtomicPtr<KeyBinding> = AtomicPtr::new(ptr::null_mut());

impl KeyBinding {
    /// Creates a binding to no index.
    pub const fn new() -> KeyBinding {
        KeyBinding { index: AtomicI32::new(UNREGISTERED), next: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the type index, or a sentinel that no object has.
    #[inline]
    pub fn index(&self) -> i32 {
        self.index.load(Ordering::Acquire)
    }

    /// Binds the class to the index of its key. Allocates nothing.
    ///
    /// # Errors
    /// TypeError if another class of this binary is bound to the index.
    pub fn bind(&'static self, index: i32, key: &[u8]) -> Result<()> {
        let is_free = critical(|| {
            let is_free = !find(|other| other.index() == index && !ptr::eq(other, self));
            if is_free {
                self.list();
                self.index.store(index, Ordering::Release);
            }
            is_free
        });
        if is_free { Ok(()) } else { Err(belongs_to_another(key)) }
    }

    /// Binds a class whose objects only the library creates, and which has no
    /// [`Class`](super::Class), to the index of its key.
    ///
    /// # Errors
    /// TypeError if a class in Rust, of this binary or of another one, has the key.
    pub fn bind_reserved(&'static self, index: i32, key: &[u8]) -> Result<()> {
        let is_empty =
            type_table::members(index).total_size == Some(size_of::<TVMFFIObject>() as i32);
        if is_empty || type_table::fields(index).iter().any(is_of_rust) {
            return Err(belongs_to_another(key));
        }
        self.bind(index, key)
    }

    /// Binds a class as [`bind_reserved`](Self::bind_reserved) does, when its first object is
    /// created. Another library may have declared the key before, and may have created
    /// zero-initialised objects of the type.
    ///
    /// # Errors
    /// TypeError if another library creates objects of the type; MemoryError.
    pub fn bind_on_first_use(&'static self, index: i32, key: &[u8]) -> Result<()> {
        self.bind_reserved(index, key)?;
        match elsewhere::claim_for_library(index) {
            Ok(true) => Ok(()),
            outcome => {
                self.unbind();
                outcome.and(Err(belongs_to_another(key)))
            }
        }
    }

    /// Adds the binding to the list unless it is there. The caller is in a critical section.
    fn list(&'static self) {
        if self.next.load(Ordering::Relaxed).is_null() {
            let this = ptr::from_ref(self).cast_mut();
            let last = LAST.load(Ordering::Relaxed);
            self.next.store(if last.is_null() { this } else { last }, Ordering::Relaxed);
            LAST.store(this, Ordering::Release);
        }
    }

    /// Ends the binding of a class that did not register, so that another class may have the key.
    pub(super) fn unbind(&self) {
        self.index.store(UNREGISTERED, Ordering::Release);
    }
}

impl Default for KeyBinding {
    fn default() -> Self {
        Self::new()
    }
}

#[cold]
pub(super) fn belongs_to_another(key: &[u8]) -> Error {
    plain_error!(
        TYPE_ERROR,
        "The type key `{}` belongs to another class of this program or library",
        key;
        "another class is `{}`",
        key
    )
}

/// Returns `true` if a class of this binary other than `except` is bound to the type index.
pub fn is_bound(index: i32, except: Option<&KeyBinding>) -> bool {
    critical(|| {
        find(|other| other.index() == index && !except.is_some_and(|except| ptr::eq(except, other)))
    })
}

/// Returns `true` if a Rust class of this binary is bound to the type, or if a Rust class of any
/// binary registered one of its fields. A class of another binary that declares no field is not
/// recognised; its content is valid as zeros, or it is final.
pub fn is_defined_in_rust(index: i32) -> bool {
    is_bound(index, None) || type_table::fields(index).iter().any(is_of_rust)
}

/// Returns `true` if Rust code reads fields of objects of the type without a borrow. The type is an
/// immutable class in Rust, or a class of the library or of another language to which a class of
/// this binary is bound. Such fields are set only while no other code can reach the object.
#[cfg(not(feature = "client"))]
pub fn is_frozen(entry: &TypeEntry) -> bool {
    let is_read = |index: i32| {
        type_table::fields(index).iter().any(|field| field.flags & MUTABLE == 0)
            && is_defined_in_rust(index)
    };
    // SAFETY: ancestors are registered types, whose records are never freed.
    let is_inherited =
        |ancestor: &*const TVMFFITypeInfo| is_read(unsafe { (**ancestor).type_index });
    entry.ancestors().iter().any(is_inherited) || is_read(entry.type_index())
}

/// Returns `true` if `is_it` accepts a binding in the list. The caller must be in a critical
/// section.
fn find(is_it: impl Fn(&'static KeyBinding) -> bool) -> bool {
    let mut at: *const KeyBinding = LAST.load(Ordering::Acquire);
    // SAFETY: null or the address of a binding, which is borrowed forever where it is listed.
    while let Some(binding) = unsafe { at.as_ref() } {
        if is_it(binding) {
            return true;
        }
        let next = binding.next.load(Ordering::Relaxed);
        at = if ptr::eq(next, at) { ptr::null() } else { next };
    }
    false
}
