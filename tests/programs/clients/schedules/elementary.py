"""Elementary functions of compiled models: their largest error in units in the last place of float32, infinities, NaN and nesting."""

import math
import pathlib
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy
import tvm
from tvm import relax
from tvm.relax import op

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "targets/model"))

import processor  # noqa: E402
import schedule  # noqa: E402

FUNCTIONS = {
    "exp": (op.exp, numpy.exp, 1.5),
    "sigmoid": (op.sigmoid, lambda x: 1 / (1 + numpy.exp(-x)), 3),
    "tanh": (op.tanh, numpy.tanh, 3.5),
    "erf": (op.erf, numpy.vectorize(math.erf), 8),
}
SPECIAL = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 0, 88.7, 89, -87, -104, -1e9, 3e38, -3e38], "float32")
ARGUMENTS = numpy.concatenate(
    [
        numpy.linspace(-88, 89, 20011, dtype="float32"),
        numpy.linspace(-5, 5, 20011, dtype="float32"),
        numpy.float32(10.0) ** numpy.linspace(-30, 0, 5003, dtype="float32"),
        SPECIAL,
    ]
)


def applied(function, x, cpu=None):
    """Returns the result of a model that consists of a function."""
    target = tvm.target.Target(processor.target(cpu))
    builder = relax.BlockBuilder()
    argument = relax.Var("x", relax.TensorType(x.shape, str(x.dtype)))
    with builder.function("main", [argument]):
        with builder.dataflow():
            output = builder.emit_output(builder.normalize(function(argument)))
        builder.emit_func_output(output)
    with target:
        executable = relax.build(builder.get(), target=target, relax_pipeline=schedule.pipeline(target))
    return relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()


def ulps(result, exact):
    """Returns the largest error. Results below the smallest normal number are 0 or right."""
    normal = numpy.isfinite(exact) & (numpy.abs(exact) >= numpy.finfo("float32").tiny)
    rounded = exact.astype("float32")
    is_tiny = numpy.isfinite(exact) & ~normal
    assert (numpy.abs(result[is_tiny]) <= 2e-38).all()
    numpy.testing.assert_array_equal(result[~numpy.isfinite(rounded)], rounded[~numpy.isfinite(rounded)])
    normal &= numpy.isfinite(rounded)
    return (numpy.abs(result[normal] - exact[normal]) / numpy.spacing(numpy.abs(rounded[normal]))).max()


def errors():
    for name, (function, exact, limit) in FUNCTIONS.items():
        for cpu in (None, "x86-64"):
            with numpy.errstate(over="ignore"):
                expected = exact(ARGUMENTS.astype("float64"))
                error = ulps(applied(function, ARGUMENTS, cpu), expected)
            assert error <= limit, f"{name} for {cpu}: {error} ulp"
            print(f"ok      {name} for {cpu or 'the default'}: {error:.2f} ulp")


def halves():
    x = numpy.linspace(-8, 8, 1001).astype("float16")
    for name, (function, exact, _) in FUNCTIONS.items():
        numpy.testing.assert_allclose(applied(function, x), exact(x.astype("float64")), rtol=1e-3, atol=1e-7, err_msg=name)


def nesting():
    """Functions of functions, in branches too, compile and are right."""
    x = numpy.linspace(-2, 2, 1001, dtype="float32")
    result = applied(lambda v: op.tanh(op.exp(op.sigmoid(op.erf(v)))), x)
    inner = numpy.vectorize(math.erf)(x.astype("float64"))
    numpy.testing.assert_allclose(result, numpy.tanh(numpy.exp(1 / (1 + numpy.exp(-inner)))), rtol=1e-6)
    square = applied(lambda v: op.tanh(op.multiply(op.sigmoid(v), op.sigmoid(v))), x)
    numpy.testing.assert_allclose(square, numpy.tanh((1 / (1 + numpy.exp(-x.astype("float64")))) ** 2), rtol=1e-6)
    padded = applied(lambda v: op.exp(op.nn.pad(op.tanh(op.reshape(v, (7, 143))), [0, 0, 1, 1])), x)
    expected = numpy.exp(numpy.pad(numpy.tanh(x.reshape(7, 143)), [(0, 0), (1, 1)]))
    numpy.testing.assert_allclose(padded, expected, rtol=1e-6)


def powers():
    x = numpy.linspace(-3, 3, 1001, dtype="float32")
    for exponent in (2, 3, 4, 2.5, -1):
        with numpy.errstate(invalid="ignore"):
            expected = x.astype("float64") ** exponent
        result = applied(lambda v, e=exponent: op.power(v, relax.const(numpy.float32(e))), x)
        numpy.testing.assert_allclose(result, expected.astype("float32"), rtol=1e-6, err_msg=str(exponent))
    whole = applied(lambda v: op.power(op.abs(v), op.astype(op.astype(v, "int32"), "float32")), x)
    numpy.testing.assert_allclose(whole, numpy.abs(x.astype("float64")) ** numpy.trunc(x), rtol=1e-6)


for test in (errors, halves, nesting, powers):
    test()
