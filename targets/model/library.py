"""Finds Ferrite's library, or builds it, as the projects' `build.sh` does."""

import os
import pathlib
import subprocess

import project
import targets
from failure import Failure


def file(features):
    """Returns the path of libtvm_ffi.so: built from the clone, or of the installed library."""
    if root := targets.clone():
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or root / "target") / "model"
        command = ["cargo", "build", "--quiet", "--release", "--manifest-path", root / "Cargo.toml", "--target-dir", target]
        if subprocess.run([*command, "-p", "ferrite-ffi-capi", "--features", features]).returncode:
            raise Failure("the library cannot be built")
        return target / "release/libtvm_ffi.so"
    folder = pathlib.Path(os.environ.get("FERRITE_LIBRARY") or project.library_folder())
    if not (folder / "libtvm_ffi.so").is_file():
        raise Failure("there is no libtvm_ffi.so of Ferrite: name its folder by FERRITE_LIBRARY, or a clone by FERRITE")
    return folder / "libtvm_ffi.so"
