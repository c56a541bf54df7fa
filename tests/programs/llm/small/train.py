#!/usr/bin/env python3
"""Trains the small decoder on the prose of this repository, and writes it as a folder of Hugging Face's kind.

    python3 train.py [FOLDER] [--steps N]         # numpy only; default: the folder of this script

Two runs on one machine and text give the same bits. Processors and releases of numpy differ in the last bits of sums, and later
files have other text: the weights in the repository cannot be made again bit for bit. They learned 1,156,044 bytes, the text of the
tree when they were made, to a loss of 0.984, and of 1.663 on text that they have not seen. New weights carry the hash of their text.
"""

import argparse
import hashlib
import json
import pathlib
import time

import corpus
import network
import numpy as np
import tokenizer

HERE = pathlib.Path(__file__).resolve().parent
SEED = 42
SCHEDULE, STEPS = 2600, 2200
"""Steps in which the rate falls to its end, and the step at which training stops."""
BATCH, LENGTH = 8, 192
RATE, WARM, DECAY = 4e-3, 100, 0.05
REPORT = 100


class Adam:
    """AdamW on the vector of all weights; the rate falls to a twentieth by half a cosine over the schedule."""

    def __init__(self, weights):
        self.weights, self.step = weights, 0
        self.mean, self.square = np.zeros_like(weights.flat), np.zeros_like(weights.flat)
        self.decayed = np.concatenate([np.full(view.size, view.ndim > 1) for view in weights.by_name.values()])

    def rate(self):
        progress = max(0, self.step - WARM) / (SCHEDULE - WARM)
        return RATE * min(1, self.step / WARM) * (0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * progress)))

    def update(self, gradient):
        self.step += 1
        gradient = gradient * min(1.0, 1.0 / (float(np.sqrt(gradient @ gradient)) + 1e-12))
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.02 * (gradient * gradient - self.square)
        mean, square = self.mean / (1 - 0.9**self.step), self.square / (1 - 0.98**self.step)
        self.weights.flat -= self.rate() * (mean / (np.sqrt(square) + 1e-9) + DECAY * self.weights.flat * self.decayed)


def windows(data, generator, count):
    starts = generator.integers(0, len(data) - LENGTH - 1, count)
    rows = np.stack([data[start : start + LENGTH + 1] for start in starts]).astype(np.int64)
    return rows[:, :-1], rows[:, 1:]


def train(data, steps, save):
    """Returns the weights, and the losses in nats for a byte of text that was learned and of text that was not."""
    text = hashlib.sha256(data).hexdigest()
    held = data[-len(data) // 40 :]
    data = data[: -len(held)]
    weights, generator = network.Parameters.random(SEED), np.random.default_rng(SEED)
    adam, begin, losses = Adam(weights), time.monotonic(), []
    for step in range(1, steps + 1):
        mean, gradient = network.gradients(*windows(data, generator, BATCH), weights)
        adam.update(gradient.flat)
        losses.append(mean)
        if step % REPORT == 0 or step == steps:
            other = network.loss(*windows(held, np.random.default_rng(SEED), 2 * BATCH), weights)[0]
            learned = sum(losses[-REPORT:]) / len(losses[-REPORT:])
            print(f"step {step}: loss {learned:.3f}, of other text {other:.3f}, {time.monotonic() - begin:.0f} s", flush=True)
            save(weights, {"steps": step, "text": text, "bytes": len(data), "loss": round(learned, 3), "other_loss": round(other, 3)})


def safetensors(tensors, metadata):
    """Returns the bytes of a file of safetensors."""
    header, at, data = {"__metadata__": metadata}, 0, []
    for name, array in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        data.append(array.tobytes())
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(data)


def config():
    s = network.SIZES
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": s["width"],
        "intermediate_size": s["hidden"],
        "num_hidden_layers": s["layers"],
        "num_attention_heads": s["heads"],
        "num_key_value_heads": s["kv_heads"],
        "head_dim": s["head"],
        "vocab_size": s["vocab"],
        "max_position_embeddings": 512,
        "rms_norm_eps": network.EPSILON,
        "rope_theta": network.THETA,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": 0,
        "torch_dtype": "float16",
    }


def write(folder, weights, results):
    folder.mkdir(parents=True, exist_ok=True)
    halves = {name: view.astype("<f2") for name, view in weights.by_name.items()}
    (folder / "model.safetensors").write_bytes(safetensors(halves, {name: str(value) for name, value in results.items()}))
    (folder / "config.json").write_text(json.dumps(config(), indent=2) + "\n")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer.byte_level(), indent=1, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE)
    parser.add_argument("--steps", type=int, default=STEPS)
    args = parser.parse_args()
    data = np.frombuffer(corpus.read(), np.uint8)
    print(f"{len(data)} bytes of text, {network.Parameters().flat.size} weights")
    train(data, args.steps, lambda weights, results: write(args.folder, weights, results))


if __name__ == "__main__":
    main()
