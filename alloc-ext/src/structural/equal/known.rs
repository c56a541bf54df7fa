//! What a walk knows of objects that it has met, in a Dict: boards have the code for those anyway, and hooks may share it.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};

use crate::containers::{Container, DictObject};

/// Where an object was met. Objects begin at even addresses above both, so that the sum with the address tells objects and
/// sides apart.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left = 0,
    Right = 1,
}

/// What counts by its number.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    /// Variables that were defined so far.
    Variables = 0,
    /// Nodes of a graph so far.
    Nodes = 1,
}

/// What is known of objects on the left side, and which objects on the right side they go with.
#[derive(Clone)]
pub(super) struct Known(DictObject);

impl Known {
    /// Nothing is known yet.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new() -> Result<Self> {
        DictObject::with_capacity(0).map(Self)
    }

    /// Puts what is known of an object where it is asked for, or the object on the left that one on the right goes with;
    /// leaves what is there when nothing is known.
    ///
    /// # Errors
    /// None: keys are numbers.
    pub(super) fn of(&self, object: &ObjectRef, side: Side, known: &mut Any) -> Result<()> {
        self.get(key(object, side), known)
    }

    /// Puts the object on the right that the one in `value` goes with in its place, if there is one.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub(super) fn to_right(&self, value: &mut Any) -> Result<()> {
        match value.as_object().map(|object| key(object, Side::Left)) {
            Some(key) => self.get(key, value),
            None => Ok(()),
        }
    }

    /// Says what is known of an object on the left, which goes with one on the right. Both are alive from now on when they
    /// are the same one, or what is known is the right one.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn set(&self, left: &ObjectRef, right: &ObjectRef, known: Any) -> Result<()> {
        self.put(key(left, Side::Left), known)?;
        self.put(key(right, Side::Right), Any::new(left.clone()))
    }

    /// The number of one more, from 0 on.
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

/// What stands for an object of a side.
fn key(object: &ObjectRef, side: Side) -> usize {
    object.as_ptr().addr() + side as usize
}
