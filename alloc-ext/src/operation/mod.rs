//! Operations: families of global functions that share one argument-checking body, which reads the
//! parameter types from tables.
//!
//! A module defines its operations as an enum that implements [`Operations`]. The fields of a
//! variant are the operands of one operation: each is an [`Operand`] with a position and a type,
//! without which an argument cannot be read. A row of the function table, created by
//! [`operation!`], names the variant, the function and the parameter types. It compiles only if the
//! types match the variant's operands.
//!
//! | file | purpose |
//! |---|---|
//! | `descriptor` | [`Operation`], what an operation is called, its types and its body |
//! | `types` | runtime descriptors of parameter and result types: argument checks, conversions, signatures |
//! | `operand` | the operands of an operation, and how bodies read them |
//! | `key` | the parameter type for lookup keys, whose comparison may run user callbacks |
//! | `fast`, `small` | dispatch: uses arguments in place where possible, or always converts them |
//!
//! Interface of `fast` and `small`, whose price `ferrite_core::names::builtins` names:
//!
//! | item | meaning |
//! |---|---|
//! | `static_operation!` | creates the static function for a row, from a constant `OPERATION` and one of `hot`, `plain`, `owning` and `hot_owning` |
//! | `Argument::to_owned` | returns an owned copy of the argument |
//! | `Argument::whole` | borrows the argument, after validating its cell unless conversion has validated it |

mod descriptor;
#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod entry;
mod key;
mod operand;
mod types;

pub(crate) use descriptor::{Operation, Operations};
pub(crate) use entry::*;
pub(crate) use key::Key;
pub(crate) use operand::{Answer, Argument, Operand, Operands, Parameter, Read, object};
#[cfg(any(test, not(feature = "speed")))]
pub(crate) use types::Type;
pub(crate) use types::{Copying, TypeOfRust, Types};
#[cfg(any(test, not(feature = "speed")))]
pub(crate) use types::{NO_ARGUMENTS, convert};

/// Creates a row of a function table: the static function for an operation.
///
/// `operation!(Variant of enum, "name", (parameter types) -> result type)`. In speed-optimised
/// builds, a `hot` operation has a specialised body. An `owning` operation owns its arguments while
/// it runs, since user callbacks or deleters may release the caller's references; `hot owning` is
/// both. Other operations do not use their arguments after a user callback has run, except for the
/// hooks of a [`Key`].
macro_rules! operation {
    (hot owning $($row:tt)*) => { $crate::operation::operation!(@ hot_owning, $($row)*) };
    (hot $($row:tt)*) => { $crate::operation::operation!(@ hot, $($row)*) };
    (owning $($row:tt)*) => { $crate::operation::operation!(@ owning, $($row)*) };
    (@ $serve:ident, $variant:ident of $operations:ty, $name:literal, ($($param:ty),*) -> $result:ty) => {{
        use $crate::operation::{Operation, TypeOfRust, Types, operands};
        const OPERATION: &Operation = {
            let types = Types::new(&[$(<$param as TypeOfRust>::TYPE),*], <$result as TypeOfRust>::TYPE);
            // SAFETY: the operands are those of the types above, in order.
            let variant = unsafe { operands!(<$operations>::$variant, $($param),*) };
            &Operation::new($name, types, variant)
        };
        $crate::operation::static_operation!($serve, $name, fn($($param),*) -> $result, ($($param,)*))
    }};
    ($($row:tt)*) => { $crate::operation::operation!(@ plain, $($row)*) };
}
pub(crate) use operation;

/// Creates an enum variant from the types of its operands, at positions from 0.
macro_rules! operands {
    ($variant:expr, $a:ty) => {
        $variant($crate::operation::Operand::<0, _>::of::<$a>())
    };
    ($variant:expr, $a:ty, $b:ty) => {
        $variant(
            $crate::operation::Operand::<0, _>::of::<$a>(),
            $crate::operation::Operand::<1, _>::of::<$b>(),
        )
    };
    ($variant:expr, $a:ty, $b:ty, $c:ty) => {
        $variant(
            $crate::operation::Operand::<0, _>::of::<$a>(),
            $crate::operation::Operand::<1, _>::of::<$b>(),
            $crate::operation::Operand::<2, _>::of::<$c>(),
        )
    };
    ($variant:expr, $a:ty, $b:ty, $c:ty, $d:ty) => {
        $variant(
            $crate::operation::Operand::<0, _>::of::<$a>(),
            $crate::operation::Operand::<1, _>::of::<$b>(),
            $crate::operation::Operand::<2, _>::of::<$c>(),
            $crate::operation::Operand::<3, _>::of::<$d>(),
        )
    };
}
pub(crate) use operands;
