"""Emits the nodes that replace another one."""

import numpy
from onnx import helper, numpy_helper


def attributes(node):
    """Returns the values of a node's attributes by their names."""
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def inputs(node, count):
    """Returns the names of a node's inputs, None for absent ones."""
    return [*(name or None for name in node.input), *[None] * count][:count]


class Emitter:
    """Nodes in order, with names of values that are unique in the model."""

    def __init__(self, node, folder, prefix=""):
        self.outputs = node.output
        self.prefix = next(filter(None, node.output)) + prefix
        self.version = folder.versions[""]
        self.nodes = []
        self.count = 0

    def name(self):
        self.count += 1
        return f"{self.prefix}.step{self.count}"

    def __call__(self, operator, *inputs, outputs=None, **attributes):
        """Appends a node; an input of None is absent. Returns the name of its only output, or the list of the names."""
        inputs = [name or "" for name in inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        names = outputs if isinstance(outputs, list) else [self.name() for _ in range(outputs or 1)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names if outputs else names[0]

    def constant(self, value):
        return self("Constant", value=numpy_helper.from_array(numpy.asarray(value)))

    def number(self, value, dtype):
        return self.constant(numpy.asarray(value, dtype))

    def scaled(self, value, factor, dtype):
        return value if factor == 1 else self("Mul", value, self.number(factor, dtype))

    def results(self, *values):
        """Names the outputs of the replaced node. Returns the nodes."""
        for value, name in zip(values, self.outputs):
            if name:
                self("Identity", value, outputs=[name])
        return self.nodes

    def reshape(self, value, *shape):
        return self("Reshape", value, self.constant(numpy.array(shape, numpy.int64)))

    def element(self, value, index, axis=0):
        """Returns one element along an axis, without this axis."""
        return self("Gather", value, self.constant(numpy.int64(index)), axis=axis)

    def split(self, value, count, axis):
        return self("Split", value, outputs=count, axis=axis, **({"num_outputs": count} if self.version >= 18 else {}))

    def sum(self, value, axes):
        """Returns the sums along axes, which stay with one element."""
        return self("ReduceSum", value, self.constant(numpy.array(axes, numpy.int64)), keepdims=1)

    def mean(self, value, axes):
        """Returns the means along axes, which stay with one element."""
        if self.version < 18:
            return self("ReduceMean", value, axes=axes, keepdims=1)
        return self("ReduceMean", value, self.constant(numpy.array(axes, numpy.int64)), keepdims=1)
