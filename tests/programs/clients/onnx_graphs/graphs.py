"""ONNX graphs as exporters write them, rewritten by `ferrite model` for TVM's importer: kinds that it refused, and results.

Each graph is made here; ONNX Runtime runs it as it was and as it became.
"""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "targets/model"))

import frontend  # noqa: E402
import onnx_graph  # noqa: E402
from failure import Failure  # noqa: E402

FLOAT, INT32, INT64, UINT8, INT8, BOOL = (getattr(TensorProto, name) for name in ("FLOAT", "INT32", "INT64", "UINT8", "INT8", "BOOL"))
LACKING = {"LSTM", "GRU", "RNN", "QLinearConv", "QLinearMatMul", "ConvInteger", "CenterCropPad", "Det", "Loop", "Scan", "LpNormalization", "ReverseSequence"}
SUPPORTED = {schema.name for schema in onnx.defs.get_all_schemas()} - LACKING
"""Operators of an importer like TVM's."""


def model(nodes, inputs, outputs, weights=None, opset=17, functions=()):
    """Returns a model. Inputs and outputs are given as name: (element type, shape)."""
    declared = [[helper.make_tensor_value_info(name, *kind) for name, kind in values.items()] for values in (inputs, outputs)]
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(nodes, "graph", *declared, constants)
    domains = {part.domain for part in (*nodes, *functions)} - {""}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)


def prepared(source, shapes=None, values=None):
    return onnx_graph.prepared(source, shapes or {}, values or {}, SUPPORTED)


def results(source, feeds):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    return onnxruntime.InferenceSession(source.SerializeToString(), settings).run(None, feeds)


def operators(source):
    return [node.op_type for node in source.graph.node]


def dims(value):
    return [dim.dim_value for dim in value.type.tensor_type.shape.dim]


