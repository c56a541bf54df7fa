"""Test kernels of CUTLASS's Python DSL without a GPU: compiled, exported and loaded again, they check their arguments before a launch."""

import os
import subprocess
import tempfile
from pathlib import Path

import cutlass
import cutlass.cute as cute
import ferrite_tvm_ffi  # noqa: F401
import numpy
import tvm_ffi
from cutlass.cute.runtime import find_runtime_libraries, make_fake_compact_tensor, make_fake_stream


@cute.kernel
def add_kernel(x: cute.Tensor, y: cute.Tensor, added: cutlass.Float32):
    at = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    if at < cute.size(x):
        y[at] = x[at] + added


@cute.jit
def add(x: cute.Tensor, y: cute.Tensor, added: cutlass.Float32, stream):
    add_kernel(x, y, added).launch(grid=[cute.ceil_div(cute.size(x), 128), 1, 1], block=[128, 1, 1], stream=stream)


def compiled():
    """Return the kernel for vectors of any length, on the current stream of the calling thread."""
    length = cute.sym_int()
    x, y = (make_fake_compact_tensor(cutlass.Float32, (length,)) for _ in range(2))
    stream = make_fake_stream(use_tvm_ffi_env_stream=True)
    return cute.compile(add, x, y, cutlass.Float32(0), stream, options="--enable-tvm-ffi")


def exported(folder):
    """Return the kernel from a shared object, as a process without the compiler loads it."""
    libraries = [Path(library) for library in find_runtime_libraries(enable_tvm_ffi=False)]
    compiled().export_to_c(f"{folder}/add.o", function_name="add")
    command = ["cc", "-shared", "-o", f"{folder}/add.so", f"{folder}/add.o", *map(str, libraries)]
    subprocess.run([*command, *(f"-Wl,-rpath,{library.parent}" for library in libraries)], check=True)
    return tvm_ffi.load_module(f"{folder}/add.so").add


def refuses(function, arguments, kind, text):
    try:
        function(*arguments)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"accepted: {arguments}")


def main():
    os.environ["CUTE_DSL_ARCH"] = "sm_90a"  # the DSL asks the driver otherwise
    x = tvm_ffi.from_dlpack(numpy.ones(8, "float32"))
    with tempfile.TemporaryDirectory() as folder:
        loaded = exported(folder)
        for function in (compiled(), loaded):
            refuses(function, (x, x, 1.0), ValueError, "argument #0 when calling: `add(x: Tensor([n0], float32)")
            refuses(function, (x, x, 1.0), ValueError, "expected device_type=cuda")
            refuses(function, (3, x, 1.0), TypeError, "expected Tensor")
            refuses(function, (x, x), TypeError, "Expects 3 parameters" if function is loaded else "argument: 'added'")


if __name__ == "__main__":
    main()
