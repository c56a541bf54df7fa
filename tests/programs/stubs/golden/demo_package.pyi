"""Functions and classes of demo_package. Made by `ferrite stubs --python`."""

from tvm_ffi import Array, Object
from typing import Any

class demo:
    """Global names that begin with `demo_package.demo.`."""

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

class text:
    """Global names that begin with `demo_package.text.`."""

    @staticmethod
    def join(*args: Any) -> Any: ...

def add(*args: Any) -> Any: ...