class Graphs(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def floats(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def agrees(self, source, feeds, tolerance=1e-5, **given):
        """Checks that a graph without lacking operators gives the same results. Returns it."""
        ours = prepared(source, **given)
        onnx.checker.check_model(ours, full_check=True)
        self.assertFalse(LACKING & {*operators(ours)})
        constants = {name: np.array(value) for name, value in given.get("values", {}).items()}
        for found, expected in zip(results(ours, feeds), results(source, feeds | constants), strict=True):
            self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
            np.testing.assert_allclose(found.astype(float), expected.astype(float), tolerance, tolerance)
        return ours

    def one(self, operator, inputs, feeds, weights=None, opset=17, tolerance=1e-5, kind=FLOAT, outputs=("y",), **attributes):
        """Checks a model of one node. `kind` is the element type of its outputs, or has that of each."""
        kinds = kind if isinstance(kind, dict) else dict.fromkeys(filter(None, outputs), kind)
        given = {name: (helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in feeds.items()}
        node = helper.make_node(operator, inputs, outputs, **attributes)
        results = {name: (kind, None) for name, kind in kinds.items()}
        return self.agrees(model([node], given, results, weights, opset), feeds, tolerance)


class Inputs(Graphs):
    def source(self, *axes):
        return model([helper.make_node("Relu", ["x"], ["y"])], {"x": (FLOAT, axes)}, {"y": (FLOAT, None)})

    def shape(self, *axes, **shapes):
        return dims(prepared(self.source(*axes), shapes).graph.input[0])

    def test_an_open_batch_is_one(self):
        self.assertEqual(self.shape("batch", 3), [1, 3])
        self.assertEqual(self.shape(None, 3), [1, 3])

    def test_shapes_and_named_axes_are_given(self):
        self.assertEqual(self.shape("batch", 3, "width", x=[8, 3, 5]), [8, 3, 5])
        self.assertEqual(self.shape("batch", 3, "width", width=[7]), [1, 3, 7])

    def test_the_batch_of_one_input_is_that_of_others(self):
        inputs = {"x": (FLOAT, ["n", 3]), "state": (FLOAT, [2, "n", 3])}
        source = model([helper.make_node("Add", ["x", "state"], ["y"])], inputs, {"y": (FLOAT, None)})
        self.assertEqual(list(map(dims, prepared(source).graph.input)), [[1, 3], [2, 1, 3]])

    def test_open_axes_are_listed(self):
        with self.assertRaisesRegex(Failure, r"shapes are open: x: float\[1, 3, \?, width\]; give them, such as --shape x=1,3,N,N"):
            self.shape("batch", 3, None, "width")

    def test_mistakes_name_the_inputs(self):
        with self.assertRaisesRegex(Failure, r"no input z; its inputs are: x: float\[batch, 3\]"):
            self.shape("batch", 3, z=[1])
        with self.assertRaisesRegex(Failure, r"x: float\[batch, 3\] cannot have the shape 1,4"):
            self.shape("batch", 3, x=[1, 4])
        with self.assertRaisesRegex(Failure, "the value fast does not fit rate: int64"):
            source = model([helper.make_node("Identity", ["rate"], ["y"])], {"rate": (INT64, [])}, {"y": (INT64, [])})
            prepared(source, values={"rate": "fast"})

    def test_scalars_stay_inputs_or_become_constants(self):
        nodes = [helper.make_node("Cast", ["rate"], ["r"], to=FLOAT), helper.make_node("Mul", ["x", "r"], ["y"])]
        source = model(nodes, {"x": (FLOAT, ["n"]), "rate": (INT64, [])}, {"y": (FLOAT, None)})
        self.assertEqual([value.name for value in prepared(source).graph.input], ["x", "rate"])
        ours = self.agrees(source, {"x": self.floats(1)}, values={"rate": 3})
        self.assertEqual([value.name for value in ours.graph.input], ["x"])

    def test_inputs_that_are_not_used_stay(self):
        source = model([helper.make_node("Relu", ["x"], ["y"])], {"x": (FLOAT, [2]), "unused": (FLOAT, [1])}, {"y": (FLOAT, [2])})
        self.assertEqual([value.name for value in prepared(source).graph.input], ["x", "unused"])

    def test_weights_in_other_files_are_read(self):
        source = model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [512])}, {"y": (FLOAT, [512])}, {"w": self.floats(512)})
        weights = numpy_helper.to_array(source.graph.initializer[0])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(source, path, save_as_external_data=True, location="weights", size_threshold=0)
            ours = prepared(frontend.onnx_file(path))
        feeds = {"x": self.floats(512)}
        np.testing.assert_array_equal(results(ours, feeds)[0], feeds["x"] + weights)
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file, self.assertRaisesRegex(Failure, "is not a readable ONNX model|no input"):
            file.write(b"\xff" * 64)
            file.flush()
            frontend.onnx_file(pathlib.Path(file.name))


class Constants(Graphs):
    def test_shapes_that_are_calculated_fold(self):
        nodes = [
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Slice", ["shape", "zero", "one"], ["batch"]),
            helper.make_node("Concat", ["batch", "rest"], ["target"], axis=0),
            helper.make_node("Reshape", ["x", "target"], ["y"]),
        ]
        weights = {"zero": np.array([0]), "one": np.array([1]), "rest": np.array([-1])}
        ours = self.agrees(model(nodes, {"x": (FLOAT, ["n", 3, 4])}, {"y": (FLOAT, None)}, weights), {"x": self.floats(1, 3, 4)})
        self.assertEqual(operators(ours), ["Reshape"])

    def test_an_output_may_be_constant(self):
        nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Relu", ["x"], ["y"])]
        source = model(nodes, {"x": (FLOAT, ["n", 3])}, {"shape": (INT64, [2]), "y": (FLOAT, None)})
        self.agrees(source, {"x": self.floats(1, 3)})

    def test_constants_do_not_enlarge_the_model(self):
        nodes = [helper.make_node("Expand", ["w", "shape"], ["wide"]), helper.make_node("Add", ["x", "wide"], ["y"])]
        weights = {"w": self.floats(1, 1024), "shape": np.array([512, 1024])}
        source = model(nodes, {"x": (FLOAT, [1, 1024])}, {"y": (FLOAT, [512, 1024])}, weights)
        self.assertEqual(operators(self.agrees(source, {"x": self.floats(1, 1024)})), ["Expand", "Add"])

    def test_optional_inputs_stay_empty(self):
        nodes = [helper.make_node("Clip", ["x", "", "most"], ["y"])]
        ours = self.agrees(model(nodes, {"x": (FLOAT, [4])}, {"y": (FLOAT, [4])}, {"most": np.float32(0.5)}), {"x": self.floats(4)})
        self.assertEqual(list(ours.graph.node[0].input), ["x", "", "most"])

    def test_old_operator_sets_are_converted(self):
        nodes = [helper.make_node("Slice", ["x"], ["s"], axes=[1], starts=[1], ends=[3]), helper.make_node("Upsample", ["s", "scales"], ["y"], mode="nearest")]
        weights = {"scales": np.array([1, 1, 2, 2], np.float32)}
        source = model(nodes, {"x": (FLOAT, [1, 4, 2, 2])}, {"y": (FLOAT, None)}, weights, opset=9)
        self.assertEqual(operators(self.agrees(source, {"x": self.floats(1, 4, 2, 2)})), ["Slice", "Resize"])


