"""Compiles models by TVM."""

import contextlib
import pathlib
import re
import tempfile

import embed
import tensor_cores
from failure import Failure


def executable(mod, target, archive=None, tuning=None, cublaslt=None):
    """Compiles a model, with constants folded, and returns TVM's executable.

    Dense work goes to the kernels of an archive, and other operators get the schedules of `tuning`, if they are given. Matrix products go
    to cuBLASLt if that is a precision: float32 or tf32.
    """
    import tvm
    from tvm import relax

    import kernels

    with compiling():
        target = tvm.target.Target(target)
        with target:
            if archive is not None:
                mod = kernels.use(mod, kernels.Packer(archive))
            elif target.kind.name == "c":
                mod = kernels.use_integers(mod)
            if cublaslt is not None:
                mod = kernels.use_cublaslt(mod, cublaslt == "tf32")
            if target.kind.name != "llvm":
                mod = relax.get_pipeline("zero")(mod)
            if "gpu" in target.keys:
                with tensor_cores.usable(target):
                    mod = scheduled(mod)
        passes = pipeline(target)
        if tuning is not None:
            mod, passes = tuned(mod, target, tuning)
        return relax.build(mod, target=target, relax_pipeline=passes, exec_mode="bytecode")


@contextlib.contextmanager
def compiling():
    """Turns errors of TVM, which are of every kind, into failures."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"TVM cannot compile the model: {str(error).strip().splitlines()[-1]}") from error


def pipeline(target):
    """Returns the passes that compile for a target: TVM's own, and schedules for CPUs."""
    import schedule

    if target.kind.name != "llvm":
        return "default"
    return schedule.pipeline(target)


def tuned(mod, target, tuning):
    """Returns a model whose kernels have the schedules of a search, and the passes that are left."""
    import schedule

    with target:
        mod = schedule.legalization(target)(mod)
    return tuning(mod, target), schedule.lowering(target)


def export(executable, path, archive):
    """Writes an executable as a library, with the kernels that it calls from an archive, if one is given."""
    import kernels

    if archive is None:
        executable.export_library(path, **embed.packing(executable))
    else:
        kernels.export_library(executable, path, archive)


def scheduled(mod):
    """Binds the loops of kernels to the threads of a GPU, and products of float16 and of 8-bit integers to tensor cores."""
    from tvm.s_tir import dlight

    rules = dlight.gpu
    return dlight.ApplyDefaultSchedule(rules.Matmul(), rules.GEMV(), rules.Reduction(), rules.GeneralReduction(), rules.Fallback())(mod)


def serialised(executable):
    """Returns the bytes of TVM's executable."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "executable"
        executable.mod.write_to_file(str(path), "")
        return path.read_bytes()


def c_source(executable):
    """Returns the kernels of an executable compiled for the target `c`, in C."""
    return repaired(sources(executable.mod))


def kernel_names(source):
    """Returns the names of the kernels in C source."""
    return set(re.findall(r"\b__tvm_ffi_(\w+)\(void\* self_handle", source))


def sources(mod):
    return mod.inspect_source() if mod.kind == "c" else "".join(map(sources, mod.imports))


def repaired(source):
    """Repairs a declaration that TVM writes in the middle of an expression."""
    return re.sub(
        r"^( *)(\w+\* \w+ = \(\(\w+\*\)) *(TVMFFIAny (\w+)\[\d+\];)\n(\(\(\w+\*\)\w+\)\);)$", r"\1\3\n\1\2\5", source, flags=re.M
    )
