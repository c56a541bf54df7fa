"""Operators compiled with the schedules of `ferrite model`: results equal those of TVM's loops, and loops are vectorised.

Shapes are fixed, known at run time only, prime, empty and one. Also: functions that the schedules leave as they are.
"""

import pathlib
import re
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy
import tvm
from tvm import relax, tirx
from tvm.relax import op
from tvm.script import tirx as T

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "targets/model"))

import processor  # noqa: E402
import schedule  # noqa: E402

RANDOM = numpy.random.default_rng(43)
TARGET = tvm.target.Target(processor.target())
VECTOR = re.compile(r"(?:load|fadd|fmul|fcmp|shufflevector|maxnum)[^\n]*<(?:4|8|16|32|64) x (?:float|i64|i32|half)>")


def constant(value):
    return relax.const(numpy.float32(value))


def normalised(b, x, gain, bias):
    """Layer normalisation as PyTorch exports it to ONNX."""
    centred = b(op.subtract(x, b(op.mean(x, [-1], keepdims=True))))
    variance = b(op.mean(b(op.power(centred, constant(2))), [-1], keepdims=True))
    return op.add(b(op.multiply(b(op.divide(centred, b(op.sqrt(b(op.add(variance, constant(1e-5))))))), gain)), bias)


def batch_norm(b, x, *parameters):
    return relax.TupleGetItem(b(op.nn.batch_norm(x, *parameters, axis=1, training=False)), 0)


def attention_weights(b, x, mask):
    return op.nn.softmax(b(op.add(b(op.multiply(x, constant(0.125))), mask)), axis=-1)


OPERATORS = {
    "gelu": (lambda b, x, bias: op.nn.gelu(b(op.add(x, bias))), [("n", 37, 1536), (1536,)]),
    "gelu by tanh": (lambda b, x: op.nn.gelu_tanh(x), [("n", 37, 96)]),
    "silu": (lambda b, x: op.nn.silu(x), [("n", 37, 96)]),
    "hard swish": (lambda b, x: op.multiply(x, b(op.divide(b(op.clip(b(op.add(x, constant(3))), 0, 6)), constant(6)))), [("n", 16, 7, 7)]),
    "layer norm": (lambda b, x, y, g, c: op.nn.layer_norm(b(op.add(x, y)), g, c, axes=[-1]), [("n", 12, 384), ("n", 12, 384), (384,), (384,)]),
    "layer norm of ONNX": (normalised, [("n", 12, 384), (384,), (384,)]),
    "RMS norm": (lambda b, x, g: op.nn.rms_norm(x, g, axes=[-1]), [("n", 12, 384), (384,)]),
    "group norm": (lambda b, x, g, c: op.nn.group_norm(x, g, c, num_groups=4, channel_axis=1, axes=[2, 3]), [("n", 16, 14, 14), (16,), (16,)]),
    "batch norm": (batch_norm, [("n", 24, 28, 28), (24,), (24,), (24,), (24,)]),
    "softmax": (attention_weights, [("n", 12, 64, 128), ("n", 1, 1, 128)]),
    "softmax of 10": (lambda b, x: op.nn.softmax(x), [("n", 10)]),
    "softmax of one": (lambda b, x: op.nn.softmax(b(op.concat([x, x], 0))), [("n", 1)]),
    "mean of one": (lambda b, x: op.exp(b(op.mean(x, [2, 3]))), [("n", 16, 1, 1)]),
    "softmax along channels": (lambda b, x: op.nn.softmax(x, axis=1), [("n", 21, 32, 32)]),
    "log softmax": (lambda b, x: op.nn.log_softmax(x), [("n", 1000)]),
    "sum of rows": (lambda b, x: op.sum(x, [-1]), [("n", 1000)]),
    "sum of columns": (lambda b, x: op.sum(x, [0]), [("n", 1000)]),
    "sum of all": (lambda b, x: op.sum(x), [("n", 1000)]),
    "maximum of rows": (lambda b, x: op.max(x, [-1]), [("n", 1024)]),
    "minimum of columns": (lambda b, x: op.min(x, [0]), [("n", 1024)]),
    "maximum pooling": (lambda b, x: op.nn.max_pool2d(x, (3, 3), (2, 2), (1, 1, 1, 1)), [("n", 16, 56, 56)]),
    "average pooling": (lambda b, x: op.nn.avg_pool2d(x, (2, 2), (2, 2)), [("n", 16, 28, 28)]),
    "global pooling": (lambda b, x: op.mean(x, [2, 3], keepdims=True), [("n", 96, 7, 7)]),
    "adaptive pooling": (lambda b, x: op.nn.adaptive_avg_pool2d(x, (7, 7)), [("n", 16, 14, 14)]),
    "linear resize": (lambda b, x: op.image.resize2d(x, (56, 56), layout="NCHW", method="linear"), [("n", 16, 28, 28)]),
    "transposition": (lambda b, x: op.permute_dims(x, [0, 2, 1, 3]), [("n", 128, 12, 32)]),
    "concatenation": (lambda b, x, y: op.concat([x, y], 1), [("n", 16, 28, 28), ("n", 8, 28, 28)]),
    "padding": (lambda b, x: op.nn.pad(x, [0, 0, 0, 0, 1, 1, 1, 1]), [("n", 16, 28, 28)]),
    "matrix product": (lambda b, x, y: op.matmul(x, y), [("n", 33, 96), (96, 80)]),
    "product with transposed": (lambda b, x, y: op.matmul(x, b(op.permute_dims(y))), [("n", 33, 96), (80, 96)]),
    "convolution": (lambda b, x, w: op.nn.relu(b(op.nn.conv2d(x, w, padding=(1, 1)))), [("n", 8, 28, 28), (16, 8, 3, 3)]),
    "depthwise convolution": (lambda b, x, w: op.nn.conv2d(x, w, padding=(1, 1), groups=16), [("n", 16, 28, 28), (16, 1, 3, 3)]),
    "transposed convolution": (lambda b, x, w: op.nn.conv2d_transpose(x, w, strides=(2, 2)), [("n", 8, 14, 14), (8, 4, 2, 2)]),
}