class Branches(Graphs):
    def source(self, condition, inputs):
        """Returns a model whose branches use the same names, and an outer value."""
        branches = {
            f"{name}_branch": helper.make_graph(
                [helper.make_node("Constant", [], ["c"], value_float=number), helper.make_node("Mul", ["x", "c"], ["product"])],
                name,
                [],
                [helper.make_tensor_value_info("product", FLOAT, None)],
            )
            for name, number in (("then", 2.0), ("else", 3.0))
        }
        return model([*condition, helper.make_node("If", ["is_long"], ["y"], **branches)], inputs, {"y": (FLOAT, None)}, {"limit": np.int64(4)})

    def test_a_known_condition_selects_its_branch(self):
        condition = [helper.make_node("Size", ["x"], ["size"]), helper.make_node("Less", ["limit", "size"], ["is_long"])]
        for size in (3, 5):
            ours = self.agrees(self.source(condition, {"x": (FLOAT, ["n"])}), {"x": self.floats(size)}, shapes={"x": [size]})
            self.assertEqual(operators(ours), ["Mul", "Identity"])

    def test_an_unknown_condition_stays(self):
        condition = [helper.make_node("Less", ["limit", "number"], ["is_long"])]
        source = self.source(condition, {"x": (FLOAT, [2]), "number": (INT64, [])})
        for number in (3, 5):
            ours = self.agrees(source, {"x": self.floats(2), "number": np.array(number)})
            self.assertEqual(operators(ours), ["Less", "If"])
        self.assertEqual(operators(self.agrees(source, {"x": self.floats(2)}, values={"number": 7})), ["Mul", "Identity"])


