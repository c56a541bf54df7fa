"""Kernels of recurrent operators with long sequences: a loop over the steps, where `onnx_graph` would write each of them."""

from tvm import relax
from tvm.relax.frontend.onnx.onnx_frontend import OnnxOpConverter
from tvm.script import tirx as T

FLOAT = "float32"


class Recurrence(OnnxOpConverter):
    """Converts the node that `onnx_graph.recurrent` emits."""

    @classmethod
    def _impl_v1(cls, builder, inputs, attributes, _):
        projected, weight, bias, *states = inputs
        steps, batch, _ = (int(extent) for extent in projected.ty.shape)
        size = int(weight.ty.shape[0])
        kind, is_reverse = attributes["kind"].decode(), bool(attributes["reverse"])
        if kind == "LSTM":
            kernel, inputs = lstm(steps, batch, size, is_reverse), [projected, weight, *states]
        elif kind == "GRU":
            kernel = gru(steps, batch, size, is_reverse, bool(attributes["linear_before_reset"]))
            inputs = [projected, weight, bias, *states]
        else:
            kernel, inputs = rnn(steps, batch, size, is_reverse), [projected, weight, *states]
        results = [relax.TensorType((steps, batch, size), FLOAT), *[relax.TensorType((batch, size), FLOAT)] * len(states)]
        # The builder gives each its own name.
        function = builder.add_func(kernel.without_attr("global_symbol"), kind.lower())
        return relax.call_tir(function, inputs, out_ty=results)


def lstm(steps, batch, size, is_reverse):
    """Returns the kernel of an LSTM. `x` has the products of the inputs, with both biases."""

    @T.prim_func
    def kernel(
        x: T.Buffer((steps, batch, 4 * size), FLOAT),
        weight: T.Buffer((size, 4 * size), FLOAT),
        first: T.Buffer((batch, size), FLOAT),
        first_cell: T.Buffer((batch, size), FLOAT),
        y: T.Buffer((steps, batch, size), FLOAT),
        hidden: T.Buffer((batch, size), FLOAT),
        cell: T.Buffer((batch, size), FLOAT),
    ):
        T.func_attr({"tirx.noalias": True})
        total = T.alloc_buffer((4 * size,), FLOAT)
        for b, j in T.grid(batch, size):
            hidden[b, j] = first[b, j]
            cell[b, j] = first_cell[b, j]
        for step in range(steps):
            for b in range(batch):
                for j in range(4 * size):
                    total[j] = x[steps - 1 - step if is_reverse else step, b, j]
                for k in range(size):
                    for j in range(4 * size):
                        total[j] = total[j] + hidden[b, k] * weight[k, j]
                for j in range(size):
                    cell[b, j] = T.sigmoid(total[2 * size + j]) * cell[b, j] + T.sigmoid(total[j]) * T.tanh(total[3 * size + j])
                    hidden[b, j] = T.sigmoid(total[size + j]) * T.tanh(cell[b, j])
                    y[steps - 1 - step if is_reverse else step, b, j] = hidden[b, j]

    return kernel


def gru(steps, batch, size, is_reverse, is_linear):
    """Returns the kernel of a GRU. `x` has the products of the inputs, with their bias.

    The reset gate multiplies the product of the state if `is_linear`, and otherwise the state.
    """

    @T.prim_func
    def kernel(
        x: T.Buffer((steps, batch, 3 * size), FLOAT),
        weight: T.Buffer((size, 3 * size), FLOAT),
        bias: T.Buffer((3 * size,), FLOAT),
        first: T.Buffer((batch, size), FLOAT),
        y: T.Buffer((steps, batch, size), FLOAT),
        hidden: T.Buffer((batch, size), FLOAT),
    ):
        T.func_attr({"tirx.noalias": True})
        total = T.alloc_buffer((3 * size,), FLOAT)
        reset = T.alloc_buffer((size,), FLOAT)
        for b, j in T.grid(batch, size):
            hidden[b, j] = first[b, j]
        for step in range(steps):
            for b in range(batch):
                for j in range(3 * size):
                    total[j] = bias[j]
                for k in range(size):
                    for j in range(3 * size if is_linear else 2 * size):
                        total[j] = total[j] + hidden[b, k] * weight[k, j]
                for j in range(size):
                    reset[j] = T.sigmoid(x[steps - 1 - step if is_reverse else step, b, size + j] + total[size + j])
                for j in range(size):
                    reset[j] = reset[j] * (total[2 * size + j] if is_linear else hidden[b, j])
                if not is_linear:
                    for k in range(size):
                        for j in range(size):
                            total[2 * size + j] = total[2 * size + j] + reset[k] * weight[k, 2 * size + j]
                    for j in range(size):
                        reset[j] = total[2 * size + j]
                for j in range(size):
                    total[j] = T.sigmoid(x[steps - 1 - step if is_reverse else step, b, j] + total[j])
                    reset[j] = T.tanh(x[steps - 1 - step if is_reverse else step, b, 2 * size + j] + reset[j])
                    hidden[b, j] = reset[j] + total[j] * (hidden[b, j] - reset[j])
                    y[steps - 1 - step if is_reverse else step, b, j] = hidden[b, j]

    return kernel


def rnn(steps, batch, size, is_reverse):
    """Returns the kernel of an RNN. `x` has the products of the inputs, with both biases."""

    @T.prim_func
    def kernel(
        x: T.Buffer((steps, batch, size), FLOAT),
        weight: T.Buffer((size, size), FLOAT),
        first: T.Buffer((batch, size), FLOAT),
        y: T.Buffer((steps, batch, size), FLOAT),
        hidden: T.Buffer((batch, size), FLOAT),
    ):
        T.func_attr({"tirx.noalias": True})
        total = T.alloc_buffer((size,), FLOAT)
        for b, j in T.grid(batch, size):
            hidden[b, j] = first[b, j]
        for step in range(steps):
            for b in range(batch):
                for j in range(size):
                    total[j] = x[steps - 1 - step if is_reverse else step, b, j]
                for k in range(size):
                    for j in range(size):
                        total[j] = total[j] + hidden[b, k] * weight[k, j]
                for j in range(size):
                    hidden[b, j] = T.tanh(total[j])
                    y[steps - 1 - step if is_reverse else step, b, j] = hidden[b, j]

    return kernel
