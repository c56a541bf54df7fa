"""usage: letters.py FOLDER

Trains a small language model on the prose of this repository's book, by NumPy on one core, and
writes letters.onnx, which reads one character and predicts the next, and letters.json, its
alphabet. The network is a gated recurrent unit. Two runs on one machine give the same files."""

import json
import os
import pathlib
import re
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # Read when NumPy is imported.

import numpy  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

TREE = pathlib.Path(__file__).resolve().parents[4]
FOLDERS = "docs", "capi", "targets", "tests"
UNITS, BATCH, LENGTH, STEPS = 192, 16, 64, 3000
RATE = 8e-3


def prose():
    """Returns the sentences of the guides, without code, tables, headings and addresses."""
    kept = []
    for page in guides():
        text = re.sub(r"^ *```.*?^ *```$|<!--.*?-->", "", page.read_text(), flags=re.M | re.S)
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
            flat = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            flat = re.sub(r"[^ -~]|[`*]|^- ", "", flat)
            symbols = len(re.findall(r"[^a-zA-Z ,.]", flat))
            if re.match(r"[A-Z]", flat) and flat.endswith((".", ":")) and symbols < 0.06 * len(flat):
                kept.append(flat)
    return "\n".join(kept) + "\n"


def guides():
    """Returns the Markdown files of the sources, without those that builds make."""
    found = [page for folder in FOLDERS for page in sorted((TREE / folder).rglob("*.md"))]
    return sorted(TREE.glob("*.md")) + [page for page in found if "target" not in page.parts[len(TREE.parts):]]


def sigmoid(x):
    return 0.5 * numpy.tanh(0.5 * x) + 0.5


class Network:
    """Parameters by name, and Adam's averages of their gradients."""

    def __init__(self, letters):
        random = numpy.random.default_rng(0)
        shapes = {"input": (letters, 3 * UNITS), "gates": (UNITS, 2 * UNITS), "candidate": (UNITS, UNITS),
                  "bias": (3 * UNITS,), "candidate_bias": (UNITS,), "output": (UNITS, letters), "output_bias": (letters,)}
        scale = UNITS**-0.5
        self.values = {name: random.uniform(-scale, scale, shape).astype("float32") for name, shape in shapes.items()}
        self.averages = {name: (numpy.zeros_like(value), numpy.zeros_like(value)) for name, value in self.values.items()}

    def forward(self, characters, state):
        """Returns values of each step, for `backward`, and the last state."""
        p, steps = self.values, []
        for now in characters:
            x = p["input"][now] + p["bias"]
            gates = sigmoid(x[:, :2 * UNITS] + state @ p["gates"])
            update, reset = gates[:, :UNITS], gates[:, UNITS:]
            inner = state @ p["candidate"] + p["candidate_bias"]
            candidate = numpy.tanh(x[:, 2 * UNITS:] + reset * inner)
            steps.append((state, gates, inner, candidate))
            state = candidate + update * (state - candidate)
        return steps, state

    def backward(self, characters, steps, states, d_logits):
        """Returns the gradients of the parameters by those of the logits."""
        p = self.values
        d_states = d_logits @ p["output"].T
        d_x = numpy.empty((len(steps), BATCH, 3 * UNITS), "float32")
        d_inners = numpy.empty((len(steps), BATCH, UNITS), "float32")
        carried = numpy.zeros((BATCH, UNITS), "float32")
        for at in reversed(range(len(steps))):
            state, gates, inner, candidate = steps[at]
            update, reset = gates[:, :UNITS], gates[:, UNITS:]
            d_state = d_states[at] + carried
            d_candidate = d_state * (1 - update) * (1 - candidate**2)
            d_inners[at] = d_candidate * reset
            d_x[at, :, :UNITS] = d_state * (state - candidate)
            d_x[at, :, UNITS:2 * UNITS] = d_candidate * inner
            d_x[at, :, :2 * UNITS] *= gates * (1 - gates)
            d_x[at, :, 2 * UNITS:] = d_candidate
            carried = d_state * update + d_x[at, :, :2 * UNITS] @ p["gates"].T + d_inners[at] @ p["candidate"].T
        before = numpy.concatenate([step[0] for step in steps])
        flat = lambda array: array.reshape(-1, array.shape[-1])
        one_hot = numpy.eye(len(p["input"]), dtype="float32")[characters.reshape(-1)]
        return {"input": one_hot.T @ flat(d_x), "gates": before.T @ flat(d_x)[:, :2 * UNITS],
                "candidate": before.T @ flat(d_inners), "bias": flat(d_x).sum(0), "candidate_bias": flat(d_inners).sum(0),
                "output": flat(states).T @ flat(d_logits), "output_bias": flat(d_logits).sum(0)}

    def step(self, characters, following, state, rate, count):
        """Learns from characters and those that follow them. Returns the loss and the last state."""
        steps, last = self.forward(characters, state)
        states = numpy.stack([step[0] for step in steps[1:]] + [last])
        logits = states @ self.values["output"] + self.values["output_bias"]
        chances = numpy.exp(logits - logits.max(-1, keepdims=True))
        chances /= chances.sum(-1, keepdims=True)
        hit = numpy.take_along_axis(chances, following[..., None], -1)
        loss = -numpy.log(hit).mean()
        numpy.put_along_axis(chances, following[..., None], hit - 1, -1)
        self.adam(self.backward(characters, steps, states, chances / following.size), rate, count)
        return loss, last

    def adam(self, gradients, rate, count):
        """Changes the parameters by gradients, whose norm is limited to 1."""
        norm = sum(float((gradient**2).sum()) for gradient in gradients.values())**0.5
        for name, gradient in gradients.items():
            gradient *= min(1, 1 / norm)
            mean, square = self.averages[name]
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            unbiased = (square / (1 - 0.99**count))**0.5 + 1e-8
            self.values[name] -= rate / (1 - 0.9**count) * mean / unbiased


