"""Uses the classes and functions of the library from Python. usage: client.py LIBRARY, where tvm_ffi and ferrite_tvm_ffi are installed."""

import copy
import pickle
import sys
import unittest

import ferrite_tvm_ffi  # noqa: F401  before tvm_ffi
import tvm_ffi
from tvm_ffi import dataclasses

LIBRARY = tvm_ffi.load_module(sys.argv.pop(1))


@tvm_ffi.register_object("demo.Counter")
class Counter(tvm_ffi.Object):
    """The class as upstream's front end sees it."""


@dataclasses.c_class("demo.Shape", eq=True, unsafe_hash=True)
class Shape(tvm_ffi.Object):
    name: str


@dataclasses.c_class("demo.Circle", eq=True, unsafe_hash=True)
class Circle(Shape):
    radius: float
    centre: tvm_ffi.Array
    outer: "Circle | None"
    width: int


class Counters(unittest.TestCase):
    def test_a_counter_counts(self):
        counter = Counter(1)
        self.assertEqual((counter.value, counter.add(2), counter.value), (1, 3, 3))
        counter.value = 10
        self.assertEqual(counter.add(1), 11)

    def test_arguments_of_the_constructor_have_names(self):
        self.assertEqual(Counter(value=3).value, 3)
        with self.assertRaisesRegex(TypeError, r"__ffi_init__\(\) got an unexpected keyword argument 'by'"):
            Counter(by=3)
        with self.assertRaisesRegex(TypeError, "got multiple values for argument 'value'"):
            Counter(3, value=3)

    def test_errors_are_of_the_method(self):
        with self.assertRaisesRegex(TypeError, r"Expected `int` but got `ffi.SmallStr`"):
            Counter(1).add("one")
        with self.assertRaisesRegex(TypeError, "Cannot convert from type `ffi.SmallStr` to `int`"):
            Counter(1).value = "one"
        with self.assertRaisesRegex(TypeError, r"demo.Counter.__ffi_init__\(0: int\) -> demo.Counter"):
            Counter()

    def test_documentation_and_types(self):
        info = Counter.__tvm_ffi_type_info__
        (field,) = info.fields
        self.assertEqual((field.name, field.doc, str(field.ty)), ("value", "The value so far.", "int"))
        docs = {method.name: method.doc for method in info.methods}
        self.assertEqual(docs, {"__ffi_init__": None, "add": "Adds to the value and returns it."})
        schema = next(method.metadata for method in info.methods if method.name == "add")["type_schema"]
        self.assertIn('"params":[{"type":"demo.Counter"},{"type":"int"}]', schema)

    def test_a_counter_of_rust_is_one(self):
        counter = LIBRARY.make_counter(5)
        self.assertIsInstance(counter, Counter)
        self.assertEqual((counter.add(1), repr(counter)), (6, "demo.Counter(value=6)"))

    def test_copies_and_pickles(self):
        counter = Counter(4)
        for other in (copy.copy(counter), copy.deepcopy(counter), pickle.loads(pickle.dumps(counter))):
            self.assertFalse(other.same_as(counter))
            self.assertEqual((other.value, other.add(1), counter.value), (4, 5, 4))

    def test_a_borrowed_counter_cannot_be_used(self):
        counter = Counter(1)
        for use in (lambda: counter.add(1), lambda: counter.value, lambda: setattr(counter, "value", 2)):
            with self.assertRaisesRegex(RuntimeError, "`demo.Counter` is in use"):
                LIBRARY.call_while_borrowed(counter, use)
        self.assertEqual(counter.value, 1)


class Shapes(unittest.TestCase):
    def test_a_constructor_takes_the_fields(self):
        circle = Circle(2.0, [1, 2], name="c")
        self.assertEqual((circle.name, circle.radius, list(circle.centre)), ("c", 2.0, [1, 2]))
        self.assertEqual((circle.outer, circle.width, circle.area()), (None, 1, 12.0))
        self.assertIsInstance(circle, Shape)
        self.assertEqual(Circle(1.0, [0], outer=circle, width=3).outer.name, "c")
        self.assertEqual(Circle(1.0, []).name, "unnamed")
        with self.assertRaisesRegex(TypeError, "missing required argument: 'centre'"):
            Circle(1.0)
        with self.assertRaises(AttributeError):
            circle.radius = 3.0

    def test_fields(self):
        self.assertEqual([field.name for field in dataclasses.fields(Circle)], ["name", "radius", "centre", "outer", "width"])

    def test_equality_and_hash(self):
        one, same, other = Circle(2.0, [1], name="c"), Circle(2.0, [1], name="c"), Circle(2.0, [2], name="c")
        self.assertEqual((one == same, one == other, hash(one) == hash(same)), (True, False, True))
        self.assertTrue(tvm_ffi.structural_equal(one, Circle(2.0, [1], name="c", width=9)))
        self.assertFalse(tvm_ffi.structural_equal(one, other))

    def test_graphs(self):
        inner = Circle(1.0, [0], outer=Circle(2.0, [1, 2], name="c"), width=4)
        again = pickle.loads(pickle.dumps(inner))
        self.assertEqual(again, inner)
        self.assertEqual((again.outer.name, again.width, list(again.outer.centre)), ("c", 4, [1, 2]))
        self.assertEqual(repr(again), 'demo.Circle(name="unnamed", radius=1, centre=(0,), outer=' + repr(again.outer) + ")")


class Functions(unittest.TestCase):
    def test_a_global_function(self):
        self.assertEqual(tvm_ffi.get_global_func("demo.greet")("Ada"), "hello Ada")
        schema = tvm_ffi.registry.get_global_func_metadata("demo.greet")["type_schema"]
        self.assertIn('"params":[{"type":"ffi.String"}]', schema)

    def test_containers(self):
        totals = LIBRARY.totals({"a": [1, 2, 3], "b": []})
        self.assertIsInstance(totals, tvm_ffi.Dict)
        self.assertEqual(dict(totals.items()), {"a": 6, "b": 0})
        totals["c"] = 7
        self.assertEqual(len(totals), 3)
        with self.assertRaisesRegex(TypeError, r"Expected `Map<str, Array<int>>` but got `Map\[K, some value is Array\[index 0"):
            LIBRARY.totals({"a": ["x"]})

    def test_documentation(self):
        self.assertEqual(LIBRARY.get_function_doc("totals"), "Sums the numbers of each key.")
        self.assertIn("ffi.Dict", str(LIBRARY.get_function_metadata("totals")))

    def test_a_panic_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "panic: on purpose"):
            LIBRARY.fail()


if __name__ == "__main__":
    unittest.main()
