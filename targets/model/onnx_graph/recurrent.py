"""LSTM, GRU and RNN, of which TVM imports none: short sequences become their steps, long ones a node for a kernel of ours."""

import dataclasses

import numpy
from onnx import helper

from failure import Failure
from onnx_graph.emit import Emitter, attributes

LOOP = "FerriteRecurrence"
"""Operator with a loop over the steps. Inputs: products of the inputs, transposed weights, bias, states; outputs: all states, last states."""
DOMAIN = "ferrite"
SHORT = 16
"""Steps up to which each becomes nodes, though there is that operator: their products then have fast kernels."""
STEPS = 1024
"""Most steps that become nodes, about ten each."""
DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {name.lower(): name for name in ("Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign", "Softplus", "LeakyRelu", "Elu", "ThresholdedRelu")}


@dataclasses.dataclass
class Direction:
    """The weights and states of one direction."""

    input_weight: str
    weight: str
    input_bias: str | None
    bias: str | None
    hidden: str
    cell: str | None
    peepholes: list
    activations: list


def unrolled(node, folder):
    """Returns the nodes that calculate a recurrent node."""
    return Recurrent(node, folder).run()


class Recurrent:
    def __init__(self, node, folder):
        self.node = node
        self.kind = node.op_type
        self.attributes = attributes(node)
        self.emit = Emitter(node, folder)
        self.inputs = dict(enumerate(node.input))
        shapes = [folder.shape(self.inputs[at]) for at in range(3)]
        if None in shapes:
            raise self.refused("has a sequence whose length is known at run time only")
        self.is_batch_first = bool(self.attributes.get("layout", 0))
        (first, second, _), (self.directions, _, _), (_, _, self.size) = shapes
        self.steps, self.batch = (second, first) if self.is_batch_first else (first, second)
        self.dtype = folder.dtype(self.inputs[0])
        self.lengths = self.given(4)
        if self.lengths in folder.constants and (numpy.array(folder.value(self.lengths)) >= self.steps).all():
            self.lengths = None
        self.folder = folder
        self.is_loop = self.steps > SHORT and LOOP in folder.supported and self.is_plain
        if not self.is_loop and self.steps * self.directions > STEPS:
            raise self.refused(f"has {self.steps} steps, of {STEPS // self.directions} at most: give the model a shorter sequence by --shape")

    @property
    def is_plain(self):
        """Whether the kernel calculates this variant."""
        special = any(self.attributes.get(name) for name in ("activations", "clip", "input_forget"))
        return not special and not self.lengths and not self.given(7) and self.dtype == numpy.float32

    def refused(self, reason):
        return Failure(f"the operator {self.kind} (node {self.node.name or self.node.output[0]}) {reason}")

    def given(self, at):
        """Returns the name of an optional input, or None."""
        return self.inputs.get(at) or None

    def run(self):
        sequence = self.inputs[0]
        if self.is_batch_first:
            sequence = self.emit("Transpose", sequence, perm=[1, 0, 2])
        results = [self.direction(at, sequence) for at in range(self.directions)]
        sequences, *states = zip(*results)
        self.define(0, self.emit("Concat", *sequences, axis=1), [2, 0, 1, 3])
        for at, state in enumerate(states, 1):
            self.define(at, self.stacked(state), [1, 0, 2])
        return self.emit.nodes

    def stacked(self, values):
        """Joins the states of the directions along a new first axis."""
        parts = [self.emit.reshape(value, 1, self.batch, self.size) for value in values]
        return self.emit("Concat", *parts, axis=0)

    def define(self, at, value, batch_first):
        """Names an output, which the node may not have."""
        if at < len(self.node.output) and self.node.output[at]:
            attributes = {"perm": batch_first} if self.is_batch_first else {}
            self.emit("Transpose" if self.is_batch_first else "Identity", value, outputs=[self.node.output[at]], **attributes)

    def part(self, at, index, axis=0):
        """Returns the part of an input for one direction, or None."""
        return self.emit.element(self.given(at), index, axis) if self.given(at) else None

    def initial(self, at, index):
        axis = 1 if self.is_batch_first else 0
        return self.part(at, index, axis) or self.emit.constant(numpy.zeros((self.batch, self.size), self.dtype))

    def parameters(self, index):
        """Returns what one direction calculates with."""
        biases = self.emit.split(self.part(3, index), 2, 0) if self.given(3) else (None, None)
        weights = [self.emit("Transpose", self.part(at, index), perm=[1, 0]) for at in (1, 2)]
        is_lstm = self.kind == "LSTM"
        peepholes = self.emit.split(self.part(7, index), 3, 0) if is_lstm and self.given(7) else [None] * 3
        count = len(DEFAULTS[self.kind])
        cell = self.initial(6, index) if is_lstm else None
        return Direction(*weights, *biases, self.initial(5, index), cell, peepholes, self.activations()[index * count :][:count])

    def activations(self):
        names = [name.decode() for name in self.attributes.get("activations", [])] or DEFAULTS[self.kind] * self.directions
        unknown = [name for name in names if name.lower() not in ACTIVATIONS]
        if unknown or self.attributes.get("activation_alpha") or self.attributes.get("activation_beta"):
            raise self.refused(f"has the activation {', '.join(unknown) or 'with factors of its own'}, which has no equivalent in TVM")
        return [ACTIVATIONS[name.lower()] for name in names]

    def direction(self, index, sequence):
        """Returns the states of all steps of a direction, with an axis for the directions, and its last states."""
        at = self.parameters(index)
        projected = self.projected(sequence, at)
        is_reverse = self.attributes.get("direction", b"forward") == b"reverse" or index == 1
        if self.is_loop:
            return self.loop(projected, at, is_reverse)
        states, step = [None] * self.steps, {"LSTM": self.lstm, "GRU": self.gru, "RNN": self.rnn}[self.kind]
        for time in reversed(range(self.steps)) if is_reverse else range(self.steps):
            before = at.hidden, at.cell
            states[time] = at.hidden = step(self.emit.element(projected, time), at)
            if self.lengths:
                self.masked(time, states, at, before)
        whole = self.emit("Concat", *[self.emit.reshape(state, 1, 1, self.batch, self.size) for state in states], axis=0)
        return whole, at.hidden, *([at.cell] if at.cell else [])

    def loop(self, projected, at, is_reverse):
        """Emits the node for the kernel, whose types ONNX cannot infer."""
        bias = at.bias or self.emit.constant(numpy.zeros(GATES[self.kind] * self.size, self.dtype))
        states = [at.hidden, *([at.cell] if at.cell else [])]
        attributes = {"kind": self.kind, "reverse": int(is_reverse), "linear_before_reset": self.attributes.get("linear_before_reset", 0)}
        whole, *last = self.emit(LOOP, projected, at.weight, bias, *states, outputs=1 + len(states), domain=DOMAIN, **attributes)
        kind = self.folder.element_type(self.inputs[0])
        self.folder.types[whole] = helper.make_tensor_type_proto(kind, (self.steps, self.batch, self.size))
        self.folder.types.update(dict.fromkeys(last, helper.make_tensor_type_proto(kind, (self.batch, self.size))))
        return self.emit.reshape(whole, self.steps, 1, self.batch, self.size), *last

    def projected(self, sequence, at):
        """Returns the products of the whole sequence with the input's weights, with the biases that can be added to them."""
        flat = self.emit.reshape(sequence, self.steps * self.batch, -1)
        product = self.emit("MatMul", flat, at.input_weight)
        if at.input_bias:
            product = self.emit("Add", product, at.input_bias)
            # A GRU multiplies the last third of the other bias by its reset gate.
            if self.kind != "GRU":
                product = self.emit("Add", product, at.bias)
        return self.emit.reshape(product, self.steps, self.batch, GATES[self.kind] * self.size)

    def masked(self, time, states, at, before):
        """Keeps the states of sequences that have ended; their results are zeros."""
        kind = numpy.int32
        is_within = self.emit("Less", self.emit.constant(kind(time)), self.emit.reshape(self.lengths, self.batch, 1))
        zeros = self.emit.constant(numpy.zeros((1, 1), self.dtype))
        states[time] = self.emit("Where", is_within, at.hidden, zeros)
        at.hidden = self.emit("Where", is_within, at.hidden, before[0])
        at.cell = self.emit("Where", is_within, at.cell, before[1]) if at.cell else None

    def activated(self, name, value):
        if limit := self.attributes.get("clip"):
            bounds = [self.emit.constant(self.dtype.type(bound)) for bound in (-limit, limit)]
            value = self.emit("Min", self.emit("Max", value, bounds[0]), bounds[1])
        return self.emit(name, value)

    def lstm(self, projected, at):
        emit = self.emit
        gate, candidate, result = at.activations
        total = emit("Add", projected, emit("MatMul", at.hidden, at.weight))
        enter, leave, forget, new = emit.split(total, 4, 1)
        enter = self.activated(gate, self.peeped(enter, at.peepholes[0], at.cell))
        if self.attributes.get("input_forget"):
            forget = emit("Sub", emit.constant(self.dtype.type(1)), enter)
        else:
            forget = self.activated(gate, self.peeped(forget, at.peepholes[2], at.cell))
        new = self.activated(candidate, new)
        at.cell = emit("Add", emit("Mul", forget, at.cell), emit("Mul", enter, new))
        leave = self.activated(gate, self.peeped(leave, at.peepholes[1], at.cell))
        return emit("Mul", leave, emit(result, at.cell))

    def peeped(self, value, weight, cell):
        return self.emit("Add", value, self.emit("Mul", weight, cell)) if weight else value

    def gru(self, projected, at):
        emit = self.emit
        gate, candidate = at.activations
        of_input = emit.split(projected, 3, 1)
        weights, biases = emit.split(at.weight, 3, 1), emit.split(at.bias, 3, 0) if at.bias else [None] * 3

        def recurrent(value, which):
            product = emit("MatMul", value, weights[which])
            return emit("Add", product, biases[which]) if at.bias else product

        update, reset = (self.activated(gate, emit("Add", of_input[which], recurrent(at.hidden, which))) for which in (0, 1))
        if self.attributes.get("linear_before_reset"):
            hidden = emit("Mul", reset, recurrent(at.hidden, 2))
        else:
            hidden = recurrent(emit("Mul", reset, at.hidden), 2)
        new = self.activated(candidate, emit("Add", of_input[2], hidden))
        kept = emit("Sub", emit.constant(self.dtype.type(1)), update)
        return emit("Add", emit("Mul", kept, new), emit("Mul", update, at.hidden))

    def rnn(self, projected, at):
        return self.activated(at.activations[0], self.emit("Add", projected, self.emit("MatMul", at.hidden, at.weight)))


REPLACEMENTS = dict.fromkeys(DEFAULTS, unrolled)
"""Functions that return the nodes in place of one, or None to leave it."""
