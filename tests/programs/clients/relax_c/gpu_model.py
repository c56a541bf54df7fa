"""Test how `ferrite model` compiles models for a GPU: kernels for CUDA stay source, and what TVM refuses is a failure with its reason."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
sys.path.insert(0, str(ROOT / "targets/model"))
import compiler  # noqa: E402
import frontend  # noqa: E402
import targets  # noqa: E402
from failure import Failure  # noqa: E402


def imported(mod):
    return [mod, *(found for one in mod.imports for found in imported(one))]


def compiled(target):
    mod = frontend.load(ROOT / "tests/programs/relax/cnn/digits.onnx", shapes={}, values={}, loops=False)
    return compiler.executable(mod, target)


for kind, word in {"cuda": "__global__", "opencl": "__kernel"}.items():
    [kernels] = [mod for mod in imported(compiled(targets.description(kind)).mod) if mod.kind == kind]
    assert word in kernels.inspect_source(""), kind
try:
    compiled({"kind": "vulkan", "host": "llvm"})  # TVM's wheel is built without it
except Failure as failure:
    assert str(failure) == "TVM cannot compile the model: Cannot find global function target.build.vulkan", failure
else:
    raise AssertionError("TVM compiled for Vulkan")
