//! Modules for executables (`relax.VMExecutable`) and machines (`relax.VirtualMachine`).
//!
//! | file | content |
//! |---|---|
//! | `executable` | modules of executables, and their loaders |
//! | `machine` | modules of machines |
//! | `builtins` | module of the builtins, which libraries of native functions import |
//! | `held` | references to a module's implementation that keep the module alive |
//! | `file` | reading and writing files |

mod builtins;
mod executable;
#[cfg(feature = "std")]
mod file;
mod held;
mod machine;

pub use builtins::builtins_module;
#[cfg(feature = "std")]
pub use executable::load_from_file;
pub use executable::{load, load_from_bytes, model};
#[cfg(feature = "std")]
pub(crate) use file::{path, read as read_file};
pub(crate) use machine::resolve;

use ferrite_core::AnyView;
use ferrite_core::error::Result;
use ferrite_core::plain_error;

/// Returns an argument of a method.
fn argument<'a, 'b>(args: &'a [AnyView<'b>], index: usize) -> Result<&'a AnyView<'b>> {
    args.get(index).ok_or_else(|| {
        plain_error!(
            TYPE_ERROR,
            "Mismatched number of arguments: expected more than {} but got {}",
            index,
            args.len()
        )
    })
}

/// Returns a string argument of a method.
fn text<'a>(args: &'a [AnyView<'_>], index: usize) -> Result<&'a [u8]> {
    let arg = argument(args, index)?;
    match arg.bytes_of_string() {
        Some(text) => Ok(text),
        None => Err(plain_error!(
            TYPE_ERROR,
            "Mismatched type on argument #{}. Expected `str` but got `{}`",
            index,
            ferrite_core::names::type_table::type_key_of(arg.type_index())
        )),
    }
}