class Loops(Graphs):
    def body(self, nodes, inputs, outputs):
        declared = [[helper.make_tensor_value_info(name, kind, None if kind == FLOAT else []) for name, kind in values.items()] for values in (inputs, outputs)]
        return helper.make_graph(nodes, "body", *declared)

    def loop(self, condition, limit=True):
        """Returns a loop that doubles `x` and collects the results."""
        nodes = [helper.make_node("Add", ["state", "state"], ["next"]), helper.make_node("Identity", ["next"], ["kept"]), *condition]
        body = self.body(nodes, {"round": INT64, "was_open": BOOL, "state": FLOAT}, {"is_open": BOOL, "next": FLOAT, "kept": FLOAT})
        node = helper.make_node("Loop", ["limit" if limit else "", "" if limit else "yes", "x"], ["last", "all"], body=body)
        weights = {"limit": np.int64(4), "yes": np.bool_(True), "three": np.int64(3), "large": np.float32(50)}
        return model([node], {"x": (FLOAT, [2])}, {"last": (FLOAT, None), "all": (FLOAT, None)}, weights)

    def test_a_loop_with_a_known_number_of_rounds_becomes_these(self):
        feeds = {"x": self.floats(2)}
        for condition in ([helper.make_node("Identity", ["was_open"], ["is_open"])], [helper.make_node("Less", ["round", "three"], ["is_open"])]):
            ours = self.agrees(self.loop(condition, limit=condition[0].op_type == "Identity"), feeds)
            self.assertEqual(operators(ours).count("Add"), 4)

    def test_a_loop_that_depends_on_data_is_named(self):
        condition = [helper.make_node("ReduceMax", ["next"], ["most"], keepdims=0), helper.make_node("Less", ["most", "large"], ["is_open"])]
        with self.assertRaisesRegex(Failure, r"does not import these operators: Loop \(node last\)"):
            prepared(self.loop(condition))

    def test_a_scan_becomes_its_rounds(self):
        nodes = [helper.make_node("Add", ["total", "element"], ["sum"]), helper.make_node("Mul", ["sum", "sum"], ["square"])]
        body = self.body(nodes, {"total": FLOAT, "element": FLOAT}, {"sum": FLOAT, "square": FLOAT})
        for options in ({}, {"scan_input_directions": [1]}, {"scan_input_axes": [1], "scan_output_axes": [1]}):
            node = helper.make_node("Scan", ["x0", "x"], ["last", "all"], body=body, num_scan_inputs=1, **options)
            source = model([node], {"x0": (FLOAT, [3]), "x": (FLOAT, [3, 3])}, {"last": (FLOAT, None), "all": (FLOAT, None)})
            self.agrees(source, {"x0": self.floats(3), "x": self.floats(3, 3)})

    def test_an_output_may_be_a_constant_that_other_nodes_read(self):
        nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Expand", ["y0", "shape"], ["y"])]
        source = model(nodes, {"x": (FLOAT, ["n", 3]), "y0": (FLOAT, [1, 1])}, {"shape": (INT64, [2]), "y": (FLOAT, None)})
        self.agrees(source, {"x": self.floats(1, 3), "y0": self.floats(1, 1)})


class Recurrent(Graphs):
    STEPS, BATCH, WIDTH, SIZE = 5, 3, 4, 6

    def source(self, kind, directions=1, lengths=None, peepholes=False, biases=True, states=True, **attributes):
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
        shape = (directions, self.BATCH, self.SIZE)
        weights = {
            "W": self.floats(directions, gates * self.SIZE, self.WIDTH),
            "R": self.floats(directions, gates * self.SIZE, self.SIZE),
            **({"B": self.floats(directions, 2 * gates * self.SIZE)} if biases else {}),
            **({"lengths": np.array(lengths, np.int32)} if lengths else {}),
            **({"h": self.floats(*shape)} if states else {}),
            **({"c": self.floats(*shape)} if states and kind == "LSTM" else {}),
            **({"P": self.floats(directions, 3 * self.SIZE)} if peepholes else {}),
        }
        names = ["x", *(name if name in weights else "" for name in ("W", "R", "B", "lengths", "h", "c", "P"))]
        while not names[-1]:
            names.pop()
        outputs = ["Y", "Y_h", "Y_c"][: 3 if kind == "LSTM" else 2]
        node = helper.make_node(kind, names, outputs, hidden_size=self.SIZE, **attributes)
        return model([node], {"x": (FLOAT, [self.STEPS, "n", self.WIDTH])}, {name: (FLOAT, None) for name in outputs}, weights)

    def test_variants(self):
        for kind in ("LSTM", "GRU", "RNN"):
            for options in (
                {},
                {"biases": False, "states": False},
                {"directions": 2, "direction": "bidirectional"},
                {"direction": "reverse"},
                {"lengths": [5, 2, 4], "directions": 2, "direction": "bidirectional"},
                {"clip": 0.5},
            ):
                with self.subTest(kind=kind, **options):
                    self.agrees(self.source(kind, **options), {"x": self.floats(self.STEPS, self.BATCH, self.WIDTH)}, shapes={"n": [self.BATCH]})

    def test_variants_of_one_kind(self):
        for kind, options in (
            ("LSTM", {"peepholes": True}),
            ("LSTM", {"input_forget": 1}),
            ("LSTM", {"activations": ["HardSigmoid", "Relu", "Softsign"]}),
            ("GRU", {"linear_before_reset": 1}),
            ("GRU", {"linear_before_reset": 1, "biases": False, "directions": 2, "direction": "bidirectional"}),
            ("RNN", {"activations": ["Relu"]}),
        ):
            with self.subTest(kind=kind, **options):
                self.agrees(self.source(kind, **options), {"x": self.floats(self.STEPS, self.BATCH, self.WIDTH)}, shapes={"n": [self.BATCH]})

    def test_limits_are_explained(self):
        with self.assertRaisesRegex(Failure, "the operator RNN .* has the activation Affine, which has no equivalent"):
            prepared(self.source("RNN", activations=["Affine"], activation_alpha=[2.0]), {"n": [self.BATCH]})
        nodes = [helper.make_node("RNN", ["x", "W", "R"], ["Y"], name="rnn", hidden_size=2)]
        weights = {"W": self.floats(1, 2, 1), "R": self.floats(1, 2, 2)}
        with self.assertRaisesRegex(Failure, r"the operator RNN \(node rnn\) has 5000 steps"):
            prepared(model(nodes, {"x": (FLOAT, [5000, 1, 1])}, {"Y": (FLOAT, None)}, weights))


