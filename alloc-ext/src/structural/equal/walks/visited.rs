//! State of visited objects, stored in a Dict: size-optimised builds contain its code anyway, and
//! nested walks can share it.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::Any;

use crate::containers::{Container, DictObject};

/// Side of a comparison on which an object occurs. A Dict key is the sum of address and side, which
/// is unique because addresses are even and larger than 1.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left = 0,
    Right = 1,
}

/// Counters of the objects that are hashed by sequence number. The values are Dict keys.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    /// Number of variables defined so far.
    Variables = 0,
    /// Number of graph nodes visited so far.
    Nodes = 1,
}

/// State of visited left objects, the left counterparts of right objects, and the counters. Clones
/// share one Dict.
#[derive(Clone)]
pub(super) struct VisitedObjects(DictObject);

impl VisitedObjects {
    /// Creates an empty state.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new() -> Result<Self> {
        DictObject::with_capacity(0).map(Self)
    }

    /// Copies the state of a left object, or the left counterpart of a right object, to `known`.
    /// Leaves `known` unchanged for an unknown object.
    ///
    /// # Errors
    /// None: keys are numbers.
    pub(super) fn of(&self, object: &ObjectRef, side: Side, known: &mut Any) -> Result<()> {
        self.get(key(object, side), known)
    }

    /// Replaces a left object in `value` by its right counterpart, if it has one.
    ///
    /// # Errors
    /// None: keys are numbers.
    pub(super) fn to_right(&self, value: &mut Any) -> Result<()> {
        match value.as_object().map(|object| key(object, Side::Left)) {
            Some(key) => self.get(key, value),
            None => Ok(()),
        }
    }

    /// Sets the state of a left object and its right counterpart. Keeps both alive if they are the
    /// same object, or if the state is the right object.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn set(&self, left: &ObjectRef, right: &ObjectRef, known: Any) -> Result<()> {
        self.put(key(left, Side::Left), known)?;
        self.put(key(right, Side::Right), Any::new(left.clone()))
    }

    /// Returns the value of a counter and increments it. Counters start at 0.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn count(&self, what: Counted) -> Result<u64> {
        let mut number = Any::from(0i64);
        self.get(what as usize, &mut number)?;
        let number = number.view().payload_bits();
        self.put(what as usize, Any::from(number as i64 + 1))?;
        Ok(number)
    }

    #[inline(never)]
    fn get(&self, key: usize, known: &mut Any) -> Result<()> {
        match Container::of(self.0.as_object()) {
            Some(table) => table.value_of(&Any::from(key as i64), known).map(drop),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn put(&self, key: usize, known: Any) -> Result<()> {
        self.0.insert(Any::from(key as i64), known)
    }
}

/// Returns the Dict key for an object on a side.
fn key(object: &ObjectRef, side: Side) -> usize {
    object.as_ptr().addr() + side as usize
}
