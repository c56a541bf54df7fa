"""The inputs of an ONNX model: their shapes become static, and some of them constants."""

import numpy
import onnx
from onnx import numpy_helper

from failure import Failure


def names(graph):
    """Returns the inputs that the caller gives: old files list weights as inputs too."""
    weights = {weight.name for weight in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def axes(value):
    """Returns the axes of an input: an extent, the name of one, or None."""
    dims = value.type.tensor_type.shape.dim
    return [dim.dim_param or None if not dim.HasField("dim_value") or dim.dim_value < 0 else dim.dim_value for dim in dims]


def fixed(model, shapes, values):
    """Returns a copy of the model whose inputs have static shapes.

    An open axis has the extent that `shapes` gives to its input or to its name; a batch axis has 1 otherwise.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    given = names(graph)
    del graph.input[:]
    graph.input.extend(given)
    check_names(graph, shapes, values)
    for name, value in values.items():
        replace(graph, name, value)
    set_shapes(graph, shapes)
    return copy


def check_names(graph, shapes, values):
    inputs = {value.name for value in graph.input}
    symbols = {axis for value in graph.input for axis in axes(value) if isinstance(axis, str)}
    for unknown in sorted({*shapes, *values} - inputs - (symbols - {*values})):
        listed = ", ".join(map(text, graph.input))
        raise Failure(f"the model has no input {unknown}; its inputs are: {listed}")


def replace(graph, name, value):
    """Makes an input a constant."""
    declared = next(given for given in graph.input if given.name == name)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(declared.type.tensor_type.elem_type)
    try:
        value = numpy.array(value, dtype).reshape([1 if axis is None or isinstance(axis, str) else axis for axis in axes(declared)])
    except (TypeError, ValueError):
        raise Failure(f"the value {value} does not fit {text(declared)}") from None
    graph.input.remove(declared)
    graph.initializer.append(numpy_helper.from_array(value, name))


def set_shapes(graph, shapes):
    """Gives each axis its extent, or reports the open ones."""
    batch = {axes(value)[0] for value in graph.input if axes(value)} - {None}
    is_open = False
    for value in graph.input:
        declared = axes(value)
        if not value.type.HasField("tensor_type"):
            raise Failure(f"the input {value.name} is not a tensor")
        if not value.type.tensor_type.HasField("shape") and value.name not in shapes:
            raise Failure(f"the input {value.name} has no declared rank: give its shape, such as --shape {value.name}=1,3,224,224")
        extents = shapes.get(value.name) or [shapes.get(axis, [axis])[0] for axis in declared]
        check_shape(value, declared, extents)
        is_batch = [at == 0 or axis in batch for at, axis in enumerate(extents)]
        extents = [1 if default and not isinstance(axis, int) else axis for axis, default in zip(extents, is_batch)]
        is_open = is_open or not all(isinstance(axis, int) for axis in extents)
        declare(value, extents)
    if is_open:
        report(graph)


def check_shape(value, declared, extents):
    """Refuses a shape that contradicts the declared one."""
    if value.type.tensor_type.HasField("shape") and (
        len(declared) != len(extents) or any(isinstance(axis, int) and axis != extent for axis, extent in zip(declared, extents))
    ):
        raise Failure(f"the input {text(value)} cannot have the shape {','.join(map(str, extents))}")


def declare(value, extents):
    shape = value.type.tensor_type.shape
    del shape.dim[:]
    for extent in extents:
        dim = shape.dim.add()
        if isinstance(extent, int):
            dim.dim_value = extent
        elif extent is not None:
            dim.dim_param = extent


def report(graph):
    """Raises a failure that lists the inputs with open axes, and names the options for them."""
    unknown = [value for value in graph.input if not all(isinstance(axis, int) for axis in axes(value))]
    example = unknown[0]
    extents = ",".join("N" if not isinstance(axis, int) else str(axis) for axis in axes(example))
    listed = ", ".join(map(text, unknown))
    raise Failure(f"the model has inputs whose shapes are open: {listed}; give them, such as --shape {example.name}={extents} with a number for N")


def text(value):
    """Returns an input as its author would write it."""
    dims = ", ".join("?" if axis is None else str(axis) for axis in axes(value))
    kind = onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()
    return f"{value.name}: {kind}[{dims}]"
