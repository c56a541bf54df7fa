//! The choice of the upstream release to imitate. The Python package announces its release before
//! it uses types.

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::global_table;
use ferrite_core::platform::upstream_release::{self, UpstreamRelease};
use ferrite_core::{plain_ensure, plain_error, static_function};

use super::registration::CLASSES;
use super::releases::FUNCTIONS_OF_0_1_10;

/// Static function table of this module: the function by which a client announces its release,
/// which upstream does not have.
pub static FUNCTIONS: &[StaticFunction] = &[static_function!("ffi.ferrite.ServeRelease", serve)];

/// Implements `ffi.ferrite.ServeRelease`: selects the upstream release to imitate.
///
/// # Errors
/// ValueError for an invalid release number; RuntimeError if types have already been registered as
/// in another release; MemoryError.
fn serve(major: i64, minor: i64, patch: i64) -> Result<()> {
    let number = |number: i64| {
        u8::try_from(number).map_err(|_| {
            plain_error!(VALUE_ERROR, "There is no release with the number {}", &number)
        })
    };
    let release = UpstreamRelease::new(number(major)?, number(minor)?, number(patch)?);
    if upstream_release::served() == release {
        return Ok(());
    }
    plain_ensure!(
        !CLASSES.iter().any(|class| class.index() >= 0),
        RUNTIME_ERROR,
        "The library's types are registered already: choose the release before types are used"
    );
    let before = upstream_release::served();
    upstream_release::serve(release);
    let is_0_1_10 = release == UpstreamRelease::new(0, 1, 10);
    let functions: &[StaticFunction] = if is_0_1_10 { &FUNCTIONS_OF_0_1_10 } else { &[] };
    functions
        .iter()
        .try_for_each(register_function)
        .inspect_err(|_| upstream_release::serve(before))
}

fn register_function(function: &StaticFunction) -> Result<()> {
    let (object, metadata) = (function.to_function()?, function.metadata()?);
    global_table::set_with_docs(function.name().as_bytes(), &object, b"", metadata.as_bytes(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_chosen_before_types_are_registered() -> Result<()> {
        crate::reflection::install()?;
        assert_eq!(serve(0, 1, 9).unwrap_err().kind_bytes(), b"RuntimeError");
        assert_eq!(serve(0, 1, 256).unwrap_err().kind_bytes(), b"ValueError");
        assert_eq!(serve(0, -1, 9).unwrap_err().kind_bytes(), b"ValueError");
        Ok(())
    }
}
