"""Recognises activation functions by their values, however a model spells them."""

import math

import numpy
import tvm

from .graph import operator, same_shape, scalar

NONE, RELU, RELU6, SIGMOID, TANH, GELU, GELU_TANH, SILU, HARD_SWISH, HARD_SIGMOID, LEAKY_RELU, CLIP = range(12)
"""The codes of `targets/kernels`."""
CODES = range(NONE, CLIP + 1)
LARGEST = float(numpy.finfo("float32").max)
LONGEST = 12
"""Operators in the longest spelling."""
SAMPLES = numpy.concatenate([numpy.linspace(-9, 9, 181), [-1e3, -40, 40, 1e3]])
TOLERANCE = 2e-6

_erf = numpy.vectorize(math.erf)


def _sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def _gelu(x):
    return x * (1 + _erf(x / math.sqrt(2))) / 2


def _gelu_tanh(x):
    return x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


KNOWN = {
    RELU: lambda x: numpy.maximum(x, 0),
    RELU6: lambda x: numpy.clip(x, 0, 6),
    SIGMOID: _sigmoid,
    TANH: numpy.tanh,
    GELU: _gelu,
    GELU_TANH: _gelu_tanh,
    SILU: lambda x: x * _sigmoid(x),
    HARD_SWISH: lambda x: x * numpy.clip(x + 3, 0, 6) / 6,
    HARD_SIGMOID: lambda x: numpy.clip(x + 3, 0, 6) / 6,
}

OPERATORS = {
    "add": numpy.add,
    "subtract": numpy.subtract,
    "multiply": numpy.multiply,
    "divide": numpy.divide,
    "maximum": numpy.maximum,
    "minimum": numpy.minimum,
    "power": numpy.power,
    "clip": numpy.clip,
    "exp": numpy.exp,
    "erf": _erf,
    "tanh": numpy.tanh,
    "sigmoid": _sigmoid,
    "negative": numpy.negative,
    "abs": numpy.abs,
    "nn.relu": KNOWN[RELU],
    "nn.gelu": _gelu,
    "nn.gelu_tanh": _gelu_tanh,
    "nn.silu": KNOWN[SILU],
}


def recognise(graph, functions, start):
    """Returns the end of the activation function that begins at a variable, its code, and its two parameters; None without one."""
    values = {start: SAMPLES}
    found = None
    with numpy.errstate(all="ignore"):
        for var in _region(graph, start):
            if (value := _evaluate(graph.values[var], functions, values, start)) is None:
                break
            values[var] = value
            if _is_closed(graph, values, var) and (known := _identify(value)):
                found = var, *known
    return found


def _region(graph, start):
    """Yields variables in the order of their definitions, from the first use of `start` on."""
    block = graph.blocks[start]
    names = [binding.var for binding in block.bindings]
    reached = {start}
    for var in names[names.index(start) + 1 :]:
        used = {user for one in reached for user in graph.users.get(one, ())}
        if used <= reached or len(reached) > LONGEST:
            return
        if var in used:
            if not graph.is_free(var, start):
                return
            reached.add(var)
            yield var


def _is_closed(graph, values, end):
    """Returns `True` if nothing but `end` is used outside of the region."""
    return all(user in values for var in values if var is not end for user in graph.users.get(var, ()))


def _evaluate(call, functions, values, start):
    """Returns the values of an element-wise call at the samples; None for other calls."""
    name, arguments = operator(call), getattr(call, "args", ())
    if name == "call_tir":
        name, arguments = _extremum(functions, call), call.args[1].fields
    if name == "nn.leakyrelu":
        known = values.get(arguments[0])
        return known if known is None else numpy.where(known > 0, known, known * call.attrs.alpha)
    if name not in OPERATORS or not same_shape(call, start):
        return None
    operands = [_operand(argument, values) for argument in arguments]
    return None if any(operand is None for operand in operands) else OPERATORS[name](*operands)


def _operand(argument, values):
    if argument in values:
        return values[argument]
    if isinstance(argument, (tvm.tirx.IntImm, tvm.tirx.FloatImm)):
        return float(argument.value)
    return scalar(argument)


def _extremum(functions, call):
    """Returns `maximum` or `minimum` if a kernel calculates that of two tensors and nothing else; ONNX's Clip is imported as such."""
    store = functions[call.args[0]].body if isinstance(call.args[0], tvm.ir.GlobalVar) else None
    while hasattr(store, "body") or hasattr(store, "block"):
        store = store.body if hasattr(store, "body") else store.block
    if not isinstance(store, tvm.tirx.BufferStore):
        return None
    kind = {tvm.tirx.Max: "maximum", tvm.tirx.Min: "minimum"}.get(type(store.value))
    loads = [getattr(store.value, side, None) for side in ("a", "b")]
    plain = all(isinstance(load, tvm.ir.TensorLoad) and (len(load.indices) == 0 or _same(load.indices, store.indices)) for load in loads)
    return kind if plain else None


def _same(indices, others):
    return len(indices) == len(others) and all(index.same_as(other) for index, other in zip(indices, others))


def _identify(values):
    """Returns the code and the parameters of the function with these values at the samples."""
    for code, function in KNOWN.items():
        if _close(values, function(SAMPLES)):
            return code, 0, 0
    slope = float(values[-4] / SAMPLES[-4])
    if 0 < slope < 1 and _close(values, numpy.where(SAMPLES > 0, SAMPLES, slope * SAMPLES)):
        return LEAKY_RELU, slope, 0
    low, high = float(values.min()), float(values.max())
    if low < high and _close(values, numpy.clip(SAMPLES, low, high)) and not _close(values, SAMPLES):
        return CLIP, -LARGEST if low <= SAMPLES.min() else low, LARGEST if high >= SAMPLES.max() else high
    return None


def _close(a, b):
    return numpy.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)
