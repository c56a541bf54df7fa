"""Functions and classes of libnames.so. Made by `ferrite stubs --python`."""

import builtins as _builtins
import typing as _typing
from collections.abc import Callable, Mapping, Sequence
from tvm_ffi import Array, Device, Object, Tensor

class edge:
    """Global names that begin with `edge.`."""

    class in_:
        """Global names that begin with `edge.in.`."""

        @staticmethod
        def deep() -> None: ...

    class inner:
        """Global names that begin with `edge.inner.`."""

        class Empty(Object): ...

    class PairObject(Object):
        first: _builtins.int
        @property
        def int(self) -> _builtins.int: ...
        # Not a valid Python name; use getattr: "class"
        def sum(self) -> _builtins.int: ...
        same_as: _typing.Any
        @staticmethod
        def made() -> _edge.PairObject: ...

    class More(_edge.PairObject):
        first: _typing.Any

    @staticmethod
    def Pair(_0: _builtins.int, /) -> _edge.PairObject: ...

    @staticmethod
    def bad(*args: _typing.Any) -> _typing.Any: ...

    @staticmethod
    def edge(*args: _typing.Any) -> _typing.Any: ...

    @staticmethod
    def int(_0: _builtins.int, /) -> _builtins.int: ...

    # Not a valid Python name; use getattr: "edge.with space": (...) -> Any

def Any(x: _typing.Any, /) -> _typing.Any:
    """Returns None."""

def a_b(*args: _typing.Any) -> _typing.Any: ...

def int(x: float, /) -> _builtins.int:
    """Rounds to zero."""

def load(x: str, /) -> str:
    """Returns a text."""

def objects(_0: _edge.PairObject, _1: Object, _2: Tensor, _3: Device, /) -> _edge.PairObject:
    """Takes objects."""

def plain(*args: _typing.Any) -> _typing.Any: ...

def super(x: bool, /) -> bool:
    """Returns x.

    In two paragraphs."""

def types(_0: _builtins.int | None, _1: _builtins.int | str, _2: Mapping[str, Sequence[float]], _3: Callable[[_builtins.int], None], /) -> Array[_typing.Any]:
    """Takes one of each."""

def top(*args: _typing.Any) -> _typing.Any: ...

# Not a valid Python name; use getattr: "a.b": (...) -> Any

# Not a valid Python name; use getattr: "class": () -> int

# Another function has the name: "int": (...) -> Any

_edge = edge
