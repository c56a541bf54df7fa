"""Networks beside other runtimes: ONNX Runtime, TVM's default pipeline and PyTorch."""

from . import paths  # noqa: F401 - modules of the tree can be imported from here on
