"""Libraries of kernels, and the operators in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterable

import tvm_ffi

from .signature import Signature

# Folder of the libraries, which wins over those where `make` and a wheel put them.
VARIABLE = "FERRITE_KERNELS"
HERE = Path(__file__).resolve().parent


class Library:
    """A library of kernels in one language, loaded when its first operator is used.

    Attributes are its operators as functions of tvm_ffi. A library that is missing raises an OSError, an operator that it lacks an
    AttributeError. Threads may use one object at the same time.
    """

    def __init__(self, name: str, path: os.PathLike[str] | str | None = None) -> None:
        self._name, self._path = name, path
        self._operators: dict[str, Operator] = {}

    def __repr__(self) -> str:
        return f"<kernels in {self._name}>"

    def __getattr__(self, name: str) -> tvm_ffi.Function:
        if name == "_module":
            path = Path(self._path or find(self._name)).resolve()  # the loader searches elsewhere for a bare name
            if not path.is_file():
                raise OSError(f"{path} is not there")
            self._module = tvm_ffi.load_module(str(path))
            return self._module
        if name.startswith("_"):
            raise AttributeError(name)
        function = self._operator(name).function
        setattr(self, name, function)  # the next use finds it without this method
        return function

    def _operator(self, name: str) -> Operator:
        if name not in self._operators:
            function = self._module.get_function(name) if self._module.implements_function(name) else None
            if function is None:
                raise AttributeError(f"the kernels in {self._name} have no operator {name}")
            self._operators[name] = Operator(name, function, Signature(name, self._module.get_function_metadata(name) or {}))
        return self._operators[name]


class Operator:
    """A function of a library with its signature."""

    def __init__(self, name: str, function: tvm_ffi.Function, signature: Signature) -> None:
        self.name, self.function, self.signature = name, function, signature


def operator(name: str, libraries: Iterable[Library]) -> Operator:
    """Return an operator of the first of these libraries that is there and has it; AttributeError if none has."""
    missing = []
    for library in libraries:
        try:
            return library._operator(name)
        except (AttributeError, OSError) as error:
            missing.append(str(error))
    raise AttributeError("; ".join(missing))


def find(name: str) -> Path:
    """Return the path of a library: of the folder that the variable names, of the wheel, or of `make`."""
    file = f"kernels_{name}.so"
    folders = [os.environ[VARIABLE]] if VARIABLE in os.environ else [HERE / "lib", HERE.parents[1] / "build"]
    for folder in folders:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    places = " or ".join(str(folder) for folder in folders)
    raise OSError(f"{file} is not in {places}: build it by `make`, or name its folder by {VARIABLE}")
