//! Changes of a list where size counts: a range of elements gives way to a value, or to nothing.

use core::slice;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;

use crate::containers::ListObject;
use crate::containers::sequence::Seq;
use crate::operation::{Operands, Verb};

/// Makes the change, and answers what it takes out, if it was asked for.
///
/// # Errors
/// Those of the methods of a list.
///
/// # Safety
/// The operands are those of an operation on lists with that verb.
#[inline]
pub(super) unsafe fn change(verb: Verb, list: &ListObject, operands: Operands<'_>) -> Result<Any> {
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows; the object is a list.
    unsafe {
        let seq = Seq::of(list.as_object());
        let integer = |index| operands.integer(index);
        let mut answer = Any::NONE;
        let (range, value) = match verb {
            Verb::Append => (seq.len()..seq.len(), Some(1)),
            Verb::Insert => {
                let position = seq.insert_position(integer(1))?;
                (position..position, Some(2))
            }
            Verb::EraseRange => (seq.range(integer(1), integer(2))?, None),
            Verb::Clear => (0..seq.len(), None),
            _ => {
                let position = seq.position(integer(1))?;
                match verb {
                    Verb::SetItem => {
                        // In place, for which no memory is needed.
                        drop(seq.replace(position, operands.any(2).clone()));
                        return Ok(answer);
                    }
                    Verb::Pop => answer = seq.get(position).unwrap_or_default(),
                    _ => {}
                }
                (position..position + 1, None)
            }
        };
        let values = value.map_or(&[][..], |index| slice::from_ref(operands.any(index)));
        list.replace_by(range, values)?;
        Ok(answer)
    }
}
