"""Runs language models on the OpenCL driver of this machine: scenarios, and the small decoder, which writes what it writes on the host."""

import pathlib
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

LLM = pathlib.Path(__file__).parents[2] / "llm"
sys.path[:0] = [str(LLM), str(LLM / "small")]
import scenario  # noqa: E402
from generate import CPU, DEVICES, Model, greedy  # noqa: E402

PROMPT, COUNT = b"The cache ", 30


def text(device, library):
    return bytes(greedy(Model(LLM / "small/host", device, library), list(PROMPT), COUNT)).decode()


scenario.compare_all("llama", "opencl", scenario.OPENCL)
expected, found = text(CPU, "model.so"), text(DEVICES["opencl"], "model-opencl.so")
assert found == expected, (found, expected)
print(PROMPT.decode() + found)
