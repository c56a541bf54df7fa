"""Runs a program of this folder with TVM's runtime in place of the library: on_tvm.py PROGRAM ARGUMENT..."""

import ctypes
import importlib.util
import pathlib
import runpy
import sys

import tvm_ffi  # noqa: F401

FOLDER = pathlib.Path(__file__).parent
LIBRARIES = pathlib.Path(importlib.util.find_spec("tvm").origin).parent / "lib"
for name in ("libtvm_runtime.so", "libtvm_runtime_extra.so"):
    ctypes.CDLL(str(LIBRARIES / name), mode=ctypes.RTLD_GLOBAL)
sys.argv = sys.argv[1:]
runpy.run_path(str(FOLDER / sys.argv[0]), run_name="__main__")
