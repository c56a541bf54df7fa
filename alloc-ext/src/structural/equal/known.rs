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
    ///
    /// MemoryError.
    pub(super) fn new() -> Result<Self> {
        DictObject::with_capacity(0).map(Self)
    }

    /// Puts what is known of an object where it is asked for, or the object on the left that one on the right goes with;
    /// leaves what is there when nothing is known.
    ///
    /// # Errors
    ///
    /// None: keys are numbers.
    pub(super) fn of(&self, object: &ObjectRef, side: Side, known: &mut Any) -> Result<()> {
        self.put_value(&key(object, side), known)
    }

    /// Puts the object on the right that the one in `value` goes with in its place, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    pub(super) fn to_right(&self, value: &mut Any) -> Result<()> {
        match value.as_object().map(|object| key(object, Side::Left)) {
            Some(key) => self.put_value(&key, value),
            None => Ok(()),
        }
    }

    fn put_value(&self, key: &Any, known: &mut Any) -> Result<()> {
        match Container::of(self.0.as_object()) {
            Some(table) => table.value_of(key, known).map(drop),
            None => Ok(()),
        }
    }

    /// Says what is known of an object on the left, which goes with one on the right. Both are alive from now on when they
    /// are the same one, or what is known is the right one.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn set(&self, left: &ObjectRef, right: &ObjectRef, known: Any) -> Result<()> {
        self.0.insert(key(left, Side::Left), known)?;
        self.0.insert(key(right, Side::Right), Any::new(left.clone()))
    }

    /// The number of one more, from 0 on.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn count(&self, what: Counted) -> Result<u64> {
        let key = Any::from(what as i64);
        let mut number = Any::from(0i64);
        self.put_value(&key, &mut number)?;
        let number = number.view().payload_bits();
        self.0.insert(key, Any::from(number as i64 + 1))?;
        Ok(number)
    }
}

fn key(object: &ObjectRef, side: Side) -> Any {
    Any::from((object.as_ptr().addr() + side as usize) as i64)
}
