"""`ferrite model` compiles folders of random weights of Llama's family: logits equal numpy's, and what does not fit is refused by name.

The models run on Ferrite, or on TVM's own runtime if the argument is `tvm`.
"""

import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
TOOL = ROOT / "targets/model"
importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "ferrite_tvm_ffi")
sys.path[:0] = [str(TOOL), str(ROOT / "tests/programs/llm/small")]

from generate import Model  # noqa: E402
from language import description, parameters  # noqa: E402
from language.checkpoint import Checkpoint  # noqa: E402

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 80,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "eos_token_id": 2,
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
MODELS = {
    # name: what differs in the configuration, type of the weights' file, shards, options, tolerance
    "llama": ({"tie_word_embeddings": True}, "F32", 1, ("--quantization", "none"), 2e-4),
    "llama3": ({"rope_parameters": LLAMA3 | {"rope_theta": 500000.0}, "head_dim": 32}, "BF16", 3, ("--quantization", "q4", "--mode", "compiled"), 2e-4),
    "qwen2": ({"model_type": "qwen2", "tie_word_embeddings": True}, "F16", 1, ("--quantization", "f16"), 0.05),
    "mistral": ({"model_type": "mistral", "sliding_window": 48, "num_key_value_heads": 1}, "F32", 2, ("--quantization", "q4"), 2e-4),
}


def encoded(array, dtype):
    if dtype == "BF16":
        return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return array.astype({"F32": "<f4", "F16": "<f2"}[dtype]).tobytes()


def safetensors(tensors, dtype):
    table, at, data = {}, 0, []
    for name, array in tensors.items():
        data.append(encoded(array, dtype))
        table[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + len(data[-1])]}
        at += len(data[-1])
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(data)


