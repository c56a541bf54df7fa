"""Links kernels into libraries of models, each with the kernels that it calls."""

import os
import re
import subprocess
import sys

from .call import PREFIX

SYMBOL = "__tvm_ffi_"


def options(executable, archive):
    """Returns the options with which `executable.export_library(path, options=...)` links the kernels that a model calls."""
    return _options(archive, called(executable))


def called(executable):
    """Returns the kernels that an executable calls."""
    return sorted(set(re.findall(rf"^@{re.escape(PREFIX)}(\w+) packed_func;$", executable.as_text(), re.M)))


def _options(archive, names):
    if not names:
        return []
    apple = sys.platform == "darwin"
    wanted = [f"-Wl,-u,{'_' * apple}{SYMBOL}{PREFIX}{name}" for name in names]
    return [*wanted, "-Wl,-dead_strip" if apple else "-Wl,--gc-sections", str(archive)]


def shared(path, archive, names):
    """Writes a library with some kernels alone."""
    compiler = os.environ.get("CC", "cc")
    try:
        outcome = subprocess.run([compiler, "-shared", "-o", str(path), *_options(archive, names)], capture_output=True, text=True)
    except FileNotFoundError:
        raise RuntimeError(f"the C compiler {compiler} is missing, which links the kernels: install one, or name it by the variable CC") from None
    if outcome.returncode:
        raise RuntimeError(f"the kernels cannot be linked: {outcome.stderr.strip()}")
