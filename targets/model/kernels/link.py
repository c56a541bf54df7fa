"""Links kernels into libraries of models, each with the kernels that it calls."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import embed

from .call import PREFIX

SYMBOL = "__tvm_ffi_" + PREFIX


def export_library(executable, path, archive):
    """Writes an executable as a library with the kernels that it calls."""
    with _options(archive, called(executable)) as options:
        executable.export_library(path, options=options, **embed.packing(executable))


def called(executable):
    """Returns the kernels that an executable calls."""
    return sorted(set(re.findall(rf"^@{re.escape(PREFIX)}(\w+) packed_func;$", executable.as_text(), re.M)))


@contextlib.contextmanager
def _options(archive, names):
    """Gives the linker's options for some kernels of an archive. The others are not exported, so that the linker drops their code."""
    known = defined(archive)
    if missing := sorted(set(names) - known):
        raise RuntimeError(f"{archive} lacks the kernels {', '.join(missing)}: build it from the version of Ferrite that compiles the model")
    if not names:
        yield []
    elif sys.platform == "darwin":
        yield _ld64_options(archive, names, sorted(known.difference(names)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield _gnu_options(archive, names, pathlib.Path(folder) / "exports.map")


def _gnu_options(archive, names, script):
    symbols = [SYMBOL + name for name in names]
    script.write_text(f"{{ global: {'; '.join(symbols)}; local: {SYMBOL}*; }};\n")
    return [*(f"-Wl,-u,{symbol}" for symbol in symbols), f"-Wl,--version-script={script}", "-Wl,--gc-sections", str(archive)]


def _ld64_options(archive, names, others):
    wanted = [f"-Wl,-u,_{SYMBOL}{name}" for name in names]
    return [*wanted, *(f"-Wl,-unexported_symbol,_{SYMBOL}{name}" for name in others), "-Wl,-dead_strip", str(archive)]


def defined(archive):
    """Returns the kernels of an archive or a library."""
    symbols = re.escape(SYMBOL.encode()) + rb"(\w+)\0"
    return {name.decode() for name in re.findall(symbols, pathlib.Path(archive).read_bytes())}


def shared(path, archive, names):
    """Writes a library with some kernels alone."""
    compiler = os.environ.get("CC", "cc")
    try:
        with _options(archive, names) as options:
            outcome = subprocess.run([compiler, "-shared", "-o", str(path), *options], capture_output=True, text=True)
    except FileNotFoundError:
        raise RuntimeError(f"the C compiler {compiler} is missing, which links the kernels: install one, or name it by the variable CC") from None
    if outcome.returncode:
        raise RuntimeError(f"the kernels cannot be linked: {outcome.stderr.strip()}")
