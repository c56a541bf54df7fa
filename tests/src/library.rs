//! The library under test: built once per test program, or taken from the folder
//! `FERRITE_LIBRARY_DIR`.

use crate::{Outcome, output_of, paths};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

static BUILT: OnceLock<Outcome<Library>> = OnceLock::new();
static BUILT_WITH_CXX: OnceLock<Outcome<Library>> = OnceLock::new();
static BUILT_WITH_GPU: OnceLock<Outcome<Library>> = OnceLock::new();
static BUILT_WITH_LEGACY: OnceLock<Outcome<Library>> = OnceLock::new();
static BUILT_WITH_LEGACY_AND_GPU: OnceLock<Outcome<Library>> = OnceLock::new();
static BUILT_WITH_RPC: OnceLock<Outcome<Library>> = OnceLock::new();
static BUILT_WITH_WEBGPU: OnceLock<Outcome<Library>> = OnceLock::new();

/// A folder with `libtvm_ffi`, shared and static.
#[derive(Debug, Clone)]
pub struct Library {
    folder: PathBuf,
}

impl Library {
    /// Returns the library with the functions for compiled models, built in the release profile, as
    /// users build it.
    ///
    /// # Errors
    /// If it does not build.
    pub fn get() -> Outcome<&'static Self> {
        BUILT.get_or_init(|| Self::make(Self::build, "")).as_ref().map_err(Clone::clone)
    }

    /// Returns the library with the symbols for C++ clients, as released, built in a folder of its
    /// own.
    ///
    /// # Errors
    /// If it does not build.
    pub fn with_cxx() -> Outcome<&'static Self> {
        let made = BUILT_WITH_CXX.get_or_init(|| Self::make(Self::build_with_cxx, "cxx-abi"));
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the library with the back ends under test, built in a folder of its own.
    ///
    /// # Errors
    /// If it does not build.
    pub fn with_gpu() -> Outcome<&'static Self> {
        let made = BUILT_WITH_GPU.get_or_init(|| Self::make(Self::build_with_gpu, "gpu"));
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the library with the packed-function API of earlier releases, built in a folder of
    /// its own.
    ///
    /// # Errors
    /// If it does not build.
    pub fn with_legacy() -> Outcome<&'static Self> {
        let made = BUILT_WITH_LEGACY.get_or_init(|| Self::make(Self::build_with_legacy, "legacy"));
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the library with the API of TVM 0.5 to 0.20 and with device back ends, built in a
    /// folder of its own.
    ///
    /// # Errors
    /// If it does not build.
    pub fn with_legacy_and_gpu() -> Outcome<&'static Self> {
        let made = BUILT_WITH_LEGACY_AND_GPU.get_or_init(|| {
            Self::make(|target| Self::build_features("legacy,opencl,cuda", target), "legacy-gpu")
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the library with clients of remote calls, built in a folder of its own.
    ///
    /// # Errors
    /// If it does not build.
    pub fn with_rpc() -> Outcome<&'static Self> {
        let made =
            BUILT_WITH_RPC.get_or_init(|| Self::make_of(Self::build_with_rpc, "rpc", "debug"));
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the library with WebGPU and the symbols for C++ clients, built in a folder of its
    /// own.
    ///
    /// # Errors
    /// If it does not build.
    pub fn with_webgpu() -> Outcome<&'static Self> {
        let made = BUILT_WITH_WEBGPU
            .get_or_init(|| Self::make_of(Self::build_with_webgpu, "webgpu", "debug"));
        made.as_ref().map_err(Clone::clone)
    }

    fn make(build: impl FnOnce(&Path) -> Outcome<()>, subfolder: &str) -> Outcome<Self> {
        Self::make_of(build, subfolder, "release")
    }

    fn make_of(
        build: impl FnOnce(&Path) -> Outcome<()>,
        subfolder: &str,
        profile: &str,
    ) -> Outcome<Self> {
        let folder = match std::env::var_os("FERRITE_LIBRARY_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => {
                let target = paths::target()?.join(subfolder);
                build(&target)?;
                target.join(profile)
            }
        };
        let library = Self { folder };
        let shared = library.shared();
        if shared.is_file() {
            Ok(library)
        } else {
            Err(format!("{} is missing", shared.display()).into())
        }
    }

    fn build(target: &Path) -> Outcome<()> {
        Self::build_features("backend", target)
    }

    fn build_with_gpu(target: &Path) -> Outcome<()> {
        Self::build_features("opencl,vulkan,cuda,rocm", target)
    }

    fn build_with_legacy(target: &Path) -> Outcome<()> {
        Self::build_features("legacy", target)
    }

    /// Builds without optimisation, which would take minutes for the dependencies of wgpu.
    fn build_with_webgpu(target: &Path) -> Outcome<()> {
        output_of(&mut Self::build_command("cxx-abi,webgpu", target)).map(drop)
    }

    /// Builds without optimisation: tests count allocations, which are the same.
    fn build_with_rpc(target: &Path) -> Outcome<()> {
        output_of(&mut Self::build_command("rpc", target)).map(drop)
    }

    fn build_features(features: &str, target: &Path) -> Outcome<()> {
        output_of(Self::build_command(features, target).arg("--release")).map(drop)
    }

    fn build_command(features: &str, target: &Path) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.args(["build", "--package", "ferrite-ffi-capi", "--features", features]);
        command.arg("--manifest-path").arg(paths::root().join("Cargo.toml"));
        command.arg("--target-dir").arg(target);
        command
    }

    fn build_with_cxx(target: &Path) -> Outcome<()> {
        let mut command = Command::new(paths::root().join("targets/host/build.sh"));
        output_of(command.arg("--target-dir").arg(target)).map(drop)
    }

    /// Returns the folder of the library.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the shared object.
    pub fn shared(&self) -> PathBuf {
        self.folder.join(format!("{DLL_PREFIX}tvm_ffi{DLL_SUFFIX}"))
    }

    /// Returns the path of the archive.
    pub fn archive(&self) -> PathBuf {
        self.folder.join("libtvm_ffi.a")
    }
}
