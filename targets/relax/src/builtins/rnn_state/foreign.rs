//! Caches of TVM's runtime: the functions `kv_state_*` serve its paged key-value caches, too, which
//! this library does not have.

use ferrite_core::error::Result;
use ferrite_core::names::{global_table, type_table};
use ferrite_core::platform::stack;
use ferrite_core::{Any, AnyView, ObjectRef, plain_bail};

use super::record::RnnState;

/// Prefix of the type keys of TVM's caches, whose classes exist only after TVM's runtime has
/// registered its functions.
const FOREIGN: &[u8] = b"relax.vm.";

/// Calls `body` with the states in the first argument and the other arguments; or, for a cache of
/// TVM's, the global function of this name.
///
/// # Errors
/// TypeError for any other value; errors of the function.
pub(super) fn or_forward(
    name: &'static str,
    args: &[AnyView<'_>],
    body: fn(&RnnState, &[AnyView<'_>]) -> Result<Any>,
) -> Result<Any> {
    let Some((first, rest)) = args.split_first() else {
        plain_bail!(TYPE_ERROR, "`{}` takes one or more arguments, but got none", name);
    };
    if let Some(object) = first.try_get::<ObjectRef>()? {
        if let Some(state) = object.as_class::<RnnState>() {
            return body(state, rest);
        }
        if type_table::type_key_of(object.type_index()).starts_with(FOREIGN)
            && let Some(function) = global_table::get(name.as_bytes())?
        {
            return stack::nest(|| function.call_packed(args));
        }
    }
    Err(first
        .get::<RnnState>()
        .err()
        .unwrap_or_else(|| ferrite_core::plain_error!(TYPE_ERROR, "No state")))
}
