//! Implementations of the global functions for structural equality and hash.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::{Options, walks};
use crate::operation::{Answer, Operand, Operands, Operations};

/// The operations, with their operands: the values, and the flags `map_free_vars` and
/// `skip_tensor_content`.
#[derive(Clone, Copy)]
pub(super) enum Structure {
    Equal(Operand<0, Any>, Operand<1, Any>, Operand<2, bool>, Operand<3, bool>),
    Hash(Operand<0, Any>, Operand<1, bool>, Operand<2, bool>),
}

impl Operations for Structure {
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
        let options =
            |map_free_vars, skip_tensor_content| Options { map_free_vars, skip_tensor_content };
        answer.write(match self {
            Structure::Equal(lhs, rhs, map, skip) => {
                let options = options(operands.get(map), operands.get(skip));
                Any::from(walks::equal(
                    operands.get(lhs).whole()?,
                    operands.get(rhs).whole()?,
                    options,
                )?)
            }
            Structure::Hash(value, map, skip) => {
                let options = options(operands.get(map), operands.get(skip));
                Any::from(walks::hash(operands.get(value).whole()?, options)? as i64)
            }
        });
        Ok(())
    }
}
