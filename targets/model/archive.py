"""Finds the archive of the kernels that do a model's dense work: built from a clone, or installed beside the library."""

import os
import pathlib
import subprocess

import project
import targets
from failure import Failure

NAME = "libferrite_kernels.a"


def path():
    """Returns the path of the archive, or None without one. The variable FERRITE_KERNELS names it."""
    named = os.environ.get("FERRITE_KERNELS")
    if named:
        if not pathlib.Path(named).is_file():
            raise Failure(f"FERRITE_KERNELS={named} is not a file")
        return pathlib.Path(named)
    root = targets.clone()
    if root and (root / "targets/kernels/Cargo.toml").is_file():
        return _built(root)
    folder = project.library_folder()
    installed = pathlib.Path(folder) / NAME
    return installed if folder and installed.is_file() else None


def _built(root):
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "model"
    command = [os.environ.get("CARGO", "cargo"), "build", "--quiet", "--release"]
    command += ["--manifest-path", str(root / "targets/kernels/Cargo.toml"), "--target-dir", str(folder)]
    try:
        outcome = subprocess.run(command).returncode
    except FileNotFoundError:
        raise Failure("cargo is missing, which builds the kernels: install Rust, name it by the variable CARGO, or give --no-kernels") from None
    if outcome:
        raise Failure("the kernels could not be built, see above; --no-kernels compiles without them")
    return folder / "release" / NAME
