"""Test kernels in TileLang's language, lowered to C and to CUDA source, and a kernel of its TVM; CPU code is run."""

import ctypes
import inspect
import os
import subprocess
import tempfile
from pathlib import Path

import ferrite_tvm_ffi
import numpy
import tilelang
import tilelang.language as T
import tvm_ffi
from tilelang import tvm
from tvm import te

N = 64
ON_CPU = {"is_cpu": True} if "is_cpu" in inspect.signature(T.Kernel).parameters else {}  # until 0.1.11
LEFT, RIGHT = (numpy.random.default_rng(seed).standard_normal((N, N)).astype("float32") for seed in (1, 2))


@T.prim_func
def on_cpu(A: T.Tensor((N, N), "float32"), B: T.Tensor((N, N), "float32"), C: T.Tensor((N, N), "float32")):
    with T.Kernel(T.ceildiv(N, 16), T.ceildiv(N, 16), **ON_CPU) as (bx, by):
        tile = T.alloc_local((256,), "float32")
        for p in range(256):
            tile[p] = T.float32(0)
            for k in range(N):
                tile[p] += A[by * 16 + p // 16, k] * B[k, bx * 16 + p % 16]
        for p in range(256):
            C[by * 16 + p // 16, bx * 16 + p % 16] = tile[p]


@T.prim_func
def on_gpu(A: T.Tensor((128, 128), "float16"), B: T.Tensor((128, 128), "float16"), C: T.Tensor((128, 128), "float32")):
    with T.Kernel(2, 2, threads=128) as (bx, by):
        left = T.alloc_shared((64, 32), "float16")
        right = T.alloc_shared((32, 64), "float16")
        tile = T.alloc_fragment((64, 64), "float32")
        T.clear(tile)
        for k in T.Pipelined(4, num_stages=2):
            T.copy(A[by * 64, k * 32], left)
            T.copy(B[k * 32, bx * 64], right)
            T.gemm(left, right, tile)
        T.copy(tile, C[by * 64, bx * 64])


def compiled(source, path):
    """Compile a C source to a shared object, with the headers of upstream's package and of TileLang's TVM."""
    tvm_include = Path(tilelang.__file__).parent / "3rdparty" / "tvm" / "include"
    folders = [tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path(), tvm_include]
    path.with_suffix(".c").write_text(source)
    options = [word for folder in folders for word in ("-I", str(folder))]
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", *options, "-o", path, path.with_suffix(".c")]
    subprocess.run(command, check=True)
    return str(path)


def check_c(folder):
    """Check that a kernel for CPUs is a plain C function."""
    source = tilelang.lower(on_cpu, target="c").kernel_source
    source = source.replace("#include <tl_templates/cpp/common.h>", "#include <stdint.h>")
    output = numpy.zeros((N, N), "float32")
    function = ctypes.CDLL(compiled(source, folder / "on_cpu.so")).on_cpu_kernel
    assert function(*(ctypes.c_void_p(array.ctypes.data) for array in (LEFT, RIGHT, output))) == 0
    numpy.testing.assert_allclose(output, LEFT @ RIGHT, rtol=1e-4, atol=1e-4)


def check_cuda(folder):
    """Check that a kernel for GPUs is CUDA source, launched by a packed function in C, which validates its arguments."""
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"})
    with target:
        lowered = tilelang.lower(on_gpu, target=target, target_host="c", enable_host_codegen=True)
    for part in ('extern "C" __global__', "on_gpu_kernel", "__syncthreads", "mma"):
        assert part in lowered.kernel_source, part
    host = lowered.rt_mod
    assert host.kind == "c" and len(host.imports) == 1
    assert host.imports[0].inspect_source() == lowered.kernel_source
    library = tvm.runtime.load_module(compiled(host.inspect_source(), folder / "on_gpu.so"))
    assert library.implements_function("on_gpu") and not library.implements_function("on_cpu")
    arguments = [tvm.runtime.tensor(numpy.zeros((128, 128), dtype)) for dtype in ("float16", "float16", "float32")]
    refuse(library["on_gpu"], arguments[:2], "num_args should be 3")
    refuse(library["on_gpu"], [arguments[2], *arguments[1:]], "dtype")
    refuse(library["on_gpu"], arguments, "device_type")


def refuse(function, arguments, reason):
    try:
        function(*arguments)
    except RuntimeError as error:
        assert reason in str(error), error
    else:
        raise AssertionError(f"no error about {reason}")


def check_tvm(folder):
    """Check that TileLang's TVM compiles to a C module, which can be exported as a library and loaded again."""
    source = te.placeholder((N,), "float32", name="source")
    output = te.compute((N,), lambda i: source[i] * source[i] + 1.0, name="output")
    built = tvm.compile(tvm.IRModule({"main": te.create_prim_func([source, output])}), target="c")
    library = str(folder / "square.so")
    built.export_library(library)
    result = tvm.runtime.tensor(numpy.zeros(N, "float32"))
    tvm.runtime.load_module(library)["main"](tvm.runtime.tensor(LEFT[0]), result)
    numpy.testing.assert_allclose(result.numpy(), LEFT[0] * LEFT[0] + 1, rtol=1e-6)


def check_objects():
    """Check programs as values: structural equality and hash, and a round trip through JSON."""
    module = tvm.IRModule({"main": on_gpu})
    read = tvm.ir.load_json(tvm.ir.save_json(module))
    tvm.ir.assert_structural_equal(module, read)
    assert tvm_ffi.structural_hash(module) == tvm_ffi.structural_hash(read)
    assert read.script() == module.script()
    assert not tvm_ffi.structural_equal(module, tvm.IRModule({"main": on_cpu}))


with tempfile.TemporaryDirectory() as name:
    check_c(Path(name))
    check_cuda(Path(name))
    check_tvm(Path(name))
check_objects()
assert ferrite_tvm_ffi.mapped() == {str(ferrite_tvm_ffi.LIBRARY)}
