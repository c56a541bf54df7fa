"""Elementary functions of float32 and float16 as polynomials, which LLVM vectorises. TVM calls the C library for each element.

Coefficients are minimax fits of the relative error by Lawson's iteration. The tests state the error of each function in units in
the last place. Infinities and NaNs are as in the C library; exp and sigmoid return 0 in place of subnormal numbers.
"""

import tvm_ffi
from tvm import ir, tirx

LEVEL = 11
"""Priority of these rules; TVM's own have 10."""
EXPM1 = (1.0, 0.4999999701976776, 0.16666506230831146, 0.041667137295007706, 0.008369140326976776, 0.0013888872927054763)
"""(exp(r) - 1) / r for |r| <= log(2) / 2, within 1.1e-8."""
ERF_ABOVE = (1.1283791065216064, 0.19040504097938538, 0.05274853855371475, 0.003765556262806058, 0.000284881389234215, 2.0500992832239717e-06)
ERF_BELOW = (1.0, 0.5020748376846313, 0.11410852521657944, 0.014969095587730408, 0.001162520726211369, 3.809176632785238e-05)
"""erf(x) / x is a quotient of polynomials of x * x for |x| <= 3.92, within 1.9e-8."""
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693145751953125, 1.428606765330187e-06
"""log(2) in two parts. The product of the first with an integer below 2**9 is exact."""
SMALLEST = -87.33654
"""Logarithm of the smallest normal number. Subnormal numbers would slow masked softmax down."""
installed = set()


def install():
    """Replaces TVM's lowering of these functions for CPUs in this process."""
    for name, rule in {"exp": exp, "sigmoid": sigmoid, "tanh": tanh, "erf": erf, "pow": power}.items():
        if name not in installed:
            installed.add(name)
            op = ir.Op.get(f"tirx.{name}")
            attributes = (f"{kind}.{step}" for kind in ("llvm", "default") for step in ("FLowerIntrinsic", "FLegalize"))
            earlier = next(filter(None, map(op.get_attr, attributes)), None)
            op.set_attr("llvm.FLowerIntrinsic", lowering(rule, earlier), LEVEL)


def lowering(rule, earlier):
    """Returns the lowering by `rule`; of types and exponents that it does not have by `earlier`."""

    def lower(call):
        dtype = str(call.ty.dtype)
        result = None
        if dtype.startswith(("float16", "float32")) and not is_guarded(call):
            steps = Steps()
            arguments = [steps.hoist(argument).astype(dtype.replace("16", "32", 1)) for argument in call.args]
            result = rule(steps, *arguments)
        if result is not None:
            return steps.then(result.astype(dtype))
        return call if earlier is None else earlier(call)

    return lower


def is_guarded(call):
    """Returns `true` if a lowered function is in a branch of the arguments, from where it cannot be hoisted."""

    def holds(kind):
        return lambda root: tvm_ffi.structural_walk(root, kind) is not None

    stop = tvm_ffi.VisitInterrupt
    has_let = holds((tirx.Let, lambda _: stop()))
    return holds((ir.Call, lambda inner: stop() if getattr(inner.op, "name", "").endswith(".if_then_else") and has_let(inner) else None))(call)


class Steps:
    """Intermediate values of an expression, in order. None contains a `Let` itself: TVM's analysis refuses to see a variable twice."""

    def __init__(self):
        self.values = []

    def name(self, value):
        """Returns a variable for a value that is used several times."""
        variable = tirx.Var("t", str(value.ty.dtype))
        self.values.append((variable, value))
        return variable

    def hoist(self, expression):
        """Returns an expression without the `Let`s in it."""
        found = []

        def collect(node):
            found.append((node.var, node.value))
            return node.body

        expression = tvm_ffi.structural_map(expression, (tirx.Let, collect))
        self.values += reversed(found)
        return expression

    def then(self, result):
        """Returns the expression that ends in `result`."""
        for variable, value in reversed(self.values):
            result = tirx.Let(variable, value, result)
        return result


def constant(value, like):
    return tirx.const(value, str(like.ty.dtype))


def fma(a, b, c):
    """Multiplies and adds, without reassociation."""
    b, c = (value if hasattr(value, "ty") else constant(value, a) for value in (b, c))
    return tirx.call_intrin(str(a.ty.dtype), "tirx.fma", a, b, c)


def polynomial(coefficients, x):
    *rest, last = coefficients
    result = constant(last, x)
    for coefficient in reversed(rest):
        result = fma(result, x, coefficient)
    return result


def clamped(steps, x, low, high):
    """Returns the nearest number of a range. NaN stays NaN, unlike with TVM's `max` and `min`."""
    x = steps.name(x)
    x = steps.name(tirx.Select(x < low, constant(low, x), x))
    return steps.name(tirx.Select(x > high, constant(high, x), x))


def reduced(steps, x):
    """Returns an integer n, as int32, and exp(r) - 1 where x = n * log(2) + r. The absolute value of `x` is below 128."""
    scaled = steps.name(x * constant(LOG2_E, x))
    # The comparison is false for NaN, whose conversion to an integer is not defined.
    scaled = steps.name(tirx.Select(scaled > -160.0, scaled, constant(-160.0, scaled)))
    half = constant(0.5, x)
    n = steps.name((scaled + tirx.Select(scaled < 0.0, -half, half)).astype(str(x.ty.dtype).replace("float", "int")))
    real = steps.name(n.astype(str(x.ty.dtype)))
    r = steps.name(fma(real, -LN2_LOW, fma(real, -LN2_HIGH, x)))
    return n, steps.name(polynomial(EXPM1, r) * r)


def power_of_two(n):
    """Returns 2**n for n from -127, whose result is 0, to 128, whose result is infinite."""
    return tirx.reinterpret(str(n.ty.dtype).replace("int", "float"), (n + 127) << 23)


def exp(steps, x):
    x = steps.name(x)
    n, q = reduced(steps, clamped(steps, x, SMALLEST, 89.0))
    # Two factors, since 2**128 has no finite representation. Their product is not reassociated.
    half = steps.name(n >> 1)
    factor = steps.name(power_of_two(half))
    # Selecting the result would let LLVM branch around all of this.
    other = steps.name(tirx.Select(x < SMALLEST, constant(0.0, x), power_of_two(n - half)))
    return fma(factor, q, factor) * other


def sigmoid(steps, x):
    return constant(1.0, x) / (exp(steps, -x) + 1.0)


def tanh(steps, x):
    """Returns e / (e + 2) where e = exp(2 * x) - 1."""
    n, q = reduced(steps, clamped(steps, x * 2.0, -20.0, 20.0))
    factor = steps.name(power_of_two(n))
    e = steps.name(fma(factor, q, factor - 1.0))
    return e / (e + 2.0)


def erf(steps, x):
    x = clamped(steps, x, -3.92, 3.92)
    square = steps.name(x * x)
    return clamped(steps, x * polynomial(ERF_ABOVE, square) / polynomial(ERF_BELOW, square), -1.0, 1.0)


def power(steps, x, exponent):
    """Multiplies, for the exponents 2, 3 and 4."""
    if not isinstance(exponent, tirx.FloatImm):
        return None
    x = steps.name(x)
    square = steps.name(x * x)
    return {2: square, 3: square * x, 4: square * square}.get(exponent.value)
