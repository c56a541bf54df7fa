"""Models whose dense operators are calls of Ferrite's kernels: each is compiled with and without them, and results are compared.

They run on Ferrite's library, or on upstream's if the argument is `upstream`. They need the archive of the kernels, which is built from
the clone if FERRITE_KERNELS does not name it.
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "targets/model"))
if "upstream" not in sys.argv:
    import ferrite_tvm_ffi  # noqa: F401 - first

import archive
import kernels
import numpy
import tvm
from kernels import link
from kernels.call import called
from tvm import relax

ARCHIVE = archive.path()
PACKER = kernels.Packer(ARCHIVE)
RANDOM = numpy.random.default_rng(0)
TOLERANCE = 1e-3


def normal(*extents):
    return RANDOM.standard_normal(extents).astype("float32")


def constant(*extents):
    return relax.const(normal(*extents))


def model(extents, build):
    """Returns a module whose function applies `build` to inputs of these extents."""
    builder = relax.BlockBuilder()
    inputs = [relax.Var(f"x{at}", relax.TensorType(list(shape), "float32")) for at, shape in enumerate(extents)]
    with builder.function("main", inputs):
        with builder.dataflow():
            result = builder.emit_output(build(builder.emit, *inputs))
        builder.emit_func_output(result)
    return builder.get()


def loaded(mod):
    """Returns the function of a module that is compiled to a library with its kernels."""
    executable = relax.build(mod, target="llvm")
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model.so")
        kernels.export_library(executable, path, ARCHIVE)
        return relax.VirtualMachine(tvm.runtime.load_module(path), tvm.cpu())["main"]


def results(function, values):
    return function(*map(tvm.runtime.tensor, values)).numpy()


N = tvm.tirx.Var("n", "int64")


class KernelsAreCalled(unittest.TestCase):
    def check(self, expected, extents, build, sizes=(1, 3), tolerance=TOLERANCE):
        """Checks the names of the kernels that a model calls, and that results are those of TVM's own code."""
        mod = model(extents, build)
        changed = kernels.use(mod, PACKER)
        self.assertEqual(sorted(called(changed)), sorted(expected))
        with_kernels, without = loaded(changed), loaded(mod)
        for n in sizes if any(N in shape for shape in extents) else sizes[:1]:
            values = [normal(*(n if extent is N else extent for extent in shape)) for shape in extents]
            numpy.testing.assert_allclose(results(with_kernels, values), results(without, values), rtol=tolerance, atol=tolerance)
        return changed

    def operators(self, mod):
        """Returns the operators that stay in a module."""
        names = []
        relax.analysis.post_order_visit(mod["main"], lambda expr: names.append(kernels.graph.operator(expr)))
        return {name for name in names if name} - {"call_dps_packed"}

    def test_a_product_with_constant_weights_takes_bias_residual_and_activation(self):
        def build(emit, x, y):
            product = emit(relax.op.matmul(x, constant(5, 7)))
            biased = emit(relax.op.add(constant(7), product))
            return relax.op.nn.relu(emit(relax.op.add(emit(relax.op.add(biased, y)), constant(7))))

        changed = self.check(["dense"], [(N, 4, 5), (N, 4, 7)], build)
        self.assertEqual(self.operators(changed), set())

    def test_constants_for_each_channel_become_part_of_weights(self):
        def build(emit, x):
            value = emit(relax.op.matmul(x, constant(5, 7)))
            value = emit(relax.op.subtract(relax.const(1.5), value))
            value = emit(relax.op.divide(value, relax.const(numpy.abs(normal(1, 7)) + 1)))
            return relax.op.sigmoid(emit(relax.op.add(value, constant(7))))

        changed = self.check(["dense"], [(N, 5)], build)
        self.assertEqual(self.operators(changed), set())

    def test_a_bias_that_is_an_input_is_taken(self):
        changed = self.check(["dense"], [(2, 5), (1, 7)], lambda emit, x, b: relax.op.add(emit(relax.op.matmul(x, constant(5, 7))), b))
        self.assertEqual(self.operators(changed), {"reshape"})

    def test_values_with_other_uses_are_kept(self):
        def build(emit, x):
            product = emit(relax.op.matmul(x, constant(5, 7)))
            return relax.op.multiply(emit(relax.op.exp(product)), emit(relax.op.nn.relu(product)))

        changed = self.check(["dense"], [(N, 5)], build)
        self.assertEqual(self.operators(changed), {"exp", "nn.relu", "multiply"})

    def test_a_residual_may_be_the_result_of_another_kernel(self):
        def build(emit, x):
            left = emit(relax.op.matmul(x, constant(5, 7)))
            return relax.op.add(left, emit(relax.op.matmul(x, constant(5, 7))))

        self.check(["dense", "dense"], [(N, 5)], build)

    def test_activations_are_recognised_however_they_are_spelt(self):
        op, number = relax.op, relax.const
        spellings = {
            "gelu": lambda emit, x: op.multiply(
                emit(op.multiply(x, emit(op.add(emit(op.erf(emit(op.divide(x, number(2**0.5))))), number(1.0))))), number(0.5)
            ),
            "gelu, halved first": lambda emit, x: op.multiply(
                emit(op.multiply(number(0.5), x)), emit(op.add(number(1.0), emit(op.erf(emit(op.multiply(x, number(0.5**0.5)))))))
            ),
            "silu": lambda emit, x: op.multiply(x, emit(op.sigmoid(x))),
            "hardswish": lambda emit, x: op.multiply(x, emit(op.divide(emit(op.clip(emit(op.add(x, number(3.0))), 0, 6)), number(6.0)))),
            "hardsigmoid": lambda emit, x: op.clip(emit(op.add(emit(op.divide(x, number(6.0))), number(0.5))), 0, 1),
            "leaky relu": lambda emit, x: op.nn.leakyrelu(x, 0.1),
            "leaky relu, by maximum": lambda emit, x: op.maximum(x, emit(op.multiply(number(0.25), x))),
            "clip": lambda emit, x: op.clip(x, -0.5, 0.75),
            "relu6": lambda emit, x: op.minimum(emit(op.nn.relu(x)), number(6.0)),
            "tanh": lambda emit, x: op.tanh(x),
        }
        for name, spelling in spellings.items():
            with self.subTest(name):
                changed = self.check(["dense"], [(N, 5)], lambda emit, x: spelling(emit, emit(op.matmul(x, constant(5, 7)))))
                self.assertEqual(self.operators(changed), set())

    def test_products_of_two_inputs_take_transposition_and_scale(self):
        def build(emit, a, b):
            product = emit(relax.op.matmul(a, emit(relax.op.permute_dims(b, [0, 2, 1]))))
            return relax.op.divide(product, relax.const(3.0))

        changed = self.check(["batch_matmul"], [(N, 4, 5), (N, 6, 5)], build)
        self.assertEqual(self.operators(changed), set())

    def test_products_that_broadcast(self):
        self.check(["batch_matmul"], [(N, 4, 5), (5, 6)], lambda emit, a, b: relax.op.matmul(a, b))
        self.check(["batch_matmul"], [(2, 3, 4, 5), (1, 1, 5, 6)], lambda emit, a, b: relax.op.matmul(a, b))
        self.check([], [(2, 3, 4, 5), (1, 3, 5, 6)], lambda emit, a, b: relax.op.matmul(a, b))

    def test_convolutions_with_batch_normalisation_and_residual(self):
        def build(emit, x, y):
            value = emit(relax.op.nn.conv2d(x, constant(4, 3, 3, 3), strides=2, padding=1))
            value = emit(relax.op.add(value, constant(1, 4, 1, 1)))
            variance = relax.const(numpy.abs(normal(4)) + 0.5)
            normalised = emit(relax.op.nn.batch_norm(value, constant(4), constant(4), constant(4), variance, axis=1, training=False))
            return relax.op.nn.relu(emit(relax.op.add(y, emit(normalised[0]))))

        changed = self.check(["conv2d"], [(N, 3, 9, 8), (N, 4, 5, 4)], build)
        self.assertEqual(self.operators(changed), set())

    def test_convolutions_with_groups_dilation_and_uneven_padding(self):
        for channels, groups in ((6, 6), (6, 2), (6, 1)):
            build = lambda emit, x: relax.op.nn.conv2d(  # noqa: E731
                x, constant(12, channels // groups, 3, 2), padding=(2, 0, 1, 3), dilation=(2, 1), groups=groups
            )
            self.check(["conv2d"], [(N, channels, 9, 8)], build)

    def test_convolutions_of_unknown_width(self):
        width = tvm.tirx.Var("n", "int64")
        mod = model([(1, 3, width)], lambda emit, x: relax.op.nn.conv1d(x, constant(4, 3, 3), padding=1))
        changed = kernels.use(mod, PACKER)
        self.assertEqual(called(changed), ["conv2d"])
        value = normal(1, 3, 17)
        numpy.testing.assert_allclose(results(loaded(changed), [value]), results(loaded(mod), [value]), rtol=TOLERANCE, atol=TOLERANCE)

    def test_convolutions_in_one_dimension_with_bias_and_residual(self):
        def build(emit, x, y):
            value = emit(relax.op.nn.conv1d(x, constant(4, 3, 3), strides=2, padding=(1, 2)))
            return relax.op.add(emit(relax.op.add(value, constant(1, 4, 1))), y)

        changed = self.check(["conv2d"], [(N, 3, 9), (N, 4, 5)], build)
        self.assertEqual(self.operators(changed), {"reshape"})

    def test_convolutions_with_channels_last(self):
        def build(emit, x):
            layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
            value = emit(relax.op.nn.conv2d(x, constant(3, 3, 3, 4), strides=2, padding=1, **layouts))
            value = emit(relax.op.nn.relu(emit(relax.op.add(value, constant(4)))))
            value = emit(relax.op.nn.conv2d(value, constant(3, 3, 1, 4), groups=4, **layouts))
            value = emit(relax.op.clip(emit(relax.op.add(value, constant(1, 1, 1, 4))), 0, 6))
            again = emit(relax.op.nn.conv2d(value, constant(1, 1, 4, 4), **layouts))
            return relax.op.nn.relu(emit(relax.op.add(again, value)))

        changed = self.check(["conv2d"] * 3, [(N, 9, 8, 3)], build)
        permutations = [value for value in kernels.graph.Graph(changed["main"]).values.values() if kernels.graph.operator(value) == "permute_dims"]
        # The input and the result are permuted.
        self.assertEqual((self.operators(changed), len(permutations)), ({"permute_dims"}, 2))

    def test_a_product_that_is_permuted_takes_what_follows(self):
        def build(emit, x, y):
            product = emit(relax.op.permute_dims(emit(relax.op.matmul(x, constant(5, 6))), [2, 0, 1]))
            product = emit(relax.op.add(emit(relax.op.add(product, constant(6, 1, 1))), y))
            return relax.op.nn.relu(emit(relax.op.permute_dims(product, [1, 0, 2])))

        changed = self.check(["dense"], [(N, 4, 5), (6, N, 4)], build)
        self.assertEqual(self.operators(changed), {"permute_dims"})

    def test_columns_become_rows(self):
        def build(emit, x, y):
            value = emit(relax.op.nn.conv2d(x, constant(4, 3, 3, 1), strides=(2, 1), padding=(1, 0, 2, 0)))
            return relax.op.add(value, y)

        changed = self.check(["conv2d"], [(N, 3, 9, 1), (N, 4, 5, 1)], build)
        self.assertEqual(self.operators(changed), {"reshape"})

    def test_an_epilogue_goes_on_after_reshapes_that_keep_channels(self):
        def build(emit, x, y):
            value = emit(relax.op.squeeze(emit(relax.op.nn.conv2d(x, constant(4, 3, 3, 1))), [3]))
            value = emit(relax.op.add(emit(relax.op.add(value, constant(4, 1))), y))
            return relax.op.nn.relu(emit(relax.op.strided_slice(value, [1], [0], [100])))

        self.assertEqual(self.operators(self.check(["conv2d"], [(N, 3, 9, 1), (N, 4, 7)], build)), {"reshape"})

        def apart(emit, x):
            value = emit(relax.op.reshape(emit(relax.op.matmul(x, constant(5, 6))), (2, 2, 3)))
            return relax.op.add(value, constant(3))

        self.assertEqual(self.operators(self.check(["dense"], [(2, 5)], apart)), {"reshape", "add"})

    def test_a_reversed_slice_stays(self):
        def build(emit, x):
            value = emit(relax.op.strided_slice(x, [1], [4], [-6], [-1]))
            return relax.op.matmul(value, constant(5, 6))

        self.assertEqual(self.operators(self.check(["dense"], [(2, 5)], build)), {"strided_slice"})

    def test_padding_by_zeros_becomes_part_of_a_convolution(self):
        def build(emit, x, value):
            return relax.op.nn.conv2d(emit(relax.op.nn.pad(x, [0, 0, 0, 0, 1, 2, 0, 3], pad_value=value)), constant(4, 3, 3, 3), padding=1)

        self.assertEqual(self.operators(self.check(["conv2d"], [(N, 3, 9, 8)], lambda emit, x: build(emit, x, 0.0))), set())
        self.assertEqual(self.operators(self.check(["conv2d"], [(N, 3, 9, 8)], lambda emit, x: build(emit, x, 1.0))), {"nn.pad"})

    def test_attention_with_scale_and_mask(self):
        def build(emit, q, k, v, mask):
            q, k, v = (emit(relax.op.permute_dims(x, [0, 2, 1, 3])) for x in (q, k, v))
            scores = emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [0, 1, 3, 2]))))
            scores = emit(relax.op.divide(scores, relax.const(4.0)))
            scores = emit(relax.op.add(mask, scores) if mask_first else relax.op.add(scores, mask))
            return relax.op.matmul(emit(relax.op.nn.softmax(scores)), v)

        for mask_first in (False, True):
            changed = self.check(["attention"], [(2, N, 3, 8)] * 3 + [(2, 1, 1, N)], build)
            self.assertEqual(self.operators(changed), {"permute_dims"})

    def test_attention_with_a_constant_mask(self):
        for extents in ((2, 3), (2,)):
            mask = constant(7, 5)

            def build(emit, q, k, v):
                scores = emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [*range(len(extents)), len(extents) + 1, len(extents)]))))
                return relax.op.matmul(emit(relax.op.nn.softmax(emit(relax.op.add(scores, mask)))), v)

            self.check(["attention"], [(*extents, 7, 8), (*extents, 5, 8), (*extents, 5, 8)], build)

    def test_attention_whose_key_is_permuted_at_once(self):
        def build(emit, q, k, v):
            scores = emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [0, 2, 3, 1]))))
            return relax.op.matmul(emit(relax.op.nn.softmax(scores, axis=3)), v)

        self.check(["attention"], [(2, 3, N, 8), (2, 5, 3, 8), (2, 3, 5, 8)], build)

    def test_attention_without_heads(self):
        def build(emit, q, k, v):
            scores = emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [0, 2, 1]))))
            return relax.op.matmul(emit(relax.op.nn.softmax(scores)), v)

        self.check(["attention"], [(6, N, 8), (6, 5, 8), (6, 5, 8)], build)

    def test_attention_whose_scores_are_used_twice_stays_apart(self):
        def build(emit, q, k, v):
            scores = emit(relax.op.nn.softmax(emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [0, 2, 1]))))))
            return relax.op.add(emit(relax.op.matmul(scores, v)), emit(relax.op.sum(scores)))

        self.check(["batch_matmul", "batch_matmul"], [(6, N, 8), (6, 5, 8), (6, 5, 8)], build)

    def test_attention_with_softmax_of_two_dimensions_and_a_scaled_query(self):
        def build(emit, q, k, v):
            q = emit(relax.op.multiply(q, relax.const(0.25)))
            scores = emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [0, 1, 3, 2]))))
            flat = emit(relax.op.nn.softmax(emit(relax.op.reshape(scores, (-1, 5)))))
            return relax.op.matmul(emit(relax.op.reshape(flat, (2, 3, 7, 5))), v)

        self.check(["attention"], [(2, 3, 7, 8), (2, 3, 5, 8), (2, 3, 5, 8)], build)

    def test_softmax_across_rows_is_not_attention(self):
        def build(emit, q, k, v):
            scores = emit(relax.op.matmul(q, emit(relax.op.permute_dims(k, [0, 1, 3, 2]))))
            flat = emit(relax.op.nn.softmax(emit(relax.op.reshape(scores, (-1, 35)))))
            return relax.op.matmul(emit(relax.op.reshape(flat, (2, 3, 7, 5))), v)

        self.check(["batch_matmul", "batch_matmul"], [(2, 3, 7, 8), (2, 3, 5, 8), (2, 3, 5, 8)], build)

    def test_the_operator_of_attention(self):
        for mask in (None, "TopLeft"):
            build = lambda emit, q, k, v: relax.op.nn.attention(q, k, v, causal_mask=mask)  # noqa: E731
            self.check(["attention"], [(2, 7, 3, 8)] * 3, build)
        build = lambda emit, q, k, v, bias: relax.op.nn.attention(q, k, v, bias, scale=0.5)  # noqa: E731
        self.check(["attention"], [(2, 7, 3, 8)] * 3 + [(2, 3, 7, 7)], build)

    def test_halves_are_calculated_in_float32(self):
        def half(*extents):
            return relax.const(0.25 * normal(*extents), "float16")

        def attention(emit, x):
            x = emit(relax.op.astype(x, "float16"))
            product = emit(relax.op.nn.relu(emit(relax.op.add(emit(relax.op.matmul(x, half(5, 5))), half(5)))))
            scores = emit(relax.op.matmul(product, emit(relax.op.permute_dims(x, [0, 2, 1]))))
            return relax.op.astype(emit(relax.op.matmul(emit(relax.op.nn.softmax(scores)), x)), "float32")

        def convolution(emit, x):
            product = emit(relax.op.nn.conv2d(emit(relax.op.astype(x, "float16")), half(4, 3, 3, 3)))
            return relax.op.astype(emit(relax.op.multiply(product, half(4, 1, 1))), "float32")

        self.check(["attention_float16", "dense_float16"], [(N, 4, 5)], attention, tolerance=1e-2)
        self.check(["conv2d_float16"], [(N, 3, 5, 4)], convolution, tolerance=1e-2)

    def test_products_of_integers_of_more_bits_are_exact_in_float32(self):
        def build(emit, x, weights, zero):
            value = emit(relax.op.astype(emit(relax.op.astype(x, "int8")), "int32"))
            value = emit(relax.op.subtract(value, emit(relax.op.astype(relax.const(zero, "int8"), "int32"))))
            product = emit(relax.op.matmul(value, relax.const(weights, "int32"), "int32"))
            return relax.op.astype(relax.op.add(product, relax.const(1, "int32")), "float32")

        weights = RANDOM.integers(-255, 256, (200, 7))
        values = [RANDOM.integers(-128, 128, (3, 200)).astype("float32")]
        mod = model([(N, 200)], lambda emit, x: build(emit, x, weights, -128))
        changed = kernels.use(mod, PACKER)
        self.assertEqual(called(changed), ["dense"])
        expected = (values[0].astype("int64") + 128) @ weights + 1
        numpy.testing.assert_array_equal(results(loaded(changed), values), expected)
        # Sums may exceed 2^24.
        mod = model([(N, 600)], lambda emit, x: build(emit, x, numpy.full((600, 7), 255), -128))
        self.assertEqual(called(kernels.use(mod, PACKER)), [])

    def test_products_of_integers_of_more_bits_may_become_floats(self):
        def build(emit, x):
            value = emit(relax.op.astype(emit(relax.op.astype(x, "uint8")), "int32"))
            product = emit(relax.op.matmul(value, relax.const(RANDOM.integers(-255, 256, (5, 7)), "int32"), "int32"))
            return relax.op.multiply(emit(relax.op.astype(product, "float32")), relax.const(0.5))

        mod = model([(N, 5)], build)
        changed = kernels.use(mod, PACKER)
        self.assertEqual((called(changed), self.operators(changed)), (["dense"], {"astype", "multiply"}))
        values = [RANDOM.integers(0, 256, (3, 5)).astype("float32")]
        numpy.testing.assert_array_equal(results(loaded(changed), values), results(loaded(mod), values))

    def test_libraries_contain_the_kernels_that_they_call(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "some.so"
            link.shared(path, ARCHIVE, ["attention", "dense"])
            self.assertEqual(link.defined(path), {"attention", "dense"})

    def test_archives_without_a_kernel_are_refused(self):
        with tempfile.NamedTemporaryFile() as archive, self.assertRaisesRegex(RuntimeError, f"{archive.name} lacks the kernels dense_float16: "):
            link.shared("unwritten.so", archive.name, ["dense_float16"])

    def test_other_types_stay(self):
        mod = model([(2, 3)], lambda emit, x: relax.op.matmul(emit(relax.op.astype(x, "float64")), relax.const(normal(3, 4), "float64")))
        self.assertEqual(called(kernels.use(mod, PACKER)), [])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "upstream"])
