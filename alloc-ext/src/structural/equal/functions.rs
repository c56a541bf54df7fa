//! The global functions on structure.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::Result;
use ferrite_core::static_function;
use ferrite_core::typed::{Callee, TypedFn};

use super::{Options, first_structural_mismatch, structural_equal, structural_hash};
use crate::containers::Tuple;
use crate::operation::{self, Param};
use crate::reflection::AccessPath;

/// The functions of this module that answer with plain values.
///
/// # Upstream
///
/// The registrations in `structural_equal.cc` and `structural_hash.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!(@ EQUAL.name, EQUAL.signature, equal),
    static_function!(@ HASH.name, HASH.signature, hash),
];

const EQUAL: &Callee<'static> = &Callee {
    name: "ffi.StructuralEqual",
    signature: <fn(Any, Any, bool, bool) -> Result<bool> as TypedFn<(Any, Any, bool, bool)>>::SIGNATURE,
};

const HASH: &Callee<'static> = &Callee {
    name: "ffi.StructuralHash",
    signature: <fn(Any, bool, bool) -> Result<i64> as TypedFn<(Any, bool, bool)>>::SIGNATURE,
};

/// The functions of this module that answer with access paths, a class that [`crate::reflection::install`] registers.
pub static PATH_FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.GetFirstStructuralMismatch", first_mismatch)];

fn equal(args: &[AnyView<'_>]) -> Result<Any> {
    call(EQUAL, &[Param::Any, Param::Any, Param::Integer, Param::Integer], args)
}

fn hash(args: &[AnyView<'_>]) -> Result<Any> {
    call(HASH, &[Param::Any, Param::Integer, Param::Integer], args)
}

/// Both functions: one or two values, and then the options.
#[inline(never)]
fn call(callee: &Callee<'_>, params: &[Param], args: &[AnyView<'_>]) -> Result<Any> {
    let owned = operation::owned(callee, params, args)?;
    let option = |from_end| {
        owned.get(params.len() - from_end).is_some_and(|value: &Any| value.view().payload_bits() != 0)
    };
    let options = Options { map_free_vars: option(2), skip_tensor_content: option(1) };
    match (params, &owned) {
        ([Param::Any, Param::Any, ..], [lhs, rhs, ..]) => structural_equal(lhs, rhs, options).map(Any::from),
        (_, [value, ..]) => structural_hash(value, options).map(|hash| Any::from(hash as i64)),
    }
}

type Paths = Tuple<(AccessPath, AccessPath)>;

fn first_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> Result<Option<Paths>> {
    let paths = first_structural_mismatch(&lhs, &rhs, Options { map_free_vars, skip_tensor_content })?;
    paths.map(Tuple::new).transpose()
}
