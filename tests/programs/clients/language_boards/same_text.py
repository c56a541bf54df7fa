"""The small decoder writes the same text at temperature 0 on the host, on OpenCL, on a Cortex-M33 and in WebAssembly; firmware refuses what does not fit."""

import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

importlib.import_module("ferrite_tvm_ffi")  # first: tvm_ffi then runs on its library
ROOT = pathlib.Path(__file__).resolve().parents[4]
TOOL, SMALL = ROOT / "targets/model", ROOT / "tests/programs/llm/small"
sys.path[:0] = [str(SMALL)]

from generate import DEVICES, Model, greedy  # noqa: E402

PROMPTS = ("The cache ", "Returns the ")
COUNT, CONTEXT = 80, 128
BOARDS = ("cortex-m33", "wasm32")


def compiled(target, place):
    """Compiles the decoder, and returns its folder."""
    command = [sys.executable, "-B", TOOL, SMALL, "--target", target, "--quantization", "q4", "--context", str(CONTEXT), "-o", place / target]
    subprocess.run(command, check=True)
    return place / target


def reply(folder, prompt, **sizes):
    """Builds firmware with other sizes in its header, and returns its status and what it prints for a prompt."""
    flags = " ".join(f"-DSMALL_{name}={value}" for name, value in sizes.items())
    command = [folder / "build.sh", "run", prompt]
    done = subprocess.run(command, env={**os.environ, "CFLAGS": flags}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # The sizes of the program come first.
    return done.returncode, re.sub(r"\A +text.*\n.*firmware\.elf\n", "", done.stdout)


def text_of(folder, prompt):
    """Returns the text that firmware writes, and prints its figures."""
    status, output = reply(folder, prompt, REPLY=COUNT)
    found = re.search(r"^(tokens\|.*)\Z", output, re.M | re.S)
    assert status == 0 and found, (folder.name, status, output)
    print(folder.name, *found[1].split())
    return output[: found.start() - 1]


def check_texts(folders, models):
    for prompt in PROMPTS:
        texts = {name: bytes(greedy(model, list(prompt.encode()), COUNT)).decode() for name, model in models.items()}
        texts |= {folder.name: text_of(folder, prompt) for folder in folders}
        for name, text in texts.items():
            assert text == texts["cpu"] and len(text) == COUNT, (prompt, name, text, texts["cpu"])
        print(prompt + texts["cpu"])


def check_arena(folder):
    """The planned arena holds a conversation of the whole context; one that is smaller than what this takes is an error."""
    status, output = reply(folder, "a" * CONTEXT)
    assert status == 0 and "tokens|1\n" in output, output
    least = int(re.search(r"^memory\|(\d+)$", output, re.M)[1])
    status, output = reply(folder, "a" * CONTEXT, ARENA_BYTES=least - 8)
    assert status == 1 and re.fullmatch(r"MemoryError: .* bytes asked, .*\n", output), output
    print(folder.name, f"with {least - 8} bytes:", output, end="")


def check_prompts(folder):
    """A prompt longer than the context, and none, are errors."""
    status, output = reply(folder, "a" * (CONTEXT + 1))
    assert status == 1 and output.endswith(f"error: the prompt is longer than the context of {CONTEXT} tokens\n"), output
    status, output = reply(folder, "")
    assert status == 1 and "error: the prompt has 0 bytes" in output, output


def main(place):
    models = {"cpu": Model(compiled("host", place)), "opencl": Model(compiled("opencl", place), DEVICES["opencl"])}
    folders = [compiled(board, place) for board in BOARDS]
    check_texts(folders, models)
    for folder in folders:
        check_arena(folder)
        check_prompts(folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(pathlib.Path(folder))
