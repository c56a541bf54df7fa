"""Operators of the kernel libraries, without a framework.

    import ferrite_kernels

    ferrite_kernels.c.layernorm2d(x, weight, bias, 1e-5, out)  # of the library in C
    ferrite_kernels.layernorm2d(x, weight, bias, 1e-5, out)    # of the first library that has it

`c`, `cpp` and `rust` are the libraries, which `libraries` lists in the order of a search; each is loaded when its first operator is used.
The operators are functions of `tvm_ffi`: they take every tensor of DLPack and positional arguments. The modules `numpy`, `torch`, `jax` and
`protocol` of this package adapt them to a framework; nothing here imports one. `build` compiles libraries of your own.
"""

from __future__ import annotations

from typing import Any

from .build import BuildError, build
from .library import Library, Operator, operator

__all__ = ["BuildError", "Library", "Operator", "build", "c", "cpp", "libraries", "operator", "rust"]

c = Library("c")
cpp = Library("cpp")
rust = Library("rust")
# C++ is first, since its operators also run on devices.
libraries = (cpp, c, rust)


def __getattr__(name: str) -> Any:
    """Return an operator of the first library that has it."""
    if name.startswith("_"):
        raise AttributeError(name)
    return operator(name, libraries).function
