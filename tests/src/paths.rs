//! Paths in the checkout and of test output.

use crate::Outcome;
use std::path::{Path, PathBuf};

/// Returns the root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns the folder of the library's C headers.
pub fn include() -> PathBuf {
    root().join("include")
}

/// Returns the folder of the compiled models and their data.
pub fn aot() -> PathBuf {
    root().join("tests/programs/aot")
}

/// Returns the folder of the quick start's C sources, whose helpers the C tests share.
pub fn quickstart() -> PathBuf {
    root().join("targets/host/quickstart")
}

/// Returns the target folder of this test program (`TARGET/PROFILE/deps/PROGRAM`).
pub(crate) fn target() -> Outcome<PathBuf> {
    let exe = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let target = exe.ancestors().nth(3).map(Path::to_path_buf);
    Ok(target.ok_or_else(|| format!("{} is not in a target folder", exe.display()))?)
}

/// Returns a folder with this name for a test's output, which is kept between runs. Each test uses
/// a different name.
///
/// # Errors
/// If the folder cannot be created.
pub fn scratch(name: &str) -> Outcome<PathBuf> {
    let folder = target()?.join("c-tests").join(name);
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}