def train(text, alphabet):
    indices = numpy.array([alphabet.index(character) for character in text])
    columns = indices[:len(indices) // BATCH * BATCH].reshape(BATCH, -1).T
    network, state, at, average = Network(len(alphabet)), numpy.zeros((BATCH, UNITS), "float32"), 0, 0
    for count in range(1, STEPS + 1):
        if at + LENGTH >= len(columns):
            at, state = 0, numpy.zeros_like(state)
        rate = RATE * (0.02 + 0.49 * (1 + numpy.cos(numpy.pi * count / STEPS)))
        loss, state = network.step(columns[at:at + LENGTH], columns[at + 1:at + LENGTH + 1], state, rate, count)
        average, at = average + loss, at + LENGTH
        if count % 500 == 0:
            print(f"step {count} of {STEPS}: {average / 500:.2f} nats a character", flush=True)
            average = 0
    return network


def exported(network):
    """Returns the ONNX model: the scores of the next character, and the state after this one."""
    values = dict(network.values)
    state_weights = numpy.concatenate([values.pop("gates"), values.pop("candidate")], 1)
    state_bias = numpy.concatenate([numpy.zeros(2 * UNITS, "float32"), values.pop("candidate_bias")])
    values |= {"state_weights": state_weights, "state_bias": state_bias}
    make = helper.make_node
    nodes = [
        make("Gather", ["input", "letter"], ["row"]),
        make("Add", ["row", "bias"], ["x"]),
        make("MatMul", ["state", "state_weights"], ["product"]),
        make("Add", ["product", "state_bias"], ["s"]),
        make("Split", ["x"], ["x_update", "x_reset", "x_candidate"], axis=1, num_outputs=3),
        make("Split", ["s"], ["s_update", "s_reset", "s_candidate"], axis=1, num_outputs=3),
        make("Add", ["x_update", "s_update"], ["update_sum"]),
        make("Sigmoid", ["update_sum"], ["update"]),
        make("Add", ["x_reset", "s_reset"], ["reset_sum"]),
        make("Sigmoid", ["reset_sum"], ["reset"]),
        make("Mul", ["reset", "s_candidate"], ["kept"]),
        make("Add", ["x_candidate", "kept"], ["candidate_sum"]),
        make("Tanh", ["candidate_sum"], ["candidate"]),
        make("Sub", ["state", "candidate"], ["difference"]),
        make("Mul", ["update", "difference"], ["change"]),
        make("Add", ["candidate", "change"], ["next_state"]),
        make("MatMul", ["next_state", "output"], ["products"]),
        make("Add", ["products", "output_bias"], ["scores"]),
    ]
    letters = len(network.values["output_bias"])
    value = helper.make_tensor_value_info
    inputs = [value("letter", TensorProto.INT32, [1]), value("state", TensorProto.FLOAT, [1, UNITS])]
    outputs = [value("scores", TensorProto.FLOAT, [1, letters]), value("next_state", TensorProto.FLOAT, [1, UNITS])]
    constants = [numpy_helper.from_array(array, name) for name, array in values.items()]
    graph = helper.make_graph(nodes, "letters", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def main(folder):
    text = prose()
    alphabet = sorted(set(text))
    model = exported(train(text, alphabet))
    onnx.checker.check_model(model)
    onnx.save(model, folder / "letters.onnx")
    (folder / "letters.json").write_text(json.dumps({"alphabet": "".join(alphabet), "units": UNITS}))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