UNUSUAL = {
    "cumulative sum": (lambda b, x: op.cumsum(x, 1), [("n", 40)]),
    "indices of maxima": (lambda b, x: op.argmax(x, -1), [("n", 40)]),
    "indices of minima": (lambda b, x: op.argmin(x, 0), [("n", 40)]),
    "products": (lambda b, x: op.prod(x, [-1]), [("n", 40)]),
    "maximum of outer axes": (lambda b, x: op.max(x, [0, 2]), [("n", 8, 16)]),
    "maximum of integers": (lambda b, x: op.max(op.astype(x, "int32"), [-1]), [("n", 64)]),
    "softmax of float16": (lambda b, x: op.nn.softmax(op.astype(x, "float16")), [("n", 64)]),
    "tanh of float64": (lambda b, x: op.tanh(op.astype(x, "float64")), [("n", 10)]),
    "three-dimensional convolution": (lambda b, x, w: op.nn.conv3d(x, w), [("n", 4, 8, 8, 8), (8, 4, 3, 3, 3)]),
    "convolution of channels last": (lambda b, x, w: op.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI"), [("n", 14, 14, 8), (16, 3, 3, 8)]),
    "dilated groups": (lambda b, x, w: op.nn.conv2d(x, w, groups=2, strides=(2, 2), dilation=(2, 2)), [("n", 8, 14, 14), (16, 4, 3, 3)]),
    "wide pooling": (lambda b, x: op.nn.max_pool2d(x, (7, 7), (1, 1), (3, 3, 3, 3)), [("n", 8, 32, 32)]),
    "product with a vector": (lambda b, x, y: op.matmul(x, y), [("n", 64), (64,)]),
    "attention": (lambda b, q, k, v: op.nn.attention(q, k, v), [("n", 8, 4, 16)] * 3),
    "cubic resize": (lambda b, x: op.image.resize2d(x, (13, 17), layout="NCHW", method="cubic"), [("n", 4, 8, 8)]),
    "flip": (lambda b, x: op.flip(x, 1), [("n", 40)]),
    "scalar": (lambda b, x: op.exp(x), [()]),
}
"""Operators whose loops need not be vectorised."""


def module(build, shapes, batch=None):
    """Returns a module with an operator. The extent `n` is `batch`, or known at run time only."""
    n = tirx.Var("n", "int64") if batch is None else batch
    builder = relax.BlockBuilder()
    inputs = [relax.Var(f"x{i}", relax.TensorType([n if e == "n" else e for e in shape], "float32")) for i, shape in enumerate(shapes)]
    with builder.function("main", inputs):
        with builder.dataflow():
            output = builder.emit_output(builder.normalize(build(builder.emit, *inputs)))
        builder.emit_func_output(output)
    return builder.get()


def compiled(mod, with_schedules):
    with TARGET:
        pipeline = schedule.pipeline(TARGET) if with_schedules else "default"
        return relax.build(mod, target=TARGET, relax_pipeline=pipeline)


def arrays(shapes, batch):
    return [RANDOM.standard_normal([batch if e == "n" else e for e in shape], "float32") for shape in shapes]


def called(executable, inputs):
    machine = relax.VirtualMachine(executable, tvm.cpu())
    return machine["main"](*map(tvm.runtime.tensor, inputs)).numpy()


def code(mod):
    return mod.inspect_source("ll") if mod.kind == "llvm" else "".join(map(code, mod.imports))


def check(name):
    build, shapes = (OPERATORS | UNUSUAL)[name]
    if name == "batch norm":
        # A variance is positive.
        build = lambda b, *inputs: batch_norm(b, *inputs[:-1], b(op.abs(inputs[-1])))  # noqa: E731
    fixed = compiled(module(build, shapes, 2), True)
    open_, plain = (compiled(module(build, shapes), scheduled) for scheduled in (True, False))
    vectors = len(VECTOR.findall(code(fixed.mod)))
    if name in OPERATORS:
        assert vectors > 0, f"{name} has no vector instructions"
        # TVM's own loops leave the sum of no terms unwritten.
        assert numpy.isfinite(called(open_, arrays(shapes, 0))).all(), name
    for batch in (2, 1, 5):
        inputs = arrays(shapes, batch)
        expected = called(plain, inputs)
        results = [called(open_, inputs)] + ([called(fixed, inputs)] if batch == 2 else [])
        exact = 5e-3 if expected.dtype == "float16" else 1e-4
        for result in results:
            numpy.testing.assert_allclose(result, expected, rtol=exact, atol=1e-4 * (1 + numpy.abs(expected).max(initial=0)), err_msg=name)
    print(f"ok      {name}: {vectors} vector instructions")


def check_refused():
    """A kernel with loops of another kind stays as it is."""

    @T.prim_func(s_tir=True)
    def countdown(x: T.Buffer((8,), "float32")):
        for i in range(8):
            x[7 - i] = x[7 - i] + T.float32(1)

    from schedule import kernel

    assert kernel.scheduled(countdown).same_as(countdown)


for operator in sys.argv[1:] or OPERATORS | UNUSUAL:
    check(operator)
check_refused()
