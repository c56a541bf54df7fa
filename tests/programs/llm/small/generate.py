#!/usr/bin/env python3
"""Continues a prompt with a language model that `ferrite model` compiled, on whatever runtime the process has.

    python3 generate.py FOLDER [--prompt TEXT] [--tokens N] [--device NAME] [--runtime MODULE]

MODULE is imported first: `ferrite_tvm_ffi` for Ferrite, the default, or `tvm` for TVM's own runtime.
"""

import argparse
import importlib
import json
import pathlib
import time

CPU, POOLED = 1, 2
DEVICES = {"cpu": CPU, "cuda": 2, "opencl": 4}
PAGE = 16


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--prompt", default="A tensor is")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--device", choices=DEVICES, default="cpu")
    parser.add_argument("--runtime", default="ferrite_tvm_ffi")
    return parser.parse_args()


if __name__ == "__main__":
    importlib.import_module(arguments().runtime)

import numpy as np  # noqa: E402
import tvm_ffi  # noqa: E402


def builtin(name):
    return tvm_ffi.get_global_func("vm.builtin." + name)


def tensor(values, dtype):
    """Copies values into a tensor aligned for kernels."""
    array = np.asarray(values, dtype)
    raw = np.empty(array.nbytes + 64, np.uint8)
    at = -raw.ctypes.data % 64
    aligned = raw[at : at + array.nbytes].view(dtype).reshape(array.shape)
    aligned[...] = array
    return tvm_ffi.from_dlpack(aligned)


class Model:
    """A compiled model, with its weights loaded."""

    def __init__(self, folder, device=CPU, library="model.so"):
        folder, self.device = pathlib.Path(folder), device
        self.config = json.loads((folder / "mlc-chat-config.json").read_text())
        self.machine = tvm_ffi.load_module(str(folder / library))["vm_load_executable"]()
        self.machine["vm_initialization"](*(part for kind in dict.fromkeys((device, CPU)) for part in (kind, 0, POOLED)))
        names = [entry["name"] for entry in json.loads(str(self.machine["_metadata"]()))["params"]]
        builtin("tensor_cache.clear")()
        builtin("tensor_cache.load")(str(folder), device, 0)
        self.weights = builtin("param_array_from_cache_by_name")(tvm_ffi.convert(names))
        builtin("tensor_cache.clear")()

    def cache(self, sequences=1):
        context = self.config["context_window_size"]
        sizes = (sequences, sequences * context, self.config["prefill_chunk_size"], PAGE, 0)
        return self.machine["create_paged_kv_cache"](*(tvm_ffi.Shape([size]) for size in sizes))

    def add(self, cache, sequence):
        builtin("kv_state_add_sequence")(cache, sequence)

    def embedded(self, tokens, *shape):
        rows = self.machine["embed"](self.moved(tensor(tokens, np.int32), self.device), self.weights)
        return builtin("reshape")(rows, tvm_ffi.Shape([*shape, int(rows.shape[-1])]))

    def moved(self, value, device):
        return value if self.device == CPU else builtin("to_device")(value, device, 0)

    def step(self, cache, sequences, lengths, function, *arguments):
        builtin("kv_state_begin_forward")(cache, tvm_ffi.Shape(sequences), tvm_ffi.Shape(lengths))
        logits = self.machine[function](*arguments, cache, self.weights)[0]
        builtin("kv_state_end_forward")(cache)
        return np.array(np.from_dlpack(self.moved(logits, CPU))).reshape(-1, self.config["vocab_size"])

    def prefill(self, cache, sequence, tokens):
        """Appends a prompt, in steps of the model's size, and returns the logits of its last token."""
        size = self.config["prefill_chunk_size"]
        for at in range(0, len(tokens), size):
            part = [int(token) for token in tokens[at : at + size]]
            logits = self.step(cache, [sequence], [len(part)], "prefill", self.embedded(part, 1, len(part)))
        return logits[0]

    def decode(self, cache, sequences, tokens):
        """Appends a token to each sequence, and returns their logits in rows."""
        tokens = [int(token) for token in tokens]
        function = "decode" if len(tokens) == 1 else "batch_decode"
        return self.step(cache, list(sequences), [1] * len(tokens), function, self.embedded(tokens, len(tokens), 1))


def greedy(model, prompt, count):
    """Yields the most probable next tokens."""
    cache = model.cache()
    model.add(cache, 0)
    logits = model.prefill(cache, 0, prompt)
    for _ in range(count):
        token = int(logits.argmax())
        yield token
        logits = model.decode(cache, [0], [token])


def main():
    args = arguments()
    library = f"model-{args.device}.so"
    library = library if (args.folder / library).is_file() else "model.so"
    model, begin = Model(args.folder, DEVICES[args.device], library), time.perf_counter()
    found = list(greedy(model, list(args.prompt.encode()), args.tokens))
    seconds = time.perf_counter() - begin
    print(args.prompt + bytes(found).decode(errors="replace"))
    print(f"{args.tokens / seconds:.0f} tokens per second")


if __name__ == "__main__":
    main()
