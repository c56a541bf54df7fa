"""usage: digits.py FOLDER

Trains a network on digits as people draw them, by NumPy on one core, and writes digits.onnx. The
pictures are drawn here: outlines of each digit whose points move at random. Two runs on one
machine give the same file."""

import os
import pathlib
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # Read when NumPy is imported.

import numpy  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

# Strokes of each way to draw a digit: points in percent from the left and from the top. A stroke
# that begins with `-` has corners, others are smooth.
OUTLINES = {
    0: ["50,0 10,20 0,50 10,80 50,100 90,80 100,50 90,20 50,0", "60,2 15,15 5,60 30,98 75,90 95,50 80,10 50,0 40,6"],
    1: ["- 50,0 50,50 50,100", "- 20,25 55,0 55,100", "- 25,22 50,0 50,100 / - 20,100 80,100", "- 65,0 50,50 35,100"],
    2: ["5,25 25,2 70,2 90,25 70,55 30,80 / - 30,80 5,100 95,100", "5,20 50,0 90,25 60,65 15,95 10,85 30,80 60,98 95,95",
        "10,15 50,0 90,20 75,50 40,75 5,98 50,96 95,100"],
    3: ["5,12 45,0 88,20 75,42 40,48 80,55 95,75 60,98 5,90", "- 8,0 90,0 45,40 / 45,40 90,55 90,85 45,100 5,88",
        "10,10 60,0 85,22 45,45 50,50 95,72 55,100 0,85"],
    4: ["- 60,0 0,65 100,65 / - 70,35 70,100", "- 25,0 5,60 95,60 / - 75,0 70,100", "- 75,100 75,0 0,70 100,70",
        "- 15,0 15,50 85,50 / - 85,0 85,100"],
    5: ["- 90,0 15,0 10,45 / 10,45 50,35 92,60 80,92 40,100 0,88", "- 15,0 10,45 / 10,45 55,38 95,65 70,98 0,92 / - 15,0 95,2",
        "85,2 30,5 12,40 60,42 92,68 60,100 5,92"],
    6: ["75,0 30,25 5,65 25,98 75,95 90,70 60,52 25,60 8,78", "60,0 15,45 8,80 45,100 90,80 75,55 35,55 10,75"],
    7: ["- 0,0 100,0 40,100", "- 5,0 95,0 55,50 45,100", "- 0,0 95,0 40,100 / - 25,50 85,50", "- 5,18 5,0 95,0 45,100", "5,5 50,3 95,5 60,50 40,100"],
    8: ["85,12 45,0 12,20 50,48 92,75 50,100 8,78 50,48 88,22 70,4 45,0",
        "50,0 15,22 50,46 85,22 50,0 / 50,46 5,75 50,100 95,75 50,46", "50,50 15,25 50,0 85,25 50,50 10,75 50,100 90,75 50,50"],
    9: ["90,25 50,0 10,25 40,52 85,30 92,20 / - 92,10 85,100", "85,15 40,0 8,28 45,50 88,25 / 90,10 92,60 70,95 25,98",
        "88,30 55,52 10,30 45,0 85,15 90,50 75,100"],
}
SIDE, MARGIN, DOTS = 16, 2.5, 96
HIDDEN, BATCH, STEPS = 96, 64, 4000


def sampled(outline):
    """Returns a matrix that takes an outline's points to dots along its strokes, and the points."""
    strokes = [stroke.split() for stroke in outline.split(" / ")]
    corners = [stroke[0] == "-" for stroke in strokes]
    strokes = [[[float(one) / 100 for one in point.split(",")] for point in stroke if point != "-"] for stroke in strokes]
    points = numpy.array(sum(strokes, []))
    firsts = numpy.cumsum([0] + [len(stroke) for stroke in strokes])
    lengths = [[numpy.hypot(*numpy.subtract(b, a)) for a, b in zip(stroke, stroke[1:])] for stroke in strokes]
    total = sum(map(sum, lengths))
    rows = []
    for first, stroke, corner, sides in zip(firsts, strokes, corners, lengths):
        for segment, length in enumerate(sides):
            for t in numpy.linspace(0, 1, max(2, round(DOTS * length / total))):
                row = numpy.zeros(len(points))
                weights = [0, 1 - t, t, 0] if corner else spline(t)
                for offset, weight in zip(range(-1, 3), weights):
                    row[first + min(max(segment + offset, 0), len(stroke) - 1)] += weight
                rows.append(row)
    chosen = numpy.linspace(0, len(rows) - 1, DOTS).astype(int)
    return numpy.array(rows)[chosen], points


