"""Networks beside other runtimes: ONNX Runtime, TVM's default pipeline and PyTorch."""
