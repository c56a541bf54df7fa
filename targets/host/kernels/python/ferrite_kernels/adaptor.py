"""The part that the adaptors share: operators as attributes, with the arrays of one framework."""

from __future__ import annotations

import contextlib
from typing import Any, Sequence

import ferrite_kernels

from .library import Library, Operator, operator


class Adaptor:
    """Operators that take the arrays of a framework and return them.

    `adaptor.NAME(...)` calls an operator: its arguments may be named where the library says their names, and outputs that are left out are
    allocated by the framework of the inputs. Outputs that are given are returned; those of operators with several outputs as a tuple.
    `adaptor.of("rust")` has the operators of one library only.
    """

    def __init__(self, libraries: Sequence[Library] | None = None) -> None:
        self._libraries = libraries or ferrite_kernels.libraries

    def of(self, library: str | Library) -> Adaptor:
        """Return an adaptor to the operators of one library, which is named by its language or given."""
        return type(self)((library if isinstance(library, Library) else getattr(ferrite_kernels, library),))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = operator(name, self._libraries)
        signature = found.signature

        def call(*positional: Any, **named: Any) -> Any:
            values = signature.arguments(positional, named)
            result = self.run(found, values, [at for at in signature.writes if values[at] is not None])
            return given(values, signature.writes) if result is None else result

        call.__name__ = call.__qualname__ = name
        setattr(self, name, call)
        return call

    def described(self, name: str, values: Sequence[Any]) -> tuple[tuple[int, ...], Any]:
        """Return shape and type of a result: by the signature of the operator, or of the one of that name in another library."""
        every = (*self._libraries, *ferrite_kernels.libraries)
        for library in every:
            with contextlib.suppress(LookupError, AttributeError, OSError):
                return operator(name, (library,)).signature.result(values)
        return operator(name, self._libraries).signature.result(values)

    def run(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        """Call an operator with all its arguments, of which it writes those at these positions."""
        raise NotImplementedError


def given(values: Sequence[Any], writes: Sequence[int]) -> Any:
    """Return the outputs that the caller gave: one, a tuple of several, or None."""
    outputs = tuple(values[at] for at in writes if values[at] is not None)
    return outputs[0] if len(outputs) == 1 else outputs or None


def refuse(found: Operator, position: int, field: str, expected: str, got: str) -> ValueError:
    """Return an error about an argument in the words of `ferrite/kernel.h`."""
    where = f"{field.format(found.signature.names[position])} on argument #{position} when calling:\n  `{found.signature.text}`"
    return ValueError(f"{where},\n  expected {expected}, got {got}")
