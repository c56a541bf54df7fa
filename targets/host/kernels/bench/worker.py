"""Measures built bindings in a process of its own.

usage: worker.py FOLDER NAME import             prints the seconds that it takes to load 70 exports
       worker.py FOLDER all calls ROUNDS        prints the least nanoseconds of calls, as JSON
       worker.py FOLDER all torch ROUNDS        the same, with tensors of PyTorch
       worker.py FOLDER all instructions MARKS  dumps callgrind's counts of calls; MARKS is the built marks.c
"""

import ctypes
import importlib.util
import json
import sys
import time
from pathlib import Path

import numpy as np
import tvm_ffi

import builds
import ctypes_binding

ROWS, COLS = 4, 8


def main(work, name, mode, *rest):
    if mode == "import":
        library = builds.built(name, Path(work))
        before = time.perf_counter()
        module = load(name, library)
        functions = [getattr(module, f"layernorm2d_{number}") for number in range(70)]
        print(time.perf_counter() - before)
        assert len(functions) == 70
        return
    cases = {name: (torch_calls_of if mode == "torch" else calls_of)(name, Path(work)) for name in builds.BINDINGS}
    if mode in ("calls", "torch"):
        print(json.dumps(timed(cases, int(rest[0]))))
    else:
        count(cases, ctypes.CDLL(rest[0]))


def load(name, library):
    """Load a library as its users do."""
    if name in ("pybind11", "nanobind", builds.WITH_TORCH):
        spec = importlib.util.spec_from_file_location(f"bench_{name}", library)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return ctypes_binding.load(library) if name == "ctypes" else tvm_ffi.load_module(str(library))


def inputs():
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype("float32") for shape in ((ROWS, COLS), COLS, COLS)]


def torch_calls_of(name, work):
    """Return what is called with tensors of PyTorch. ctypes has addresses only."""
    import torch

    if name == "ctypes":
        return {}
    if name == "pybind11":
        function = load(builds.WITH_TORCH, builds.prepare_with_torch(work).library).layernorm2d
    else:
        function = load(name, builds.built(name, work)).layernorm2d_7
    x, weight, bias = inputs()
    out = np.zeros_like(x)
    tensors = [torch.from_numpy(one) for one in (x, weight, bias)]
    cases = {"torch": (function, (*tensors, 1e-5, torch.from_numpy(out)))}
    if name != "nanobind":
        cases["torch_allocates"] = (function, (*tensors, 1e-5, None))
        assert type(function(*tensors, 1e-5, None)) is torch.Tensor
    for called, values in cases.values():
        check(called, values, x, weight, bias, out)
    return cases


def calls_of(name, work):
    """Return what is called in each case: a function and its arguments."""
    module = load(name, builds.built(name, work))
    function = module.layernorm2d_7
    x, weight, bias = inputs()
    out = np.zeros_like(x)
    arrays = (x, weight, bias, 1e-5)
    cases = {"numpy": (function, (*arrays, out)), "numpy_allocates": (function, (*arrays, None))}
    if name == "pybind11":
        capsules = [one.__dlpack__() for one in (x, weight, bias, out)]
        cases["prebuilt"] = (module.layernorm2d_capsules, (*capsules[:3], 1e-5, capsules[3]))
    elif name == "ctypes":
        pointers = [ctypes.c_void_p(one.ctypes.data) for one in (x, weight, bias, out)]
        cases["prebuilt"] = (function.entry, (*pointers[:3], ROWS, COLS, 1e-5, pointers[3]))
    elif name != "nanobind":
        tensors = [tvm_ffi.from_dlpack(one) for one in (x, weight, bias, out)]
        cases["prebuilt"] = (function, (*tensors[:3], 1e-5, tensors[3]))
        cases["prebuilt_allocates"] = (function, (*tensors[:3], 1e-5, None))
    for called, values in cases.values():
        check(called, values, x, weight, bias, out)
    return cases


def check(called, values, x, weight, bias, out):
    """Compare a result with numpy's."""
    out[:] = 0
    made = called(*values)
    result = out if made is None else np.from_dlpack(made) if not isinstance(made, np.ndarray) else made
    # Export 7 adds 7 to eps; the one for capsules has no copies.
    expected = [(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) * weight + bias for eps in (1e-5, 7 + 1e-5)]
    assert any(np.allclose(result, one, atol=1e-5) for one in expected)


def timed(cases, rounds):
    """Call each binding in turn, and keep the least time of each case."""
    best = {name: {} for name in cases}
    repeat = 500
    for _ in range(rounds):
        for name, of_binding in cases.items():
            for case, (function, values) in of_binding.items():
                before = time.perf_counter_ns()
                for _ in range(repeat):
                    function(*values)
                nanoseconds = (time.perf_counter_ns() - before) / repeat
                key = f"{case}_ns"
                best[name][key] = round(min(nanoseconds, best[name].get(key, nanoseconds)), 1)
    return best


def count(cases, marks):
    """Have callgrind count the instructions of each case. The loop of Python is in them, as in the times."""
    repeat = 200
    for name, of_binding in cases.items():
        for case, (function, values) in of_binding.items():
            for _ in range(50):
                function(*values)
            marks.reset()
            for _ in range(repeat):
                function(*values)
            marks.dump(f"{name}|{case}|{repeat}".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
