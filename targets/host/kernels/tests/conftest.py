"""The libraries under test.

`make` builds them; FERRITE_KERNELS names another folder with them. They run on upstream's libtvm_ffi, or on Ferrite's with
FERRITE_TVM_FFI=1 in the environment where the wheel ferrite-tvm-ffi is installed: the tests are the same.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import pytest
import tvm_ffi

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))
BUILD = Path(os.environ.get("FERRITE_KERNELS", Path(__file__).parent.parent / "build"))


@functools.cache
def load(language: str):
    """Return the module of one language: c, cpp or rust."""
    return tvm_ffi.load_module(str(BUILD / f"kernels_{language}.so"))


def on_ferrite() -> bool:
    """Say whether the process has Ferrite's libtvm_ffi."""
    return tvm_ffi.get_global_func("ffi.ferrite.ServeRelease", allow_missing=True) is not None


def pytest_report_header(config: pytest.Config) -> str:
    return f"libtvm_ffi: {'Ferrite' if on_ferrite() else 'upstream'}, kernels: {BUILD}"


@pytest.fixture(scope="session")
def c():
    return load("c")


@pytest.fixture(scope="session")
def cpp():
    return load("cpp")


@pytest.fixture(scope="session")
def rust():
    return load("rust")
