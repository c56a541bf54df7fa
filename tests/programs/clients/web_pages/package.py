"""The JavaScript package in Chromium: on the CPU, on WebGPU, in a worker, and under a content security policy."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "web"))

from digits import TVMJS, compiled  # noqa: E402

SOURCE = """
from tvm import relax

def emit(builder, name, shape, dtype, operate):
    x = relax.Var("x", relax.TensorType(shape, dtype))
    with builder.function(name, [x]):
        builder.emit_func_output(builder.emit(operate(x)))

builder = relax.BlockBuilder()
emit(builder, "main", (4,), "{dtype}", lambda x: relax.op.add(x, x))
emit(builder, "large", (1,), "{dtype}", lambda x: relax.op.broadcast_to(x, (48 << 20,)))
model = builder.get()
"""

with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    for name, dtype, target in ("cpu", "float32", "web"), ("webgpu", "float32", "web,webgpu"), ("halves", "float16", "web,webgpu"):
        source = place / f"{name}.py"
        source.write_text(SOURCE.format(dtype=dtype))
        status, output = compiled(source, target, place / name)
        assert status == 0, output
    subprocess.run(["node", HERE / "package.js", TVMJS, place], check=True)
