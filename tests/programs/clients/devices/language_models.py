"""Runs the scenarios of a language model, whose kernels are for OpenCL, on the driver of this machine."""

import pathlib
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "llm"))
import scenario  # noqa: E402

scenario.compare_all("llama", "opencl", scenario.OPENCL)
