"""Loops whose number of rounds follows from constants, as their rounds."""

import numpy

from failure import Failure
from onnx_graph.emit import Emitter, attributes

ROUNDS = 1024
"""Most rounds that become nodes."""

SCAN_WITHOUT_BATCHES = 9
"""Operator set from which Scan has the inputs that are read here."""


def unrolled(node, folder):
    """Returns the nodes of a Loop or Scan, round by round, or the node if a condition depends on data."""
    rounds = loop(node, folder) if node.op_type == "Loop" else scan(node, folder)
    return [node] if rounds is None else rounds


def check_rounds(node, count):
    if count > ROUNDS:
        raise Failure(f"the operator {node.op_type} (node {node.name or node.output[0]}) has more than {ROUNDS} rounds")


def loop(node, folder):
    body = attributes(node)["body"]
    limit, condition, *states = [*node.input, ""][: max(2, len(node.input))]
    if any(name and name not in folder.constants for name in (limit, condition)):
        return None
    limit = int(folder.value(limit).item()) if limit else ROUNDS + 1
    is_open, count, left, collected = not condition or bool(folder.value(condition).item()), 0, [], []
    while is_open and count < limit:
        check_rounds(node, count + 1)
        number = folder.constant(node, numpy.int64(count))
        nodes, results = once(folder, body, [number, folder.constant(node, numpy.bool_(True)), *states])
        left += nodes
        if results[0] not in folder.constants:
            return None
        is_open, count = bool(folder.value(results[0]).item()), count + 1
        states = results[1 : 1 + len(states)]
        collected.append(results[1 + len(states) :])
    return finished(node, folder, left, states, collected, [0] * len(node.output))


def scan(node, folder):
    given = attributes(node)
    body, count = given["body"], given["num_scan_inputs"]
    states, sequences = list(node.input[: len(node.input) - count]), node.input[len(node.input) - count :]
    axes, reversed_inputs = (given.get(f"scan_input_{name}") or [0] * count for name in ("axes", "directions"))
    shapes = list(map(folder.shape, sequences))
    outputs = len(node.output) - len(states)
    is_old = folder.versions[""] < SCAN_WITHOUT_BATCHES
    if is_old or None in shapes or any(given.get("scan_output_directions") or [0] * outputs):
        return None
    length = shapes[0][axes[0]]
    check_rounds(node, length)
    left, collected = [], []
    for at in range(length):
        emit = Emitter(node, folder, f"{folder.fresh()}.{at}")
        places = [length - 1 - at if is_reversed else at for is_reversed in reversed_inputs]
        elements = [emit.element(name, place, axis) for name, place, axis in zip(sequences, places, axes)]
        left += folder.visited(emit.nodes, {})
        nodes, results = once(folder, body, [*states, *elements])
        left += nodes
        states, more = results[: len(states)], results[len(states) :]
        collected.append(more)
    return finished(node, folder, left, states, collected, given.get("scan_output_axes") or [0] * outputs)


def once(folder, body, values):
    """Returns the nodes of a round for these values, and its results."""
    names, nodes = folder.enter(body)
    names |= {parameter.name: value for parameter, value in zip(body.input, values)}
    return folder.visited(nodes, names), [names.get(output.name, output.name) for output in body.output]


def finished(node, folder, left, states, collected, axes):
    """Returns the nodes with those that make the outputs: last states, and the collected values along new axes."""
    if not collected and len(node.output) > len(states):
        return None
    emit = Emitter(node, folder)
    results = list(states)
    for values, axis in zip(zip(*collected), axes):
        axes_of_one = emit.constant(numpy.array([axis], numpy.int64))
        results.append(emit("Concat", *[emit("Unsqueeze", value, axes_of_one) for value in values], axis=axis))
    return left + folder.visited(emit.results(*results), {})
