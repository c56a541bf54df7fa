"""Resize with scales that are not ratios of sizes, with antialiasing, and with sizes of some axes."""

import numpy

from onnx_graph.emit import Emitter, attributes

TOLERANCE = 1e-3
"""Difference of a size to that by its scale, a float32, up to which they agree."""
COORDINATES = {
    "half_pixel": lambda at, scale, size, out: (at + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda at, scale, size, out: size / 2 * (1 - out / (scale * size)) + (at + 0.5) / scale - 0.5,
    "pytorch_half_pixel": lambda at, scale, size, out: (at + 0.5) / scale - 0.5 if out > 1 else 0 * at,
    "align_corners": lambda at, scale, size, out: at * (size - 1) / max(1, out - 1),
    "asymmetric": lambda at, scale, size, out: at / scale,
}
"""Coordinates in the input, by those in the output."""


def replaced(node, folder):
    """Returns products with interpolation weights, where TVM would interpolate by the ratio of the sizes; or None."""
    given = attributes(node)
    shape, (scales, sizes) = folder.shape(node.input[0]), [*node.input[2:], "", ""][:2]
    mode = given.get("coordinate_transformation_mode", b"half_pixel").decode()
    if shape is None or (sizes or scales) not in folder.constants or mode not in COORDINATES:
        return None
    axes = [axis % len(shape) for axis in given.get("axes", range(len(shape)))]
    wanted = dict(zip(axes, folder.value(sizes or scales).tolist()))
    factors = ratios(wanted, shape, given) if sizes else wanted
    outs = {axis: int(factor * shape[axis] + (0.5 if sizes else 1e-6)) for axis, factor in factors.items()}
    if sizes and given.get("keep_aspect_ratio_policy", b"stretch") == b"stretch":
        outs = wanted
    emit = Emitter(node, folder)
    kind = given.get("mode", b"nearest").decode()
    is_exact = bool(sizes) or all(abs(outs[axis] - factor * shape[axis]) < TOLERANCE for axis, factor in factors.items())
    if kind == "nearest" or is_exact and not given.get("antialias") and mode != "half_pixel_symmetric":
        return stretched(emit, node, given, shape, outs, factors if not sizes else None)
    value = node.input[0]
    for axis, out in outs.items():
        if out != shape[axis] or factors[axis] != 1:
            weights = matrix(shape[axis], out, factors[axis], COORDINATES[mode], kind, given)
            value = multiplied(emit, value, weights.astype(folder.dtype(node.input[0])), axis, len(shape))
    return emit.results(value)


def ratios(wanted, shape, given):
    """Returns the scales of sizes."""
    scales = {axis: size / shape[axis] for axis, size in wanted.items()}
    policy = given.get("keep_aspect_ratio_policy", b"stretch")
    if policy == b"stretch":
        return scales
    return dict.fromkeys(scales, (min if policy == b"not_larger" else max)(scales.values()))


def stretched(emit, node, given, shape, outs, scales):
    """Returns the node with the sizes or scales of all axes, or None if it has them."""
    if "axes" not in given and given.pop("keep_aspect_ratio_policy", b"stretch") == b"stretch":
        return None
    kept = {name: value for name, value in given.items() if name not in ("axes", "keep_aspect_ratio_policy")}
    if scales is None:
        whole = emit.constant(numpy.array([outs.get(axis, extent) for axis, extent in enumerate(shape)], numpy.int64))
        return emit.results(emit("Resize", node.input[0], "", "", whole, **kept))
    whole = emit.constant(numpy.array([scales.get(axis, 1) for axis in range(len(shape))], numpy.float32))
    return emit.results(emit("Resize", node.input[0], "", whole, **kept))


def matrix(size, out, scale, coordinate, kind, given):
    """Returns the weight of each input element in each output element."""
    at = coordinate(numpy.arange(out, dtype=numpy.float64), scale, size, out)[:, None]
    # Antialiasing widens the kernel over the elements that one of the output covers.
    shrink = min(scale, 1) if given.get("antialias") else 1
    reach = int(numpy.ceil((1 if kind == "linear" else 2) / shrink))
    taps = numpy.floor(at).astype(int) + numpy.arange(-reach, reach + 1)
    weights = (linear if kind == "linear" else cubic(given.get("cubic_coeff_a", -0.75)))((taps - at) * shrink)
    if given.get("exclude_outside"):
        weights = numpy.where((taps >= 0) & (taps < size), weights, 0)
    weights /= weights.sum(1, keepdims=True)
    result = numpy.zeros((out, size))
    numpy.add.at(result, (numpy.arange(out)[:, None], numpy.clip(taps, 0, size - 1)), weights)
    return result


def linear(distance):
    return numpy.maximum(0, 1 - abs(distance))


def cubic(a):
    """Returns the cubic convolution kernel with this coefficient."""

    def weight(distance):
        d = abs(distance)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = a * (((d - 5) * d + 8) * d - 4)
        return numpy.where(d <= 1, near, numpy.where(d < 2, far, 0))

    return weight


def multiplied(emit, value, weights, axis, rank):
    """Multiplies along an axis, which becomes the last for the product."""
    order = [other for other in range(rank) if other != axis] + [axis]
    product = emit("MatMul", emit("Transpose", value, perm=order), emit.constant(numpy.ascontiguousarray(weights.T)))
    return emit("Transpose", product, perm=[order.index(at) for at in range(rank)])
