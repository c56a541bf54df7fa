"""Functions and classes of librust_objects.so. Made by `ferrite stubs --python`."""

from collections.abc import Callable, Mapping, Sequence
from tvm_ffi import Array, Dict, Object
from typing import Any

class demo:
    """Global names that begin with `demo.`."""

    class Counter(Object):
        """Counts."""
        value: int
        """The value so far."""
        def __init__(self, _0: int, /) -> None: ...
        def add(self, _0: int, /) -> int:
            """Adds to the value and returns it."""

    class Shape(Object):
        """A shape in the plane."""
        @property
        def name(self) -> str:
            """Name of the shape."""
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    class Circle(demo.Shape):
        """A circle around a point."""
        @property
        def radius(self) -> float:
            """Distance of the border from the centre."""
        @property
        def centre(self) -> Array[int]:
            """Coordinates of the centre."""
        @property
        def outer(self) -> demo.Circle | None:
            """The circle around this one."""
        @property
        def width(self) -> int: ...
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
        def area(self) -> float:
            """Returns the area, with three as pi."""

    @staticmethod
    def greet(_0: str, /) -> str: ...

def call_while_borrowed(counter: demo.Counter, callback: Callable[..., Any], /) -> None:
    """Calls a function while the counter is borrowed for writing."""

def fail() -> None:
    """Panics."""

def make_counter(value: int, /) -> demo.Counter:
    """Creates a counter."""

def totals(groups: Mapping[str, Sequence[int]], /) -> Dict[str, int]:
    """Sums the numbers of each key."""
