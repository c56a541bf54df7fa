"""Test that products in float16 run on tensor cores by TVM's schedules: the instructions are in the code that NVRTC compiles.

TVM has no such schedules for float32 and bfloat16. With upstream's library, TVM crashes when it uses them, and `ferrite model` does without.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve()


def code(module, kind):
    """Returns the code of the kernels for CUDA in a module and its imports."""
    own = module.inspect_source(kind) if module.kind == "cuda" else ""
    return own + "".join(code(one, kind) for one in module.imports)


def load(library):
    """Prints the PTX of a library's kernels, which NVRTC compiles when the library is loaded."""
    import ferrite_tvm_ffi  # noqa: F401
    import tvm_ffi

    print(code(tvm_ffi.load_module(library), "ptx"))


def compile_product(dtype, library):
    """Compiles a product with bias and activation function, and prints its source."""
    sys.path.insert(0, str(HERE.parents[4] / "targets/model"))
    import compiler
    import targets
    from tvm import relax

    builder = relax.BlockBuilder()
    shapes = {"x": (128, 256), "w": (256, 512), "b": (512,)}
    x, w, b = variables = [relax.Var(name, relax.TensorType(extents, dtype)) for name, extents in shapes.items()]
    with builder.function("main", variables):
        with builder.dataflow():
            total = builder.emit(relax.op.add(builder.emit(relax.op.matmul(x, w)), b))
            result = builder.emit_output(relax.op.nn.relu(total))
        builder.emit_func_output(result)
    built = compiler.executable(builder.get(), targets.description("cuda"))
    built.export_library(library)
    print(code(built.mod, "cuda"))


def output(*arguments, **environment):
    """Runs a function of this file in a process of its own, and returns what it prints and its warnings."""
    environment = os.environ | {name: str(value) for name, value in environment.items()}
    done = subprocess.run([sys.executable, HERE, *arguments], env=environment, check=True, capture_output=True, text=True)
    return done.stdout, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "library.so"))
        for dtype in ("float32", "bfloat16"):
            source, _ = output("with-ferrite", dtype, library)
            assert "__global__" in source and "mma_sync" not in source, dtype
        source, warnings = output("alone", "float16", library)
        assert "__global__" in source and "mma_sync" not in source and "kernels do without tensor cores" in warnings, warnings
        source, warnings = output("with-ferrite", "float16", library)
        assert "nvcuda::wmma::mma_sync" in source and "tensor cores" not in warnings, warnings
        nvidia = Path(importlib.util.find_spec("nvidia").submodule_search_locations[0])
        headers = {"FERRITE_CUDA_INCLUDE": nvidia / "cuda_runtime/include", "CUDA_HOME": nvidia / "cuda_nvcc"}
        for architecture in ("compute_80", "compute_90"):
            ptx, _ = output("load", library, FERRITE_CUDA_ARCH=architecture, **headers)
            assert "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16" in ptx, architecture
            print("tensor cores in code for", architecture)


match sys.argv[1:]:
    case ["load", library]:
        load(library)
    case ["with-ferrite", dtype, library]:
        import ferrite_tvm_ffi  # noqa: F401

        compile_product(dtype, library)
    case ["alone", dtype, library]:
        compile_product(dtype, library)
    case _:
        main()
