"""TVM's client, unmodified, drives a Cortex-M4F over its serial line: digits, times, a system library, and what does not fit."""

import pathlib
import re
import sys
import tempfile

import numpy as np
import tvm

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))

from firmware import ROOT, build, session  # noqa: E402

AOT = ROOT / "tests/programs/aot"


def arrays():
    """Returns the arrays of the digits network by name: pictures, labels, weights and scores."""
    text = (AOT / "cnn_f32/data.h").read_text()
    found = {}
    for kind, name, body in re.findall(r"static const (\w+) cnn_f32_(\w+)\[\d+\] = \{(.*?)\};", text, re.S):
        shape = re.search(rf"cnn_f32_{name}_shape\[\] = \{{(.*?)\}}", text)[1]
        numbers = [float(number.rstrip("f")) for number in re.split(r"[,\s]+", body) if number]
        found[name] = np.array(numbers, "float32" if kind == "float" else "int64").reshape([int(size) for size in shape.split(",")])
    return found


def raises(action, *words):
    """The action raises an error with these words."""
    try:
        action()
    except (tvm.error.RPCError, AttributeError) as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError(f"no error with {words}")


class Digits:
    """The network of the digits: weights and result are on the board."""

    def __init__(self, device):
        self.data, self.device = arrays(), device
        self.weights = [tvm.runtime.tensor(self.data[name], device) for name in ("wc", "bc", "wd", "bd")]
        self.scores = tvm.runtime.empty((1, 10), device=device)

    def arguments(self, picture):
        return tvm.runtime.tensor(self.data["x"][picture : picture + 1], self.device), *self.weights, self.scores

    def right(self, network):
        """Returns how many pictures of 20 are read correctly."""
        count = 0
        for picture, label in enumerate(self.data["label"]):
            network(*self.arguments(picture))
            scores = self.scores.numpy()[0]
            np.testing.assert_allclose(scores, self.data["out"][picture], atol=1e-4)
            count += int(scores.argmax()) == label
        return count


def check_values(board):
    echo = board.get_function("testing.echo")
    for value in (1, -2.5, True, None, "text", "longer than seven bytes", bytearray(b"a\0b")):
        assert echo(value) == value, value
    raises(lambda: echo(1, 2), "TypeError: testing.echo takes one argument")
    raises(lambda: board.get_function("nothing"), "nothing")


def check_digits(board):
    digits = Digits(board.cpu(0))
    right = digits.right(board.get_function("cnn"))
    assert right == 20, right
    # The time of a call, beside the instructions that the board counts: each takes a nanosecond.
    arguments = digits.arguments(0)
    counted = board.get_function("board.instructions")("cnn", *arguments)
    for options in ({"number": 10, "repeat": 3}, {"number": 1, "repeat": 2, "min_repeat_ms": 5}):
        times = board._sess.time_evaluator("cnn", board.cpu(0), **options)(*arguments).results
        assert len(times) == options["repeat"]
        for seconds in times:
            assert abs(seconds * 1e9 - counted) < 0.01 * counted, (seconds, counted)
    print(f"{right} of 20 digits, {times[0] * 1e9:.0f} ns a call, {counted} instructions")


def check_limits(board):
    """Arguments that are too long, tensors that do not fit, and too many of them are errors; the session goes on."""
    echo, device = board.get_function("testing.echo"), board.cpu(0)
    raises(lambda: echo("x" * 5000), "MemoryError: arguments exceed the server's memory")
    raises(lambda: tvm.runtime.empty((1 << 20,), device=device), "MemoryError: tensor exceeds the board's memory")
    kept = []
    raises(lambda: kept.extend(tvm.runtime.empty((1,), device=device) for _ in range(100)), "MemoryError: too many handles")
    kept.clear()
    raises(lambda: board.get_function("cnn")(1), "cnn")
    assert echo("still here") == "still here"
    data = np.arange(2000, dtype="float32")
    np.testing.assert_array_equal(tvm.runtime.tensor(data, device).numpy(), data)


def check_system_library(folder):
    """Objects of TVM's LLVM target register themselves: their functions are those of a module."""
    board = session(build(folder, "library", ["MODULES"], objects=[AOT / "llvm/models_sys_thumbv7em.o"]))
    module, digits = board.system_lib(), Digits(board.cpu(0))
    assert digits.right(module["cnn_f32"]) == 20
    x = tvm.runtime.tensor(np.arange(16, dtype="float32"), board.cpu(0))
    y = tvm.runtime.empty((16,), device=board.cpu(0))
    module["add_one"](x, y)
    np.testing.assert_array_equal(y.numpy(), np.arange(1, 17))
    raises(lambda: module["add_one"](y, digits.scores), "ValueError: Mismatched", "add_one")
    raises(lambda: module["nothing"], "nothing")
    fast = module.time_evaluator("add_one", board.cpu(0), number=5)(x, y).mean
    slow = module.time_evaluator("cnn_f32", board.cpu(0), number=5)(*digits.arguments(0)).mean
    assert 0 < 10 * fast < slow, (fast, slow)


def main(folder):
    network = AOT / "cnn_f32/cnn_f32.c"
    board = session(build(folder, "digits", sources=[network]))
    check_values(board)
    check_digits(board)
    check_limits(board)
    check_system_library(folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as created:
        main(pathlib.Path(created))
