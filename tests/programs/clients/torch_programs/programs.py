"""`ferrite model` compiles networks of PyTorch: exported programs with open axes, and modules of Python files; results are PyTorch's."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch

TOOL = pathlib.Path(__file__).resolve().parents[4] / "targets/model"
NETWORK = """
import torch

class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(2, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.up, self.down = torch.nn.Linear(8, 32), torch.nn.Linear(32, 5)

    def forward(self, x):
        tokens = torch.relu(self.norm(self.convolution(x))).flatten(2).transpose(1, 2)
        heads = tokens.unsqueeze(1)
        tokens = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads).squeeze(1)
        return torch.softmax(self.down(torch.nn.functional.gelu(self.up(tokens.mean(1)))), -1)

torch.manual_seed(3)
model = Network().eval()
example_inputs = (torch.zeros(1, 2, 8, 8),)
"""
KERNELS = {"batch_matmul", "conv2d", "dense"}


def network():
    names = {}
    exec(NETWORK, names)
    return names["model"]


class Programs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder, self.network = pathlib.Path(scratch.name), network()

    def run_tool(self, file, *options):
        command = [sys.executable, "-B", TOOL, self.folder / file, "--target", "host", "--name", "network", "-o", self.folder / "out", *options]
        # The compiler runs on upstream's library.
        return subprocess.run(list(map(str, command)), env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)

    def check(self, file, *extents, options=()):
        """Compiles a network, and compares its results for an input of these extents with PyTorch's."""
        x = torch.randn(extents, generator=torch.Generator().manual_seed(5))
        with torch.inference_mode():
            np.savez(self.folder / "expected.npz", x=x.numpy(), output_0=self.network(x).numpy())
        outcome = self.run_tool(file, *options, "--check", self.folder / "expected.npz", "--tolerance", "1e-5")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn(f"main(x: float32[{', '.join(map(str, extents))}])", outcome.stdout)
        (line,) = (line for line in outcome.stdout.splitlines() if line.startswith("kernels"))
        self.assertLessEqual(KERNELS, {*line.replace(",", "").split()}, line)

    def export(self, **options):
        torch.export.save(torch.export.export(self.network, (torch.zeros(2, 2, 8, 8),), **options), self.folder / "network.pt2")

    def test_an_exported_program_with_an_open_batch(self):
        self.export(dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
        self.check("network.pt2", 1, 2, 8, 8)
        self.check("network.pt2", 4, 2, 8, 8, options=["--shape", "x=4,2,8,8"])

    def test_an_exported_program_with_static_shapes(self):
        self.export()
        self.check("network.pt2", 2, 2, 8, 8)

    def test_a_module_of_a_python_file(self):
        (self.folder / "network.py").write_text(NETWORK)
        self.check("network.py", 1, 2, 8, 8)

    def test_a_file_that_is_no_program_is_an_error(self):
        (self.folder / "network.pt2").write_bytes(b"no program")
        outcome = self.run_tool("network.pt2")
        self.assertNotEqual(outcome.returncode, 0)
        self.assertIn("is not a readable program of torch.export", outcome.stderr)
        self.assertNotIn("Traceback", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
