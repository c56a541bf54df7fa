"""Uses that a type checker accepts."""

import rust_objects
from rust_objects import demo
from typing_extensions import assert_type

counter = rust_objects.make_counter(1)
assert_type(counter, demo.Counter)
assert_type(counter.add(2), int)
counter.value = 3
assert_type(demo.Counter(4).value, int)
circle: demo.Circle = demo.Circle("c", 1.0, [1, 2], width=2)
shape: demo.Shape = circle
assert_type(circle.area(), float)
assert_type(circle.outer, demo.Circle | None)
assert_type(rust_objects.totals({"a": [1, 2]})["a"], int)
assert_type(demo.greet("you"), str)