def write(folder, config, dtype="F32", shards=1, change=dict):
    """Writes a folder with random weights. `change` replaces the tensors."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    generator, tensors = np.random.default_rng(7), {}
    for sources in parameters.Sources(parameters.decoder(description.described(config))).table.values():
        for name, shape in sources:
            noise = generator.standard_normal(shape)
            tensors[name] = 1 + 0.1 * noise if len(shape) == 1 and "norm" in name else noise * (0.2 if len(shape) == 1 else shape[-1] ** -0.5)
    tensors = change(tensors)
    if shards == 1:
        (folder / "model.safetensors").write_bytes(safetensors(tensors, dtype))
        return
    names = list(tensors)
    files = {name: f"model-{1 + number % shards:05}-of-{shards:05}.safetensors" for number, name in enumerate(names)}
    for file in set(files.values()):
        (folder / file).write_bytes(safetensors({name: tensors[name] for name in names if files[name] == file}, dtype))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))


def compiled(folder, output, *arguments):
    command = [sys.executable, "-B", str(TOOL), str(folder), "--target", "host", "-o", str(output), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


class Reference:
    """The decoder in numpy, in float64 and without a cache, with weights as the compiled model has them."""

    def __init__(self, folder, quantization):
        self.d = description.read(folder / "config.json")
        sources, checkpoint = parameters.Sources(parameters.decoder(self.d)), Checkpoint(folder)
        self.weights = {name: self.rounded(name, sources.array(name, checkpoint), quantization) for name in sources.table}

    @staticmethod
    def rounded(name, array, quantization):
        if quantization == "f16":
            array = array.astype(np.float16)
        elif quantization == "q4" and array.ndim == 2:
            array = parameters.dequantised(*parameters.quantised(array, name))
        return array.astype(np.float64)

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights.get(name + ".bias", 0)

    def norm(self, name, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.d.epsilon) * self.weights[name + ".weight"]

    def frequencies(self):
        half = self.d.head // 2
        f, s = self.d.theta ** (-np.arange(half) / half), self.d.scaling
        if not s:
            return f
        ratio = s["original_max_position_embeddings"] * f / (2 * np.pi)
        smooth = np.clip((ratio - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"]), 0, 1)
        return f * (smooth + (1 - smooth) / s["factor"])

    def rotate(self, x):
        angles = np.arange(len(x))[:, None, None] * self.frequencies()
        low, high = np.split(x, 2, -1)
        return np.concatenate([low * np.cos(angles) - high * np.sin(angles), high * np.cos(angles) + low * np.sin(angles)], -1)

    def attend(self, at, x):
        d, length = self.d, len(x)
        qkv = self.linear(at + "qkv_proj", x).reshape(length, -1, d.head)
        q, k, v = np.split(qkv, [d.heads, d.heads + d.kv_heads], 1)
        k, v = (np.repeat(y, d.heads // d.kv_heads, 1) for y in (self.rotate(k), v))
        scores = np.einsum("ihd,jhd->hij", self.rotate(q), k) * d.head**-0.5
        scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return self.linear(at + "o_proj", np.einsum("hij,jhd->ihd", p / p.sum(-1, keepdims=True), v).reshape(length, -1))

    def logits(self, tokens):
        x = self.weights["model.embed_tokens.weight"][tokens]
        for layer in range(self.d.layers):
            at = f"model.layers.{layer}."
            x = x + self.attend(at + "self_attn.", self.norm(at + "input_layernorm", x))
            gate, up = np.split(self.linear(at + "mlp.gate_up_proj", self.norm(at + "post_attention_layernorm", x)), 2, -1)
            x = x + self.linear(at + "mlp.down_proj", gate / (1 + np.exp(-gate)) * up)
        head = "model.embed_tokens" if self.d.tied else "lm_head"
        return self.linear(head, self.norm("model.norm", x))


def difference(folder, output, quantization):
    """Returns the largest difference of logits: a prompt, steps of one token, two sequences in a step."""
    import tvm  # noqa: F401, PLC0415 - trial
    model, reference = Model(output), Reference(folder, quantization)
    tokens = np.random.default_rng(3).integers(0, 80, (2, 24))
    expected = [reference.logits(row) for row in tokens]
    cache = model.cache(sequences=2)
    for number in (0, 1):
        model.add(cache, number)
    worst = abs(model.prefill(cache, 0, tokens[0, :20]) - expected[0][19]).max()
    worst = max(worst, abs(model.prefill(cache, 1, tokens[1, :20]) - expected[1][19]).max())
    for at in range(20, 24):
        got = model.decode(cache, [0, 1], tokens[:, at])
        worst = max(worst, *(abs(got[row] - expected[row][at]).max() for row in (0, 1)))
    return worst, max(abs(row).max() for row in expected)


def check_logits(place):
    for name, (more, dtype, shards, arguments, tolerance) in MODELS.items():
        folder, output = place / name, place / f"{name}-out"
        write(folder, CONFIG | more, dtype, shards)
        outcome = compiled(folder, output, *arguments, "--prefill-chunk", "32")
        assert outcome.returncode == 0, outcome.stderr
        worst, largest = difference(folder, output, arguments[1])
        assert worst < tolerance, (name, worst)
        config = json.loads((output / "mlc-chat-config.json").read_text())
        assert config["context_window_size"] == (48 if name == "mistral" else 256), config
        print(f"{name}: largest difference {worst:.1e} of logits up to {largest:.1f}")


def without(name):
    return lambda tensors: {key: value for key, value in tensors.items() if key != name}


def replaced(name, value):
    return lambda tensors: tensors | {name: value}


NORM, DOWN = "model.layers.1.input_layernorm.weight", "model.layers.0.mlp.down_proj.weight"
REFUSED = {
    # name: configuration, change of the tensors, options, message
    "absent": ({}, without(NORM), (), f"lacks the tensor {NORM}"),
    "shape": ({}, replaced(DOWN, np.ones((64, 95))), (), f"the tensor {DOWN} has the shape [64, 95], and config.json means [64, 96]"),
    "extra": ({}, replaced("model.layers.0.self_attn.q_norm.weight", np.ones(16)), (), "model.layers.0.self_attn.q_norm.weight is not part of the model"),
    "untied": ({"tie_word_embeddings": False}, without("lm_head.weight"), (), "lacks the tensor lm_head.weight"),
    "large": ({}, replaced(NORM, np.full(64, 1e6)), (), f"a value of the tensor {NORM} is too large for float16"),
    "kind": ({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, dict, (), "model_type 'gpt2' (GPT2LMHeadModel) is not supported"),
    "heads": ({"num_key_value_heads": 3}, dict, (), "4 attention heads cannot share 3 key heads"),
    "groups": ({"intermediate_size": 80}, dict, ("--quantization", "q4"), "down_proj.q_weight has rows of 80 weights, and 4 bits need a multiple of 32"),
    "yarn": ({"rope_scaling": {"type": "yarn", "factor": 2}}, dict, (), "rotary positions of type 'yarn' are not supported"),
    "context": ({}, dict, ("--context", "300"), "--context 300 is not from 1 to 256"),
}


def check_refusals(place):
    for name, (more, change, arguments, message) in REFUSED.items():
        folder = place / f"refused-{name}"
        sound = CONFIG | {key: value for key, value in more.items() if key in ("tie_word_embeddings", "intermediate_size")}
        write(folder, sound, change=change)
        (folder / "config.json").write_text(json.dumps(CONFIG | more))
        outcome = compiled(folder, place / f"out-{name}", *arguments)
        assert outcome.returncode != 0 and message in outcome.stderr, (name, outcome.stderr)
        assert "Traceback" not in outcome.stderr, outcome.stderr
        assert not (place / f"out-{name}" / "model.so").exists(), name
    print(f"{len(REFUSED)} folders refused")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        check_refusals(pathlib.Path(folder))
        check_logits(pathlib.Path(folder))
