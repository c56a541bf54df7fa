"""Uses that a type checker refuses, each in the line of its comment."""

import rust_objects
from rust_objects import demo

rust_objects.make_counter("one")  # arg-type
rust_objects.totals({1: [2]})  # dict-item
demo.Counter(1).valve  # attr-defined
demo.Circle().radius = 2.0  # misc
demo.greet()  # call-arg
rust_objects.missing()  # attr-defined
