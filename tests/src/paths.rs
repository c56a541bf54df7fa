//! The folders of the checkout, and one for what tests make.

use crate::Outcome;
use std::path::{Path, PathBuf};

/// The top of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The C headers of the library.
pub fn include() -> PathBuf {
    root().join("include")
}

/// The compiled models and their data.
pub fn aot() -> PathBuf {
    root().join("tests/programs/aot")
}

/// The C sources of the quick start, whose helpers the C tests share.
pub fn quickstart() -> PathBuf {
    root().join("targets/host/quickstart")
}

/// The target folder that this test program lies in (`TARGET/PROFILE/deps/PROGRAM`).
pub(crate) fn target() -> Outcome<PathBuf> {
    let exe = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let target = exe.ancestors().nth(3).map(Path::to_path_buf);
    Ok(target.ok_or_else(|| format!("{} is not in a target folder", exe.display()))?)
}

/// A folder of this name for what a test makes, kept from run to run; each test takes a name of its own.
///
/// # Errors
/// When the folder cannot be made.
pub fn scratch(name: &str) -> Outcome<PathBuf> {
    let folder = target()?.join("c-tests").join(name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}
