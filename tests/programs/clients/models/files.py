"""`ferrite model` compiles ONNX files of kinds that TVM's importer refuses, and compares their results with ONNX Runtime's."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOOL = pathlib.Path(__file__).resolve().parents[4] / "targets/model"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, WIDTH, SIZE = 24, 5, 8


def model(nodes, inputs, outputs, weights, opset=17):
    declared = [[helper.make_tensor_value_info(name, *kind) for name, kind in values.items()] for values in (inputs, outputs)]
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    return helper.make_model(helper.make_graph(nodes, "graph", *declared, constants), opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.random = np.random.default_rng(5)

    def floats(self, *shape):
        return 0.5 * self.random.standard_normal(shape).astype(np.float32)

    def run_tool(self, source, *options):
        onnx.save(source, self.folder / "model.onnx")
        command = [sys.executable, "-B", TOOL, self.folder / "model.onnx", "--target", "host", "-o", self.folder / "out", *options]
        # The compiler runs on upstream's library.
        return subprocess.run(list(map(str, command)), env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)

    def passes(self, source, *options):
        outcome = self.run_tool(source, *options)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return outcome.stdout

    def fails(self, message, source, *options):
        outcome = self.run_tool(source, *options)
        self.assertNotEqual(outcome.returncode, 0)
        self.assertRegex(outcome.stderr, message)
        self.assertNotIn("Traceback", outcome.stderr)

    def recurrent(self, number, kind, directions=1, **attributes):
        """Returns a node, its weights and its outputs."""
        gates = GATES[kind] * SIZE
        shapes = {"W": (gates, WIDTH), "R": (gates, SIZE), "B": (2 * gates,)}
        weights = {f"{name}{number}": self.floats(directions, *shape) for name, shape in shapes.items()}
        outputs = [f"{name}{number}" for name in ("Y", "Y_h", "Y_c")[: 3 if kind == "LSTM" else 2]]
        return helper.make_node(kind, ["x", *weights], outputs, hidden_size=SIZE, **attributes), weights, outputs

    def test_long_sequences_of_recurrent_operators(self):
        both = {"directions": 2, "direction": "bidirectional"}
        variants = [("LSTM", {}), ("LSTM", both), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("GRU", both), ("RNN", {"direction": "reverse"})]
        parts = [self.recurrent(number, kind, **options) for number, (kind, options) in enumerate(variants)]
        nodes, weights = [node for node, _, _ in parts], {name: value for _, part, _ in parts for name, value in part.items()}
        outputs = {name: (FLOAT, None) for _, _, names in parts for name in names}
        source = model(nodes, {"x": (FLOAT, [STEPS, "n", WIDTH])}, outputs, weights)
        printed = self.passes(source, "--shape", "n=2", "--against", "onnxruntime", "--tolerance", "1e-5")
        self.assertEqual(printed.count("difference "), len(outputs))

    def test_models_quantised_beforehand_are_exact(self):
        weights = {"xs": np.float32(0.02), "xz": np.uint8(120), "ys": np.float32(0.05), "yz": np.uint8(0), "zs": np.float32(0.1), "zz": np.uint8(99)}
        nodes = []

        def node(kind, inputs, output, **attributes):
            nodes.append(helper.make_node(kind, inputs, [output], **attributes))
            return output

        def rounded(value, step):
            return node("DequantizeLinear", [node("QuantizeLinear", [value, f"{step}s", f"{step}z"], f"{value}.q"), f"{step}s", f"{step}z"], f"{value}.dq")

        def weight(name, *shape):
            channels, scale = shape[0], (0.005 + 0.01 * self.random.random(shape[0])).astype(np.float32)
            weights[name] = self.random.integers(-128, 128, shape).astype(np.int8)
            weights.update({f"{name}.s": scale, f"{name}.z": np.zeros(channels, np.int8)})
            weights[f"{name}.b"] = self.random.integers(-999, 999, channels).astype(np.int32)
            weights.update({f"{name}.bs": scale * weights["xs" if name == "w" else "ys"], f"{name}.bz": np.zeros(channels, np.int32)})
            value = node("DequantizeLinear", [name, f"{name}.s", f"{name}.z"], f"{name}.dq", axis=0)
            return value, node("DequantizeLinear", [f"{name}.b", f"{name}.bs", f"{name}.bz"], f"{name}.b.dq", axis=0)

        value = node("Conv", [rounded("x", "x"), *weight("w", 8, 3, 3, 3)], "c", strides=[2, 2], pads=[1] * 4)
        value = node("Flatten", [rounded(node("Relu", [value], "r"), "y")], "f")
        value = rounded(node("Gemm", [value, *weight("v", 5, 8 * 16)], "g", transB=1), "z")
        printed = self.passes(model(nodes, {"x": (FLOAT, ["n", 3, 8, 8])}, {value: (FLOAT, None)}, weights), "--against", "onnxruntime", "--tolerance", "0")
        self.assertRegex(printed, "kernels +Ferrite's qconv2d, qdense\n")

    def test_models_quantised_at_run_time(self):
        weights = {"w": self.random.integers(-128, 128, (16, 8)).astype(np.int8), "ws": np.float32(0.01) * np.arange(1, 9, dtype=np.float32), "b": self.floats(8)}
        nodes = [
            helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
            helper.make_node("MatMulInteger", ["q", "w", "z"], ["sums"]),
            helper.make_node("Cast", ["sums"], ["real"], to=FLOAT),
            helper.make_node("Mul", ["s", "ws"], ["scale"]),
            helper.make_node("Mul", ["real", "scale"], ["scaled"]),
            helper.make_node("Add", ["scaled", "b"], ["biased"]),
            helper.make_node("Relu", ["biased"], ["y"]),
        ]
        printed = self.passes(model(nodes, {"x": (FLOAT, ["n", 16])}, {"y": (FLOAT, None)}, weights), "--against", "onnxruntime", "--tolerance", "1e-6")
        self.assertRegex(printed, "kernels +Ferrite's qdense\n")

    def test_a_branch_that_is_chosen_at_run_time(self):
        branches = {
            f"{name}_branch": helper.make_graph([helper.make_node(kind, ["x"], [name])], name, [], [helper.make_tensor_value_info(name, FLOAT, None)])
            for name, kind in (("then", "Relu"), ("else", "Neg"))
        }
        nodes = [helper.make_node("Cast", ["flag"], ["is_set"], to=TensorProto.BOOL), helper.make_node("If", ["is_set"], ["y"], **branches)]
        source = model(nodes, {"x": (FLOAT, ["n", 3]), "flag": (INT64, [])}, {"y": (FLOAT, None)}, {})
        for flag in (0, 1):
            np.save(self.folder / "x.npy", self.floats(1, 3))
            np.save(self.folder / "flag.npy", np.array(flag))
            self.passes(source, "--input", self.folder / "x.npy", "--input", self.folder / "flag.npy", "--against", "onnxruntime", "--tolerance", "0")

    def test_expected_results_of_a_file(self):
        source = model([helper.make_node("Mul", ["a.b", "w"], ["y"])], {"a.b": (FLOAT, ["n", 2])}, {"y": (FLOAT, None)}, {"w": np.float32([2, 3])})
        file = self.folder / "expected.npz"
        np.savez(file, **{"a.b": np.float32([[1, 2]]), "y": np.float32([[2, 6]])})
        self.assertIn("difference   0.0e+00 absolute, 0.0e+00 relative in the output y", self.passes(source, "--check", file))
        np.savez(file, **{"a.b": np.float32([[1, 2]]), "y": np.float32([[2, 5]])})
        self.fails("results differ by 1.0e\\+00 absolute, 2.0e-01 relative in the output y, more than --tolerance 0.001", source, "--check", file)
        self.passes(source, "--check", file, "--tolerance", "0.3")
        np.savez(file, **{"a.b": np.float32([[1, 2]]), "y": np.float32([[np.nan, 6]])})
        self.fails("results differ by inf", source, "--check", file)
        np.savez(file, x=np.float32([[1, 2]]))
        self.fails("has no array for the input a.b; it has: x", source, "--check", file)
        np.savez(file, **{"a.b": np.float32([[1, 2]]), "z": np.float32(0)})
        self.fails("has the results z; the model's are: y", source, "--check", file)

    def test_a_profile_has_a_row_for_each_operator(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Softmax", ["product"], ["y"])]
        source = model(nodes, {"x": (FLOAT, ["n", 64])}, {"y": (FLOAT, None)}, {"w": self.floats(64, 32)})
        printed = self.passes(source, "--shape", "n=16", "--profile")
        content = json.loads((self.folder / "out/profile.json").read_text())
        rows = {row["operator"]: row for row in content["operators"]}
        dense = rows["ferrite.dense 16x32"]
        self.assertEqual(dense["operations"], 2 * 16 * 64 * 32)
        self.assertEqual(dense["calls"], 1)
        self.assertTrue(any("softmax" in name for name in rows), rows)
        self.assertAlmostEqual(sum(row["share"] for row in rows.values()), 1, places=6)
        self.assertLess(0, min(content["seconds"], content["peak_flops"], content["peak_bytes"]))
        picture = (self.folder / "out/profile.svg").read_text()
        for name in rows:
            self.assertIn(name, printed)
            self.assertIn(name, picture)

    def test_an_operator_that_tvm_imports_in_part_is_named(self):
        # TVM has no blocked quantisation.
        node = helper.make_node("DequantizeLinear", ["x", "scale"], ["y"], name="blocks", axis=1, block_size=2)
        source = model([node], {"x": (TensorProto.INT8, [2, 4])}, {"y": (FLOAT, None)}, {"scale": self.floats(2, 2)}, opset=21)
        self.fails(r"TVM cannot import the operator DequantizeLinear \(node blocks\): .*blocked", source)


if __name__ == "__main__":
    unittest.main()