def spline(t):
    """Returns the weights of four points on a Catmull-Rom spline, between the second and the third."""
    return (-t + 2 * t**2 - t**3) / 2, (2 - 5 * t**2 + 3 * t**3) / 2, (t + 4 * t**2 - 3 * t**3) / 2, (-(t**2) + t**3) / 2


def drawn(random, digits, ways):
    """Returns pictures of digits, drawn at random."""
    dots = numpy.empty((len(digits), DOTS, 2))
    for at, digit in enumerate(digits):
        matrix, points = ways[digit][random.integers(len(ways[digit]))]
        dots[at] = matrix @ (points + random.normal(0, random.uniform(0.02, 0.11), points.shape))
    angle, shear = random.uniform(-0.3, 0.3, len(digits)), random.uniform(-0.4, 0.3, len(digits))
    narrow = random.uniform(0.4, 1.15, len(digits))
    turned = [[narrow * numpy.cos(angle), shear - numpy.sin(angle)], [narrow * numpy.sin(angle), numpy.cos(angle)]]
    return picture(numpy.einsum("xyb,bdy->bdx", numpy.array(turned), dots), random.uniform(0.5, 1.7, (len(digits), 1)))


def picture(dots, radius):
    """Returns pictures of dots: centred, as large as fits, in strokes of a radius in pixels. The page draws in the same way."""
    low, high = dots.min(1, keepdims=True), dots.max(1, keepdims=True)
    scale = (SIDE - 2 * MARGIN) / (high - low).max(2, keepdims=True)
    dots = (dots - (low + high) / 2) * scale + SIDE / 2
    x, y = numpy.moveaxis(dots[..., None] - (numpy.arange(SIDE) + 0.5), 2, 0).astype("float32") ** 2
    squares = (y[..., None] + x[:, :, None]).min(1).reshape(len(dots), -1)
    return numpy.clip(radius + 0.5 - squares**0.5, 0, 1).astype("float32")


def train(random, ways):
    sizes = [SIDE**2, HIDDEN, HIDDEN // 2, 10]
    values = [random.normal(0, (2 / a)**0.5, (a, b)).astype("float32") for a, b in zip(sizes, sizes[1:])]
    values += [numpy.zeros(b, "float32") for b in sizes[1:]]
    averages = [(numpy.zeros_like(value), numpy.zeros_like(value)) for value in values]
    right = 0
    for count in range(1, STEPS + 1):
        digits = random.integers(0, 10, BATCH)
        layers = [drawn(random, digits, ways)]
        for at in range(3):
            sums = layers[-1] @ values[at] + values[3 + at]
            layers.append(numpy.maximum(sums, 0) if at < 2 else sums)
        right += (layers[-1].argmax(1) == digits).sum()
        chances = numpy.exp(layers[-1] - layers[-1].max(1, keepdims=True))
        slope = (chances / chances.sum(1, keepdims=True) - numpy.eye(10)[digits]).astype("float32") / BATCH
        gradients = [None] * 6
        for at in reversed(range(3)):
            gradients[at], gradients[3 + at] = layers[at].T @ slope, slope.sum(0)
            slope = (slope @ values[at].T) * (layers[at] > 0)
        for value, gradient, (mean, square) in zip(values, gradients, averages):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            rate = 3e-3 * (1 - count / STEPS) + 1e-5
            value -= rate * (mean / (1 - 0.9**count)) / ((square / (1 - 0.999**count))**0.5 + 1e-8)
        if count % 500 == 0:
            print(f"step {count} of {STEPS}: {right / 500 / BATCH:.1%} right", flush=True)
            right = 0
    return values


def exported(values):
    """Returns the ONNX model: the chance of each digit."""
    nodes, last = [], "picture"
    for at in range(3):
        nodes.append(helper.make_node("Gemm", [last, f"weight{at}", f"bias{at}"], [f"sums{at}"]))
        last = f"sums{at}"
        if at < 2:
            nodes.append(helper.make_node("Relu", [last], [f"layer{at}"]))
            last = f"layer{at}"
    nodes.append(helper.make_node("Softmax", [last], ["chances"]))
    value = helper.make_tensor_value_info
    names = [f"{kind}{at}" for kind in ("weight", "bias") for at in range(3)]
    constants = [numpy_helper.from_array(array, name) for name, array in zip(names, values)]
    inputs, outputs = [value("picture", TensorProto.FLOAT, [1, SIDE**2])], [value("chances", TensorProto.FLOAT, [1, 10])]
    graph = helper.make_graph(nodes, "digits", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def main(folder):
    ways = {digit: [sampled(outline) for outline in outlines] for digit, outlines in OUTLINES.items()}
    model = exported(train(numpy.random.default_rng(0), ways))
    onnx.checker.check_model(model)
    onnx.save(model, folder / "digits.onnx")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
