"""Tests a model loaded before TVM is imported: it still runs afterwards, and TVM loads new models for its own machine."""

import pathlib
import shutil
import sys
import tempfile

import numpy as np
import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import tvm_ffi

FOLDER = pathlib.Path(__file__).parents[2] / "relax" / "models"


def machine(path):
    vm = tvm_ffi.load_module(str(path))["vm_load_executable"]()
    vm["vm_initialization"](1, 0, 2)
    return vm


def result(vm):
    x = tvm_ffi.from_dlpack(np.load(FOLDER / "cnn" / "c0_arg0.npy"))
    return np.from_dlpack(vm["main"](x))


def is_ours(path):
    """Returns True if this library loads new executables, not TVM: the error for a truncated one has no `Check failed`."""
    loader = tvm_ffi.get_global_func("ffi.Module.load_from_bytes.relax.VMExecutable")
    broken = tvm_ffi.core.Bytes(path.read_bytes()[:20])
    try:
        loader(broken)
    except Exception as error:  # noqa: BLE001
        return "Check failed" not in str(error)
    raise AssertionError("a truncated executable was loaded")


def main():
    expected = np.load(FOLDER / "cnn" / "c0_out0.npy")
    bytecode, executable = FOLDER / "cnn" / "bytecode.so", FOLDER / "cnn" / "bytecode.vm"
    assert "tvm" not in sys.modules and is_ours(executable)
    before = {mode: machine(FOLDER / "cnn" / f"{mode}.so") for mode in ("bytecode", "compiled")}
    for vm in before.values():
        np.testing.assert_allclose(result(vm), expected, atol=1e-6)

    import tvm
    from tvm import relax

    assert not is_ours(executable)
    for vm in before.values():
        np.testing.assert_allclose(result(vm), expected, atol=1e-6)
    with tempfile.TemporaryDirectory() as folder:
        for mode in ("bytecode", "compiled"):
            # Copies the file: loading it again would give the library that is already open, which
            # keeps the builtins it found.
            copy = pathlib.Path(folder) / f"{mode}.so"
            shutil.copy(FOLDER / "cnn" / f"{mode}.so", copy)
            vm = relax.VirtualMachine(tvm.runtime.load_module(str(copy)), tvm.cpu())
            x = tvm.runtime.tensor(np.load(FOLDER / "cnn" / "c0_arg0.npy"))
            np.testing.assert_allclose(vm["main"](x).numpy(), expected, atol=1e-6)
    for vm in before.values():
        np.testing.assert_allclose(result(vm), expected, atol=1e-6)
    print("both machines work in one process")


main()
