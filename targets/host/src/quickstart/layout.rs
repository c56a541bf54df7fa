//! Where the sources are, and where what is built goes.

use super::Outcome;
use std::path::{Path, PathBuf};

/// The folders of one checkout.
pub struct Layout {
    root: PathBuf,
    target: PathBuf,
}

impl Layout {
    /// The checkout that this program was built from, and the target folder that it lies in.
    pub fn find() -> Outcome<Self> {
        // Cargo sets the variable for what it runs; a program that is started by hand looks where it was built.
        let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
        let root = PathBuf::from(crate_dir).join("..").join("..");
        let root = root.canonicalize().map_err(|error| missing(&root, &error.to_string()))?;
        let exe =
            std::env::current_exe().map_err(|error| format!("cannot tell where this program is: {error}"))?;
        let target = exe.ancestors().nth(2).map(Path::to_path_buf);
        let target =
            target.ok_or("this program is not in a target folder: start it with `cargo run --release`")?;
        let layout = Self { root, target };
        layout.require(&layout.include().join("tvm/ffi/c_api.h"))?;
        Ok(layout)
    }

    /// The same checkout, with what is built in a folder of the target folder.
    pub fn within(self, folder: &str) -> Self {
        Self { target: self.target.join(folder), ..self }
    }

    /// The top of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The target folder of cargo.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where cargo puts the built library.
    pub fn library_dir(&self) -> PathBuf {
        self.target.join("release")
    }

    /// Where the quick start puts what it compiles; made when it is not there.
    pub fn output(&self) -> Outcome<PathBuf> {
        let output = self.target.join("quickstart");
        std::fs::create_dir_all(&output)
            .map_err(|error| format!("cannot make {}: {error}", output.display()))?;
        Ok(output)
    }

    /// The C headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The compiled models, each in a folder with its data.
    pub fn models(&self) -> PathBuf {
        self.root.join("tests/aot")
    }

    /// The C source of one model.
    pub fn model(&self, name: &str) -> PathBuf {
        self.models().join(name).join(format!("{name}.c"))
    }

    /// One of the quick start's own files.
    pub fn quickstart(&self, name: &str) -> PathBuf {
        self.root.join("targets/host/quickstart").join(name)
    }

    /// An error that names the file when it is not there.
    pub fn require(&self, file: &Path) -> Outcome<()> {
        if file.is_file() { Ok(()) } else { Err(missing(file, "no such file")) }
    }
}

fn missing(path: &Path, why: &str) -> String {
    format!("cannot find {} ({why}): the quick start runs from a complete checkout", path.display())
}
