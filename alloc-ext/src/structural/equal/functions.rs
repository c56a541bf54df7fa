//! Global functions for structural equality and hash.

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::static_function;
use ferrite_core::value::any::Any;

use super::{Options, first_structural_mismatch, walks};
use crate::containers::Tuple;
use crate::operation::{Answer, Operand, Operands, Operations, operation};
use crate::reflection::AccessPath;

/// Static function table of this module, without the functions that return access paths.
///
/// # Upstream
/// The registrations in `structural_equal.cc` and `structural_hash.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    operation!(Equal of Structure, "ffi.StructuralEqual", (Any, Any, bool, bool) -> bool),
    operation!(Hash of Structure, "ffi.StructuralHash", (Any, bool, bool) -> i64),
];

/// Static table of the functions that return access paths. Separate, because
/// [`crate::reflection::install`] must have registered the class.
pub static PATH_FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.GetFirstStructuralMismatch", first_mismatch)];

/// The operations, with their operands: the values, and the flags `map_free_vars` and
/// `skip_tensor_content`.
#[derive(Clone, Copy)]
enum Structure {
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

type Paths = Tuple<(AccessPath, AccessPath)>;

fn first_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> Result<Option<Paths>> {
    let paths =
        first_structural_mismatch(&lhs, &rhs, Options { map_free_vars, skip_tensor_content })?;
    paths.map(Tuple::new).transpose()
}
