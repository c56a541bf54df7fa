"""Networks whose weights ONNX Runtime quantises to 8 bits: MiniLM with ranges of this run, the digits' CNN with those of examples."""

import logging

from onnxruntime import quantization
from onnxruntime.quantization import QuantType

from . import examples

SOURCES = {"digits-int8": "digits", "minilm-int8": "minilm"}
"""Networks by the name of what is quantised."""
DYNAMIC = {"minilm-int8"}
"""Networks whose ranges are those of a run: where floats differ in the last place, so may roundings to 8 bits."""
OPERATORS = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger"}
"""Operators of these networks on 8 bits."""
EXAMPLES = 8


def write(folder, paths, names):
    """Writes those of some networks that are quantised. Returns their paths by name."""
    # Advice to prepare the graph, which these do not need.
    logging.getLogger().setLevel(logging.ERROR)
    found = {name: folder / f"{name}.onnx" for name in SOURCES if name in names}
    for name, path in found.items():
        source = str(paths[SOURCES[name]])
        if name == "digits-int8":
            quantization.quantize_static(source, str(path), Examples(SOURCES[name]), per_channel=True, weight_type=QuantType.QInt8)
        else:
            quantization.quantize_dynamic(source, str(path), weight_type=QuantType.QInt8)
    return found


class Examples(quantization.CalibrationDataReader):
    """Example inputs from which the ranges of values are known."""

    def __init__(self, name):
        self.left = [examples.arrays(name, 1)] * EXAMPLES

    def get_next(self):
        return self.left.pop() if self.left else None
