"""Networks in PyTorch, converted by onnx2torch from graphs that `ferrite model` simplified: static shapes, folded branches.

usage: python -m runtimes.pytorch JSON    compiles a network into the cache of `torch.compile`
"""

import json
import sys

import onnx
import onnx2torch
import onnx_graph
import torch
from onnx2torch.node_converters import registry
from onnx2torch.utils.common import OnnxMapping, OperationConverterResult, get_const_value

from . import examples, quantized


class Pad(torch.nn.Module):
    """Pads the last axes by constant numbers; onnx2torch refuses two axes by reflection."""

    def __init__(self, pads, mode, value):
        super().__init__()
        middle = len(pads) // 2
        pairs = list(zip(pads[:middle], pads[middle:]))
        while pairs and pairs[0] == (0, 0):
            del pairs[0]
        self.pads = [number for pair in reversed(pairs) for number in pair]
        self.mode, self.value = {"edge": "replicate"}.get(mode, mode), value

    def forward(self, x):
        if self.mode == "constant":
            return torch.nn.functional.pad(x, self.pads, value=self.value)
        # PyTorch reflects n axes of tensors with one or two more.
        folded = x.reshape(-1, *x.shape[-len(self.pads) // 2 :])
        padded = torch.nn.functional.pad(folded, self.pads, self.mode)
        return padded.reshape(*x.shape[: -len(self.pads) // 2], *padded.shape[1:])


class Reshape(torch.nn.Module):
    def __init__(self, extents):
        super().__init__()
        self.extents = extents

    def forward(self, x):
        return x.reshape([extent or x.shape[at] for at, extent in enumerate(self.extents)])


class Slice(torch.nn.Module):
    def __init__(self, starts, ends, axes=None, steps=None):
        super().__init__()
        self.parts = list(zip(starts, ends, axes or range(len(starts)), steps or [1] * len(starts)))

    def forward(self, x):
        for start, end, axis, step in self.parts:
            indices = range(x.shape[axis])[start:end:step]
            if step > 0:
                x = x.narrow(axis, indices.start, max(0, indices.stop - indices.start))
                x = x if step == 1 else x[(slice(None),) * (axis % x.ndim) + (slice(None, None, step),)]
            else:
                x = x.index_select(axis, torch.tensor(indices))
        return x


class Expand(torch.nn.Module):
    def __init__(self, extents):
        super().__init__()
        self.extents = extents

    def forward(self, x):
        return x.broadcast_to(torch.broadcast_shapes(x.shape, self.extents))


class GlobalMaxPool(torch.nn.Module):
    def forward(self, x):
        return x.amax(tuple(range(2, x.ndim)), keepdim=True)


def with_constants(create):
    """Returns a converter to a module whose operands after the first are numbers: `torch.compile` takes no shapes from tensors."""

    def convert(node, graph):
        numbers = [torch.as_tensor(get_const_value(name, graph)).tolist() if name else None for name in node.input_values[1:]]
        return OperationConverterResult(create(node, *numbers), OnnxMapping(inputs=node.input_values[:1], outputs=node.output_values))

    return convert


def padding(node, pads, value=0.0, *_axes):
    return Pad(pads, node.attributes.get("mode", "constant"), value)


CONVERTERS = {
    ("Pad", 11): padding,
    ("Pad", 13): padding,
    ("Expand", 8): lambda _, extents: Expand(extents),
    ("Expand", 13): lambda _, extents: Expand(extents),
    ("Reshape", 5): lambda _, extents: Reshape(extents),
    ("Reshape", 13): lambda _, extents: Reshape(extents),
    ("Reshape", 14): lambda _, extents: Reshape(extents),
    ("Slice", 10): lambda _, *parts: Slice(*parts),
    ("Slice", 11): lambda _, *parts: Slice(*parts),
    ("Slice", 13): lambda _, *parts: Slice(*parts),
    ("GlobalMaxPool", 1): lambda _: GlobalMaxPool(),
}
"""Operators that onnx2torch lacks, or converts to modules that read shapes from tensors."""


def install():
    """Adds the converters to onnx2torch's."""
    for (kind, version), create in CONVERTERS.items():
        registry._CONVERTER_REGISTRY[registry.OperationDescription("", kind, version)] = with_constants(create)


def network(path, shapes, values):
    """Returns a network as a module, and the order of its inputs."""
    install()
    known = {operation.operation_type for operation in registry._CONVERTER_REGISTRY} | {"If", "Constant"}
    source = onnx.load(path)
    if lacking := sorted({node.op_type for node in source.graph.node} & quantized.OPERATORS - known):
        raise NotImplementedError(f"onnx2torch lacks {', '.join(lacking)}")
    model = onnx_graph.prepared(source, shapes, values, known)
    given = {weight.name for weight in model.graph.initializer}
    return onnx2torch.convert(model).eval(), [value.name for value in model.graph.input if value.name not in given]


def function(path, arrays, values, threads, is_compiled):
    """Returns a function that runs the network, and returns a list of arrays."""
    torch.set_num_threads(threads)
    module, names = network(path, {name: array.shape for name, array in arrays.items()}, values)
    inputs = [torch.from_numpy(arrays[name]) for name in names]
    call = torch.compile(module) if is_compiled else module

    def run():
        with torch.inference_mode():
            results = call(*inputs)
        return [result.numpy() for result in (results if isinstance(results, (list, tuple)) else [results])]

    return run


def compile_into_cache(name, path, batch, threads):
    """Calls the compiled network once. Prints an error: measuring will find it, too."""
    try:
        function(path, examples.arrays(name, batch), examples.VALUES.get(name, {}), threads, is_compiled=True)()
    except Exception as error:  # noqa: BLE001 - of many classes
        print(error)


if __name__ == "__main__":
    compile_into_cache(**json.loads(sys.argv[1]))
