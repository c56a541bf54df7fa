"""Finds the inputs of a model's functions in its executable, where the compiler checks them."""

import dataclasses
import math

from executable import BUILTIN, BYTECODE, TENSOR, DataType
from failure import Failure

EQUALS_VALUE = 0
"""Code of `match_shape` for an extent that must have a value."""


@dataclasses.dataclass
class Input:
    """A tensor that a function takes."""

    name: str
    shape: tuple
    dtype: DataType

    @property
    def bytes(self):
        return math.prod(self.shape) * self.dtype.bytes

    def __str__(self):
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


def entry_point(executable, name=None):
    """Returns the function of this name; without one, `main`, or the only function whose inputs the caller gives."""
    functions = {function.name: function for function in executable.functions if function.kind == BYTECODE}
    if not functions:
        raise Failure("the model was compiled with exec_mode `compiled`, which does not tell its inputs: compile it with `bytecode`")
    if name is None:
        name = "main" if "main" in functions or len(functions) != 1 else next(iter(functions))
    if name not in functions:
        raise Failure(f"the model has no function {name}; its functions are: {', '.join(sorted(functions))}; choose one by --function")
    return functions[name]


def inputs(executable, function):
    """Returns the inputs of a function.

    Inputs that are not tensors, and extents that are known at run time only, are failures."""
    dtypes, shapes = {}, {}
    for name, arguments, _ in executable.calls(function):
        if not name.startswith(BUILTIN) or arguments[:1] == [] or arguments[0][0] != "register":
            continue
        parameter = arguments[0][1]
        if parameter >= len(function.parameters):
            continue
        if name == BUILTIN + "check_tensor_info" and len(arguments) == 4:
            dtypes[parameter] = arguments[2][1]
            # Scalars have no extents to match.
            if arguments[1] == ("int", 0):
                shapes.setdefault(parameter, ())
        elif name == BUILTIN + "match_shape":
            pairs = arguments[3 : 3 + 2 * arguments[2][1]]
            shapes[parameter] = tuple(zip(pairs[::2], pairs[1::2]))
    return [tensor(name, dtypes.get(at), shapes.get(at)) for at, name in enumerate(function.parameters)]


def text(function, inputs):
    """Returns a function with its inputs, as its author would write it."""
    return f"{function.name}({', '.join(map(str, inputs))})"


def tensor(name, dtype, extents):
    if dtype is None or extents is None:
        raise Failure(f"the input {name} is not a tensor with a known shape and dtype: compile the weights into the model")
    if any(code != ("int", EQUALS_VALUE) for code, _ in extents):
        raise Failure(f"the shape of the input {name} is known at run time only: give it one, such as --shape {name}=1,3,32,32")
    return Input(name, tuple(value for _, (_, value) in extents), dtype)
