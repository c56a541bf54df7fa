"""The small decoder writes the same text on Ferrite, as bytecode and as machine code, as in numpy; its folder loads as the tokenizer does."""

import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
TOOL, SMALL = ROOT / "targets/model", ROOT / "tests/programs/llm/small"
importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "ferrite_tvm_ffi")
sys.path[:0] = [str(TOOL), str(SMALL)]

import network  # noqa: E402
import tokenizer  # noqa: E402
from generate import Model, greedy  # noqa: E402
from language.checkpoint import Checkpoint  # noqa: E402

PROMPTS = ("A tensor is", "Returns the ", "The library ")
COUNT = 80


def expected(prompt):
    """Returns the most probable next tokens of a prompt, in numpy."""
    weights, checkpoint = network.Parameters(), Checkpoint(SMALL)
    for name in weights.by_name:
        weights[name] = checkpoint.tensor(name)
    tokens = list(prompt.encode())
    for _ in range(COUNT):
        tokens.append(int(network.logits(np.array([tokens]), weights)[0, -1].argmax()))
    return bytes(tokens[-COUNT:])


def main(place):
    assert json.loads((SMALL / "tokenizer.json").read_text()) == tokenizer.byte_level()
    texts = [expected(prompt) for prompt in PROMPTS]
    for mode in ("bytecode", "compiled"):
        command = [sys.executable, "-B", TOOL, SMALL, "--target", "host", "--quantization", "none", "--mode", mode, "-o", place / mode]
        subprocess.run(command, check=True, capture_output=True)
        model = Model(place / mode)
        for prompt, text in zip(PROMPTS, texts):
            found = bytes(greedy(model, list(prompt.encode()), COUNT))
            assert found == text, (mode, prompt, found, text)
    print(*(prompt + text.decode() for prompt, text in zip(PROMPTS, texts)), sep="\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(pathlib.Path(folder))
