//! Locations of sources and build results.

use crate::step::Outcome;
use std::path::{Path, PathBuf};

/// Locations in a checkout of this project.
pub struct Layout {
    root: PathBuf,
    target: PathBuf,
}

/// Folder of this package in the checkout.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

impl Layout {
    /// Finds the checkout and the target folder in which this program was built.
    pub fn find() -> Outcome<Self> {
        // Cargo sets the variable when it runs the program; otherwise the path from the build
        // applies.
        let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(CRATE.into());
        let root = PathBuf::from(crate_dir).join("../../..");
        let root = root.canonicalize().map_err(|error| missing(&root, &error.to_string()))?;
        let exe = std::env::current_exe()
            .map_err(|error| format!("cannot tell where this program is: {error}"))?;
        let target = exe.ancestors().nth(2).map(Path::to_path_buf);
        let target = target
            .ok_or("this program is not in a target folder: start it with `cargo run --release`")?;
        let layout = Self { root, target };
        layout.require(&layout.include().join("tvm/ffi/c_api.h"))?;
        Ok(layout)
    }

    /// Replaces the target folder by a subfolder of it.
    pub fn within(self, folder: &str) -> Self {
        Self { target: self.target.join(folder), ..self }
    }

    /// Returns the root of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns cargo's target folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the folder of the built library.
    pub fn library_dir(&self) -> PathBuf {
        self.target.join("release")
    }

    /// Returns the folder of the quick start's build results; creates it if necessary.
    pub fn output(&self) -> Outcome<PathBuf> {
        let output = self.target.join("quickstart");
        std::fs::create_dir_all(&output)
            .map_err(|error| format!("cannot make {}: {error}", output.display()))?;
        Ok(output)
    }

    /// Returns the folder of the C headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// Returns the folder of the compiled models, with a subfolder per model.
    pub fn models(&self) -> PathBuf {
        self.root.join("tests/programs/aot")
    }

    /// Returns the path of a model's C source.
    pub fn model(&self, name: &str) -> PathBuf {
        self.models().join(name).join(format!("{name}.c"))
    }

    /// Returns the path of one of the quick start's files.
    pub fn quickstart(&self, name: &str) -> PathBuf {
        self.root.join("targets/host/quickstart").join(name)
    }

    /// Checks that a file exists. Otherwise returns an error with its name.
    pub fn require(&self, file: &Path) -> Outcome<()> {
        if file.is_file() { Ok(()) } else { Err(missing(file, "no such file")) }
    }
}

fn missing(path: &Path, why: &str) -> String {
    format!("cannot find {} ({why}): the quick start runs from a complete checkout", path.display())
}