class Operators(Graphs):
    def test_operators_that_tvm_imports_in_part(self):
        x = self.floats(2, 3)
        self.one("Pow", ["x", "e"], {"x": x}, {"e": np.array([2, 3, 1])})
        self.one("OneHot", ["i", "depth", "values"], {"i": np.array([0, -1, 2])}, {"depth": np.array([4]), "values": np.array([-1, 5], np.float32)})
        self.one("OneHot", ["i", "depth", "values"], {"i": np.array([[0, 3]])}, {"depth": np.array(4), "values": np.array([0, 1], np.float32)}, axis=0)
        self.one("EyeLike", ["x"], {"x": x}, k=1)
        self.one("LpNormalization", ["x"], {"x": x}, axis=1)
        self.one("LpNormalization", ["x"], {"x": x}, axis=0, p=1)
        lengths = {"n": np.array([2, 3])}
        self.one("ReverseSequence", ["x", "n"], {"x": self.floats(3, 2, 2)}, lengths, time_axis=0, batch_axis=1)
        self.one("ReverseSequence", ["x", "n"], {"x": self.floats(2, 3)}, lengths, time_axis=1, batch_axis=0)

    def test_operators_whose_results_differ_in_tvm(self):
        self.one("Expand", ["x", "shape"], {"x": self.floats(2, 3, 1)}, {"shape": np.array([3, 2, 1, 4])})
        infinite = {"x": np.float32([1, np.inf, -np.inf, np.nan])}
        self.one("IsInf", ["x"], infinite, kind=BOOL, detect_negative=0)
        self.one("IsInf", ["x"], infinite, kind=BOOL, detect_positive=0)
        self.one("Pow", ["x", "e"], {"x": np.array([2, -3], np.int32)}, {"e": np.array([5, 3], np.int32)}, kind=INT32)

    def test_interpolation_by_scales_that_are_not_ratios_of_sizes(self):
        modes = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
        for mode in modes:
            for kind in ("linear", "cubic"):
                for scales in ((0.6, 0.7), (1.3, 2.1)):
                    given = {"mode": kind, "coordinate_transformation_mode": mode, "exclude_outside": int(kind == "cubic")}
                    with self.subTest(scales=scales, **given):
                        self.one("Resize", ["x", "", "s"], {"x": self.floats(1, 2, 5, 8)}, {"s": np.float32([1, 1, *scales])}, 19, 1e-4, **given)
        sizes = {"s": np.array([1, 2, 3, 5])}
        self.one("Resize", ["x", "", "", "s"], {"x": self.floats(1, 2, 5, 8)}, sizes, 19, 1e-4, mode="linear", antialias=1)

    def test_sizes_and_scales_of_some_axes(self):
        picture = {"x": self.floats(1, 2, 4, 6)}
        self.one("Resize", ["x", "", "", "s"], picture, {"s": np.array([8, 3])}, 18, axes=[2, 3], mode="linear")
        self.one("Resize", ["x", "", "s"], picture, {"s": np.array([2, 0.5], np.float32)}, 18, axes=[3, 2])
        self.one("Resize", ["x", "", "", "s"], picture, {"s": np.array([8, 9])}, 18, axes=[2, 3], keep_aspect_ratio_policy="not_larger")

    def test_quantised_operators(self):
        byte = lambda *shape: self.random.integers(0, 256, shape).astype(np.uint8)  # noqa: E731
        signed = lambda *shape: self.random.integers(-128, 128, shape).astype(np.int8)  # noqa: E731
        scale = lambda value: np.float32(value)  # noqa: E731
        weights = {"w": signed(4, 3, 3, 3), "xz": np.uint8(120), "wz": np.int8(0)}
        unsigned = {**weights, "w": byte(4, 3, 3, 3), "wz": np.uint8(3)}
        self.one("ConvInteger", ["x", "w", "xz", "wz"], {"x": byte(1, 3, 5, 5)}, unsigned, kind=INT32, pads=[1] * 4)
        weights |= {"xs": scale(0.1), "ws": np.array([0.1, 0.2, 0.3, 0.4], np.float32), "wz": np.zeros(4, np.int8), "ys": scale(9), "yz": np.uint8(128)}
        weights |= {"b": np.arange(4, dtype=np.int32) * 100}
        names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
        self.one("QLinearConv", names, {"x": byte(1, 3, 5, 5)}, weights, kind=UINT8, strides=[2, 2])
        weights = {"a": scale(0.1), "az": np.uint8(7), "w": byte(6, 4), "ws": scale(0.2), "wz": np.uint8(99), "ys": scale(20), "yz": np.uint8(3)}
        self.one("QLinearMatMul", ["x", "a", "az", "w", "ws", "wz", "ys", "yz"], {"x": byte(5, 6)}, weights, kind=UINT8)

    def test_operators_with_a_definition_become_others(self):
        self.one("CenterCropPad", ["x", "shape"], {"x": self.floats(4, 5)}, {"shape": np.array([2, 7])}, opset=18, axes=[0, 1])

    def test_functions_of_the_model_are_replaced(self):
        one = helper.make_node("Constant", [], ["c"], value_float=1.0)
        body = [helper.make_node("Mul", ["a", "a"], ["b"]), one, helper.make_node("Add", ["b", "c"], ["d"])]
        function = helper.make_function("own", "Square", ["a"], ["d"], body, [helper.make_opsetid("", 17)])
        nodes = [helper.make_node("Square", ["x"], ["s"], domain="own"), helper.make_node("Square", ["s"], ["y"], domain="own")]
        source = model(nodes, {"x": (FLOAT, [3])}, {"y": (FLOAT, [3])}, functions=[function])
        self.assertEqual(operators(self.agrees(source, {"x": self.floats(3)})), ["Mul", "Add"] * 2)

    def test_graphs_that_are_not_valid_are_refused(self):
        for node in (
            helper.make_node("Pow", ["x"], ["y"]),
            helper.make_node("OneHot", ["x"], ["y"]),
            helper.make_node("LSTM", ["x", "x"], ["y"]),
            helper.make_node("Loop", ["x"], ["y"]),
            helper.make_node("If", ["x"], ["y"]),
            helper.make_node("Constant", [], ["y"]),
        ):
            with self.subTest(operator=node.op_type), self.assertRaisesRegex(Failure, "the ONNX model is not valid: "):
                prepared(model([node], {"x": (FLOAT, [2, 2])}, {"y": (FLOAT, None)}))

    def test_an_operator_that_is_lacking_is_named_with_its_nodes(self):
        nodes = [helper.make_node("Det", ["x"], ["d"], name="first"), helper.make_node("Strange", ["d"], ["y"], domain="shop")]
        with self.assertRaisesRegex(Failure, r"does not import these operators: Det \(node first\); shop.Strange \(node y\)"):
            prepared(model(nodes, {"x": (FLOAT, [2, 2])}, {"y": (FLOAT, None)}))


if __name__ == "__main__":
    unittest.main()
