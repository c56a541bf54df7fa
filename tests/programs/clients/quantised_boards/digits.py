"""Networks that ONNX Runtime quantises become firmware of the Cortex-M4F that sums bytes and classifies 20 pictures as ONNX Runtime does."""

import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat, QuantType

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1]
TOOL, NETWORK = HERE.parents[3] / "targets/model", PROGRAMS / "relax/cnn/digits.onnx"
FORMATS = {"QOperator": QuantFormat.QOperator, "QDQ": QuantFormat.QDQ}
PICTURES = 20
FLOAT_BYTES = 5480
"""Bytes of the weights in floats."""
STEP = 1 / 255
"""Step of the scores in 8 bits."""


def fixture(name, dtype):
    """Returns an array of the digits' fixture, which firmware includes, too."""
    text = (PROGRAMS / "aot/cnn_f32/data.h").read_text()
    numbers = re.search(rf"\b{name}\[\d+\] = {{([^}}]*)}}", text)[1]
    return np.array([word.rstrip("f") for word in re.findall(r"[-\d.e]+f?", numbers)], dtype)


IMAGES = fixture("cnn_f32_x", np.float32).reshape(PICTURES, 1, 1, 8, 8)
LABELS = fixture("cnn_f32_label", np.int64)


# Advice to prepare the graph, which this one does not need.
logging.getLogger().setLevel(logging.ERROR)


class Images(quantization.CalibrationDataReader):
    """The pictures, from which the ranges of values are known."""

    def __init__(self):
        self.left = list(IMAGES)

    def get_next(self):
        return {"x": self.left.pop()} if self.left else None


def quantised(folder, name):
    """Writes the network in 8 bits. Returns its path."""
    path = folder / f"{name}.onnx"
    quantization.quantize_static(NETWORK, path, Images(), FORMATS[name], per_channel=True, weight_type=QuantType.QInt8)
    return path


def on_onnx_runtime(path):
    """Returns the scores of each picture by the operators of the file, not fused."""
    settings = onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"x": image})[0] for image in IMAGES])


def firmware(path, place):
    """Compiles a network for the board. Returns what `ferrite model` prints."""
    command = [sys.executable, "-B", TOOL, path, "--target", "cortex-m4f", "--name", "digits", "-o", place]
    # The compiler runs on upstream's library.
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": ""}, check=True, stdout=subprocess.PIPE, text=True).stdout


def output(place):
    """Builds firmware, and returns what it prints in the emulator. Emulators write to standard error."""
    environment = os.environ | {"CFLAGS": f"-I {PROGRAMS / 'aot'}"}
    done = subprocess.run([place / "build.sh", "run"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def measured(text, name):
    """Returns the last of the numbers with a name."""
    return int(re.findall(rf"^{name}\W+(\d+)", text, re.M)[-1])


def flash(text):
    """Returns the bytes of flash in the table of `size`: text and data."""
    return sum(map(int, re.search(r"\bfilename\n +(\d+)\s+(\d+)", text).groups()))


def scores(text):
    lines = re.findall(r"^scores\|(.*)$", text, re.M)
    return np.array([line.split("|") for line in lines], np.uint32).view(np.float32)


class FirmwareClassifiesPictures(unittest.TestCase):
    def results(self, path):
        """Returns the scores by firmware of a network, and the bytes of its weights; checks the digits."""
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "board"
            plan = firmware(path, place)
            printed = output(place)
            self.assertIn(f"largest of {LABELS.max() + 1} values", printed)
            figures = {"flash": flash(printed), "arena": measured(plan, "arena"), "instructions": measured(printed, "instructions")}
            shutil.copyfile(HERE / "pictures.c", place / "main.c")
            found = scores(output(place))
        weights = measured(plan, "weights")
        print(path.stem, {"weights": weights, **figures})
        np.testing.assert_array_equal(found.argmax(1), LABELS)
        return found, weights

    def test_floats(self):
        found, weights = self.results(NETWORK)
        np.testing.assert_allclose(found, on_onnx_runtime(NETWORK), atol=1e-6)
        self.assertEqual(weights, FLOAT_BYTES)

    def test_dequantised_operands(self):
        with tempfile.TemporaryDirectory() as folder:
            path = quantised(pathlib.Path(folder), "QDQ")
            found, weights = self.results(path)
            np.testing.assert_array_equal(found, on_onnx_runtime(path))
        self.assertLess(3 * weights, FLOAT_BYTES)

    def test_operators_on_integers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = quantised(pathlib.Path(folder), "QOperator")
            found, weights = self.results(path)
            # ONNX Runtime's QLinearSoftmax multiplies by 254 in place of 255.
            np.testing.assert_allclose(found, on_onnx_runtime(path), atol=1.01 * STEP)
        self.assertLess(3 * weights, FLOAT_BYTES)


if __name__ == "__main__":
    unittest.main()
