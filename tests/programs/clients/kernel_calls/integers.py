"""Products and convolutions of 8-bit integers become calls of the kernels, and are exact."""

import unittest

import numpy
import operators
from kernels.call import called
from operators import PACKER, RANDOM, N, kernels, loaded, results
from tvm import relax

op = relax.op


def integers(dtype, *extents):
    limits = numpy.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max + 1, extents).astype(dtype)


def model(shape, dtype, build):
    """Returns a module whose function applies `build` to an input of 8 bits."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType(list(shape), dtype))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(build(builder.emit, x))
        builder.emit_func_output(result)
    return builder.get()


def dequantized(emit, value, scale, zero, axis=-1):
    value = relax.const(value) if isinstance(value, numpy.ndarray) else value
    return emit(op.dequantize(value, relax.const(numpy.float32(scale)), relax.const(zero), axis=axis, out_dtype="float32"))


def quantized(value, scale, zero):
    return op.quantize(value, relax.const(numpy.float32(scale)), relax.const(zero), axis=0, out_dtype=str(zero.dtype))


def less(emit, x, zero, dtype):
    """Returns a tensor of 8 bits less its zero point, in a wider type."""
    return emit(op.subtract(emit(op.astype(x, dtype)), emit(op.astype(relax.const(zero), dtype))))


def convolved(x, weights, stride=1, pad=0, groups=1):
    """Returns the convolution of integers in i64."""
    x = numpy.pad(x.astype("int64"), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = numpy.lib.stride_tricks.sliding_window_view(x, weights.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    parts = zip(numpy.split(windows, groups, 1), numpy.split(weights.astype("int64"), groups))
    return numpy.concatenate([numpy.einsum("ncyxhw,ochw->noyx", window, weight) for window, weight in parts], 1)


def rounded(value, scale, zero):
    """Returns what QuantizeLinear does: rounding to nearest even, with saturation."""
    limits = numpy.iinfo(zero.dtype)
    return numpy.clip(numpy.rint(value / numpy.float32(scale)) + int(zero), limits.min, limits.max).astype(zero.dtype)


class IntegersAreMultiplied(unittest.TestCase):
    def check(self, expected, shape, dtype, build, exact, left=(), size=3):
        """Checks the kernels that a model calls, the operators that are left, and that results are exact, also of loops without kernels."""
        mod = model(shape, dtype, build)
        changed = kernels.use(mod, PACKER)
        self.assertEqual(called(changed), expected)
        self.assertEqual(operators.KernelsAreCalled.operators(self, changed), set(left))
        x = integers(dtype, *(size if extent is N else extent for extent in shape))
        for multiplied in (changed, kernels.use_integers(mod)):
            numpy.testing.assert_array_equal(results(loaded(multiplied), [x]), exact(x))

    def test_products_in_32_bits(self):
        weights, zero = integers("int8", 700, 7), numpy.uint8(130)
        build = lambda emit, x: op.matmul(less(emit, x, zero, "int32"), emit(op.astype(relax.const(weights), "int32")), "int32")  # noqa: E731
        self.check(["qdense"], (N, 4, 700), "uint8", build, lambda x: (x.astype("int64") - 130) @ weights)

    def test_zero_points_that_are_computed(self):
        weights = integers("int8", 20, 7)

        def build(emit, x):
            zero = emit(op.reshape(emit(op.strided_slice(x, [0, 1], [0, 0], [1, 1])), ()))
            wide = emit(op.subtract(emit(op.astype(x, "int32")), emit(op.astype(zero, "int32"))))
            return op.matmul(wide, relax.const(weights.astype("int32")), "int32")

        self.check(["qdense"], (3, 20), "int8", build, lambda x: (x.astype("int64") - x[0, 0]) @ weights, ["reshape", "strided_slice"])

    def test_products_by_a_computed_factor_with_bias(self):
        weights, bias = integers("int8", 20, 7), numpy.arange(7, dtype="float32")

        def build(emit, x):
            product = emit(op.matmul(less(emit, x, numpy.uint8(3), "int32"), relax.const(weights.astype("int32")), "int32"))
            scale = emit(op.multiply(emit(op.astype(emit(op.reshape(emit(op.strided_slice(x, [0, 1], [0, 0], [1, 1])), (1,))), "float32")), relax.const(0.5)))
            product = emit(op.multiply(emit(op.astype(product, "float32")), scale))
            return op.nn.relu(emit(op.add(product, relax.const(bias))))

        exact = lambda x: numpy.maximum((x.astype("int64") - 3) @ weights * (numpy.float32(0.5) * x[0, 0]) + bias, 0)  # noqa: E731
        self.check(["qdense"], (3, 20), "uint8", build, exact, ["reshape", "strided_slice", "astype", "multiply"])

    def test_flattened_inputs(self):
        weights = integers("int8", 12, 7)

        def build(emit, x):
            wide = less(emit, x, numpy.uint8(3), "float32")
            return op.matmul(emit(op.reshape(wide, (N, 12))), relax.const(weights.astype("float32")))

        exact = lambda x: (x.reshape(-1, 12).astype("int64") - 3) @ weights  # noqa: E731
        self.check(["qdense"], (N, 3, 4), "uint8", build, exact, ["reshape"])

    def test_dequantised_operands_whose_product_is_rounded(self):
        weights, bias, zero = integers("int8", 7, 20), RANDOM.integers(-999, 999, 7), numpy.int8(-5)
        scale, scales = numpy.float32(0.013), (RANDOM.random(7) + 0.5).astype("float32") / 99

        def build(emit, x):
            right = emit(op.permute_dims(dequantized(emit, weights, scales, numpy.zeros(7, "int8"), 0), [1, 0]))
            product = emit(op.matmul(dequantized(emit, x, scale, numpy.uint8(77)), right))
            product = emit(op.nn.relu(emit(op.add(product, relax.const((bias * (scale * scales)).astype("float32"))))))
            return quantized(product, 0.2, zero)

        def exact(x):
            sums = ((x.astype("int64") - 77) @ weights.T + bias).astype("float32")
            return rounded(numpy.maximum(sums * (scale * scales / numpy.float32(0.2)), 0), 1, zero)

        self.check(["qdense"], (N, 20), "uint8", build, exact)

    def test_convolutions_of_floats_that_are_integers(self):
        for groups, stride, dtype in ((1, 1, "uint8"), (2, 2, "int8"), (6, 1, "uint8")):
            weights, bias, zero = integers("int8", 12, 6 // groups, 3, 3), RANDOM.integers(-999, 999, 12), numpy.array(40, dtype)
            factor, out_zero = (RANDOM.random(12) + 0.5).astype("float32") / 99, numpy.uint8(128)

            def build(emit, x):
                value = emit(op.nn.conv2d(less(emit, x, zero, "float32"), relax.const(weights.astype("float32")), strides=stride, padding=1, groups=groups))
                value = emit(op.add(value, relax.const(bias.astype("float32").reshape(1, 12, 1, 1))))
                return quantized(emit(op.multiply(value, relax.const(factor.reshape(1, 12, 1, 1)))), 3.0, out_zero)

            def exact(x):
                sums = convolved(x.astype("int64") - 40, weights, stride, 1, groups) + bias.reshape(1, 12, 1, 1)
                return rounded(sums.astype("float32") * (factor / numpy.float32(3.0)).reshape(1, 12, 1, 1), 1, out_zero)

            self.check(["qconv2d"], (N, 6, 9, 8), dtype, build, exact)

    def test_convolutions_in_32_bits(self):
        weights = integers("int8", 4, 3, 3, 3)

        def build(emit, x):
            return op.astype(emit(op.nn.conv2d(less(emit, x, numpy.uint8(9), "float32"), relax.const(weights.astype("float32")))), "int32")

        self.check(["qconv2d"], (2, 3, 9, 8), "uint8", build, lambda x: convolved(x.astype("int64") - 9, weights))

    def test_convolutions_in_one_dimension_that_stay_floats(self):
        weights, scales = integers("uint8", 4, 3, 3), numpy.array([1, 0.5, 0.25, 2], "float32")

        def build(emit, x):
            right = dequantized(emit, weights, scales, numpy.full(4, 128, "uint8"), 0)
            return op.nn.gelu(emit(op.nn.conv1d(dequantized(emit, x, 0.125, numpy.uint8(9)), right)))

        def exact(x):
            sums = convolved(x[:, :, None].astype("int64") - 9, weights.astype("int64")[:, :, None] - 128)[:, :, 0]
            return sums * scales[:, None] * 0.125

        mod = model((2, 3, 9), "uint8", build)
        changed = kernels.use(mod, PACKER)
        self.assertEqual(called(changed), ["qconv2d"])
        x = integers("uint8", 2, 3, 9)
        value = exact(x)
        numpy.testing.assert_allclose(results(loaded(changed), [x]), numpy.where(value > 0, value, 0), atol=0.2)

    def test_weights_that_are_not_integers_stay(self):
        mod = model((1, 3, 9, 8), "uint8", lambda emit, x: op.nn.conv2d(emit(op.astype(x, "float32")), relax.const(operators.normal(4, 3, 3, 3))))
        self.assertEqual(called(kernels.use(mod, PACKER)), ["conv2d"])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in operators.sys.argv if argument != "upstream"])
