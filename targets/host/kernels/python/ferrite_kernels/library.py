"""Libraries of kernels, and the operators in them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Iterable, Sequence

import tvm_ffi

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
            path = Path(self._path or find(self._name))
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
            self._operators[name] = Operator(name, function, self._module.get_function_metadata(name) or {})
        return self._operators[name]


class Operator:
    """A function of a library with its parameters, as far as the metadata has them: names, and those that may be left out."""

    def __init__(self, name: str, function: tvm_ffi.Function, metadata: dict[str, str]) -> None:
        self.name, self.function = name, function
        types = types_in(metadata.get("type_schema", ""))
        self.signature = metadata.get("signature", name)
        names = names_in(self.signature)
        self.parameters = tuple(names if len(names) == len(types) else (f"_{at}" for at in range(len(types))))
        self._optional = frozenset(name for name, kind in zip(self.parameters, types) if kind == "Optional")

    def arguments(self, positional: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """Return the arguments in their order, with None for optional ones that are left out; TypeError as for functions of Python."""
        if not self.parameters:
            return list(positional)
        if len(positional) > len(self.parameters):
            raise TypeError(f"{self.name}() takes {len(self.parameters)} arguments, {len(positional)} given")
        values = dict(zip(self.parameters, positional))
        for name, value in named.items():
            if name in values or name not in self.parameters:
                raise TypeError(f"{self.name}() {'got twice' if name in values else 'has no'} argument {name!r}")
            values[name] = value
        for name in self.parameters:
            if name not in values and name not in self._optional:
                raise TypeError(f"{self.name}() lacks the argument {name!r}")
        return [values.get(name) for name in self.parameters]


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


def types_in(schema: str) -> list[str]:
    """Return the names of the types of a function's parameters."""
    named = json.loads(schema or "{}").get("named_args", {})
    return [parameter["type"] for parameter in named.get("params", [])]


def names_in(signature: str) -> list[str]:
    """Return the names in a signature: x and by of `scale(x: Tensor([m, n], float32), by: float)`."""
    text = signature.partition("(")[2].rpartition(")")[0]
    while (flat := re.sub(r"\([^()]*\)|\[[^][]*\]", "", text)) != text:
        text = flat
    return [part.split(":")[0].strip() for part in text.split(",") if part.strip()]
