"""The small decoder talks by WebLLM as on this machine: the same tokens at temperature 0, with penalties, and from the page's cache.

TVMJS and FERRITE_WEB are those of ../web.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # noqa: F401
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "web"), str(HERE.parents[1] / "llm/small")]

from digits import ROOT, TVMJS, compiled  # noqa: E402
from generate import Model, greedy  # noqa: E402

SMALL = ROOT / "tests/programs/llm/small"
PROMPTS = ("A tensor is", "Returns the ")
COUNT = 60
"""Tokens of a reply, which are bytes."""
PENALTIES = {"presence_penalty": 0.7, "frequency_penalty": 0.4, "repetition_penalty": 1.2}


def penalised(model, prompt):
    """Returns the most probable next tokens, whose logits are lowered where they have appeared."""
    cache, used = model.cache(), np.zeros(model.config["vocab_size"])
    model.add(cache, 0)
    logits = model.prefill(cache, 0, prompt)
    for _ in range(COUNT // 2):
        lower = logits - PENALTIES["presence_penalty"] - PENALTIES["frequency_penalty"] * used
        factor = PENALTIES["repetition_penalty"]
        token = int(np.where(used > 0, np.where(lower < 0, lower * factor, lower / factor), logits).argmax())
        used[token] += 1
        yield token
        logits = model.decode(cache, [0], [token])


def main(place):
    for target in "host", "web,webgpu":
        # Prompts take two steps, the second of which sees cached tokens, too.
        status, output = compiled(SMALL, target, place / target, "--quantization", "q4", "--prefill-chunk", "8")
        assert status == 0, output
    model = Model(place / "host")
    expected = {
        "greedy": {prompt: bytes(greedy(model, list(prompt.encode()), COUNT)).decode() for prompt in PROMPTS},
        "penalties": PENALTIES,
        "penalised": bytes(penalised(model, list(PROMPTS[0].encode()))).decode(),
    }
    (place / "expected.json").write_text(json.dumps(expected))
    subprocess.run(["node", HERE / "web_llm.js", TVMJS, place / "web,webgpu", place / "expected.json"], check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(pathlib.Path(folder))
