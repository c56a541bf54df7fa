//! What a walk knows of objects that it has met, in a Dict, since boards have the code for those anyway.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use crate::containers::DictObject;

/// Where an object was met. Objects begin at even addresses, so that the sum with the address tells objects and sides apart.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left = 0,
    Right = 1,
}

/// What is known of objects on the left side, and which objects on the right side they go with.
#[derive(Default)]
pub(super) struct Known(Option<DictObject>);

impl Known {
    /// What is known of an object, or the object on the left that one on the right goes with.
    pub(super) fn of(&self, object: &ObjectRef, side: Side) -> Result<Option<Any>> {
        match &self.0 {
            Some(known) => known.get(key(object, side).view()),
            None => Ok(None),
        }
    }

    /// What is known of a value on the left, if it is an object.
    pub(super) fn of_left(&self, value: &Any) -> Result<Option<Any>> {
        match value.as_object() {
            Some(object) => self.of(object, Side::Left),
            None => Ok(None),
        }
    }

    /// Says what is known of an object on the left, which goes with one on the right. Both are alive from now on when they
    /// are the same one, or what is known is the right one.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn set(&mut self, left: &ObjectRef, right: &ObjectRef, known: Any) -> Result<()> {
        let dict = match &mut self.0 {
            Some(dict) => dict,
            none => none.insert(DictObject::with_capacity(0)?),
        };
        dict.insert(key(left, Side::Left), known)?;
        dict.insert(key(right, Side::Right), Any::new(left.clone()))
    }
}

fn key(object: &ObjectRef, side: Side) -> Any {
    Any::from((object.as_ptr().addr() + side as usize) as i64)
}
