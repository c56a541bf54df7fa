"""Digits that the command compiles for web pages are right in Node, under the package and both releases of TVM's JavaScript runtime in the folder TVMJS.

FERRITE_WEB names the library."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi

ROOT = pathlib.Path(__file__).resolve().parents[4]
HERE = pathlib.Path(__file__).parent
TVMJS = pathlib.Path(os.environ["TVMJS"])
COMMAND = pathlib.Path(ferrite_tvm_ffi.__file__).parent / "bin/ferrite"
MODEL = ROOT / "tests/programs/relax/cnn/digits.onnx"
SOURCE = """
import tvm
from tvm import relax

def add(builder, name, x, y):
    with builder.function(name, [x, y]):
        builder.emit_func_output(relax.Tuple([relax.op.add(x, y), relax.op.multiply(x, y)]))

builder = relax.BlockBuilder()
for name, dtype in ("wide", "int64"), ("halves", "float16"):
    add(builder, name, *(relax.Var(name, relax.TensorType((2, 3), dtype)) for name in ("x", "second one")))
model = builder.get()
"""
TYPED = """
import { load } from "./model.mjs";

export async function sums(): Promise<BigInt64Array> {
  const model = await load({ source: new Uint8Array(8), device: "cpu" });
  const inputs = { x: new BigInt64Array(6), "second one": new BigInt64Array(6) };
  const { output0 } = await model.run(inputs, "wide");
  // @ts-expect-error: an array of another type
  await model.run({ x: new Float32Array(6), "second one": new BigInt64Array(6) }, "wide");
  // @ts-expect-error: a function that the model lacks
  await model.run(inputs, "absent");
  model.dispose();
  return output0.data;
}
"""


def compiled(model, target, folder, *options, **variables):
    """Runs the command, and returns what it prints."""
    command = [sys.executable, "-B", ROOT / "targets/model", model, "--target", target, "-o", folder, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **variables})
    print(done.stdout)
    return done.returncode, done.stdout


def run(program, *arguments):
    for runtime in "package", TVMJS / "tvmjs-0.27.js", TVMJS / "tvmjs-0.28.js":
        subprocess.run(["node", HERE / program, runtime, *arguments], check=True)


def write_pictures(place):
    """Writes the pictures of digits and their labels, and returns both files."""
    data = (ROOT / "tests/programs/aot/cnn_f32/data.h").read_text()
    files = place / "pictures.json", place / "labels.json"
    for file, array in zip(files, ("x", "label")):
        numbers = re.search(rf"\bcnn_f32_{array}\[\d*\] = {{([^}}]*)}}", data)[1]
        file.write_text(str([float(number) for number in re.findall(r"[-+.\de]+", numbers)]))
    return files


def check_digits(place):
    pictures, labels = write_pictures(place)
    for name, *options in ("simd",), ("plain", "--no-simd"), ("more", "--with", "vm.builtin.sample", "--with", "relax.VMExecutable.", "--asyncify"):
        status, output = compiled(MODEL, "web", place / name, *options)
        assert status == 0 and "main(x: float32[1, 1, 8, 8])" in output, output
        size = (place / name / "model.wasm").stat().st_size
        parts = [int(number) for number in re.findall(r"^(?:library|weights|kernels) +(\d+) bytes", output, re.M)]
        assert sum(parts) == size and all(parts), output
        run("digits.mjs", place / name, pictures, labels)


def check_without_clone(place):
    """The installed command, which has no clone, links the library that FERRITE_WEB names."""
    folder = place / "elsewhere"
    folder.mkdir()
    variables = {name: value for name, value in os.environ.items() if name not in ("FERRITE", "CARGO_MANIFEST_DIR")} | {"PYTHON": sys.executable}
    subprocess.run([COMMAND, "model", MODEL, "--target", "web", "-o", "digits"], cwd=folder, env=variables, check=True)
    run("digits.mjs", folder / "digits", place / "pictures.json", place / "labels.json")


def check_functions(place):
    """A function that no model calls is left out of the digits without an option, and linked by --with."""
    for release in "0.27", "0.28":
        for name, state in ("simd", "unlinked"), ("more", "linked"):
            subprocess.run(["node", HERE / "functions.mjs", TVMJS / f"tvmjs-{release}.js", place / name, state], check=True)


def check_types(place):
    source = place / "several.py"
    source.write_text(SOURCE)
    status, output = compiled(source, "web", place / "several", "--function", "halves")
    assert status == 0, output
    run("types.mjs", place / "several")
    (place / "several/page.mts").write_text(TYPED)
    compiler = TVMJS / "node_modules/.bin/tsc"
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext"]
    subprocess.run([compiler, *options, place / "several/page.mts"], check=True)


def check_webgpu(place):
    status, output = compiled(MODEL, "web,webgpu", place / "webgpu")
    assert status == 0, output
    run("no_webgpu.mjs", place / "webgpu")


def check_mistakes(place):
    rustc = place / "bin/rustc"
    rustc.parent.mkdir()
    rustc.write_text("#!/bin/sh\necho host: nowhere\n")
    rustc.chmod(0o755)
    for variable, value, message in (
        ("FERRITE_WEB", place / "absent.a", "absent.a is not a file"),
        ("FERRITE_WEB", MODEL, "the model cannot be linked: .*digits.onnx"),
        ("PATH", f"{rustc.parent}:{os.environ['PATH']}", "the model cannot be linked: there is no .*/rust-lld"),
    ):
        status, output = compiled(MODEL, "web", place / "wrong", **{variable: str(value)})
        assert status == 1 and re.search(message, output) and "Traceback" not in output, output


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for check in check_digits, check_without_clone, check_functions, check_types, check_webgpu, check_mistakes:
            check(pathlib.Path(folder))
