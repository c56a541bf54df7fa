"""`ferrite model` compiles networks that Python files describe, with weights of safetensors; open axes get static sizes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ferrite_tvm_ffi  # noqa: F401 - first: tvm_ffi then runs on its library
import numpy as np
from runtimes.paths import TOOL
from tvm import relax, tirx

import static_shapes
from failure import Failure

NETWORK = """
from tvm.relax.frontend import nn

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 2, bias=False)

    def forward(self, x):
        return self.down(nn.op.silu(self.up(x)))

model = Network()
"""
SPEC = 'spec = {"forward": {"x": nn.spec.Tensor((3, 4), "float32")}}'
SHAPES = {"up.weight": (8, 4), "up.bias": (8,), "down.weight": (2, 8)}


def safetensors(tensors):
    """Returns the content of a file with tensors of float32."""
    table, at = {}, 0
    for name, tensor in tensors.items():
        table[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(tensor.tobytes() for tensor in tensors.values())


class Weights(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        random = np.random.default_rng(5)
        self.tensors = {name: random.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
        x = random.standard_normal((3, 4)).astype(np.float32)
        up = x @ self.tensors["up.weight"].T + self.tensors["up.bias"]
        np.savez(self.folder / "expected.npz", x=x, output_0=up / (1 + np.exp(-up)) @ self.tensors["down.weight"].T)
        (self.folder / "weights.safetensors").write_bytes(safetensors(self.tensors))

    def run_tool(self, source, *options):
        (self.folder / "network.py").write_text(source)
        command = [sys.executable, "-B", TOOL, self.folder / "network.py", "--target", "host", "-o", self.folder / "out", *options]
        # The compiler runs on upstream's library.
        return subprocess.run(list(map(str, command)), env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)

    def test_weights_of_a_file_are_constants(self):
        outcome = self.run_tool(NETWORK + SPEC, "--weights", self.folder / "weights.safetensors", "--check", self.folder / "expected.npz")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("forward(x: float32[3, 4])", outcome.stdout)

    def test_weights_stay_inputs_without_a_file(self):
        outcome = self.run_tool(NETWORK + SPEC)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("forward(x: float32[3, 4], up.weight: float32[8, 4], up.bias: float32[8], down.weight: float32[2, 8])", outcome.stdout)

    def test_what_does_not_fit_is_an_error(self):
        options = "--weights", self.folder / "weights.safetensors"
        for source, message in (
            (NETWORK, "defines no variable `spec`"),
            (NETWORK.replace("self.down", "self.last") + SPEC, "lacks the tensors last.weight; it has: down.weight, up.bias, up.weight"),
            (NETWORK.replace("8", "9") + SPEC, r"the tensor up.weight has the shape \[8, 4\], and the model means \[9, 4\]"),
            ("model = 1", "`model` is a builtins.int; --weights is for"),
        ):
            outcome = self.run_tool(source, *options)
            self.assertNotEqual(outcome.returncode, 0)
            self.assertRegex(outcome.stderr, message)
            self.assertNotIn("Traceback", outcome.stderr)


class Shapes(unittest.TestCase):
    def setUp(self):
        batch, length = (tirx.Var(name, "int64") for name in ("n", "t"))
        builder = relax.BlockBuilder()
        x, y = (relax.Var(name, relax.TensorType(shape, "float32")) for name, shape in (("x", [batch, length]), ("y", [batch, 3])))
        with builder.function("main", [x, y]):
            builder.emit_func_output(builder.normalize(relax.op.add(relax.op.sum(x, 1, keepdims=True), y)))
        self.mod = builder.get()

    def shapes(self, **given):
        main = static_shapes.fixed(self.mod, given)["main"]
        return [static_shapes.dims(parameter) for parameter in main.params]

    def test_a_batch_is_one_unless_it_is_given(self):
        self.assertEqual(self.shapes(t=[5]), [[1, 5], [1, 3]])
        self.assertEqual(self.shapes(x=[4, 5]), [[4, 5], [4, 3]])

    def test_sizes_that_contradict_or_lack_are_refused(self):
        for given, message in (
            ({}, r"sizes t of the inputs are open: x\[n, t\], y\[n, 3\]"),
            ({"z": [1]}, r"no input z; its inputs are: x\[n, t\], y\[n, 3\]"),
            ({"x": [1, 2], "y": [2, 3]}, r"does not fit the input"),
            ({"y": [1, 4]}, r"does not fit the input y\[n, 3\]"),
            ({"x": [1]}, r"does not fit the input x\[n, t\]"),
        ):
            with self.assertRaisesRegex(Failure, message):
                self.shapes(**given)


if __name__ == "__main__":
    unittest.main()
