//! Changes of a list where speed counts: each verb has its own way.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::fresh;

use crate::containers::ListObject;
use crate::operation::{Operands, Verb};

/// Makes the change, and answers what it takes out, if it was asked for.
///
/// # Errors
/// Those of the methods of a list.
///
/// # Safety
/// The operands are those of an operation on lists with that verb.
#[inline(always)]
pub(super) unsafe fn change(verb: Verb, list: &ListObject, operands: Operands<'_>) -> Result<Any> {
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows.
    unsafe {
        let integer = |index| operands.integer(index);
        let own = |index| fresh::view(operands.value(index)).to_owned();
        match verb {
            Verb::Pop => return list.remove(integer(1)),
            Verb::SetItem => list.set(integer(1), own(2)?)?,
            Verb::Append => list.push(own(1)?)?,
            Verb::Insert => list.insert(integer(1), own(2)?)?,
            Verb::Erase => drop(list.remove(integer(1))?),
            Verb::EraseRange => list.remove_range(integer(1), integer(2))?,
            Verb::Clear => list.clear(),
            _ => {}
        }
    }
    Ok(Any::NONE)
}
