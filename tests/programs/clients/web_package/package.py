"""The JavaScript package of targets/web/npm in Node, in Deno, in Bun, in the bundles of page.mjs, and under `tsc --strict`.

FERRITE_WEB names the library, and PACKAGES a folder with the packages of package.json."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
PACKAGES = pathlib.Path(os.environ["PACKAGES"]) / "node_modules"
# Sums of two vectors, and a tensor of 64 MiB.
MODEL = """
from tvm import relax

builder = relax.BlockBuilder()
one, other = (relax.Var(name, relax.TensorType((4,), "float32")) for name in ("one", "other"))
with builder.function("main", [one, other]):
    builder.emit_func_output(relax.Tuple([builder.emit(relax.op.add(one, other)), one]))
x = relax.Var("x", relax.TensorType((1,), "float32"))
with builder.function("large", [x]):
    builder.emit_func_output(builder.emit(relax.op.broadcast_to(x, (16 << 20,))))
model = builder.get()
"""


def install(work):
    """Makes a folder like that of a page's author: programs, and the packages."""
    for name in "page.mjs", "run.mjs", "types.mts":
        shutil.copy(HERE / name, work)
    (work / "package.json").write_text('{ "type": "module" }')
    modules = work / "node_modules"
    (modules / "@ferrite").mkdir(parents=True)
    shutil.copytree(ROOT / "targets/web/npm", modules / "@ferrite/web")
    for package in PACKAGES.iterdir():
        (modules / package.name).symlink_to(package)


def run(*command, **variables):
    subprocess.run(command, check=True, env={**os.environ, **variables})


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    install(work)
    model = work / "model"
    (work / "model.py").write_text(MODEL)
    run(sys.executable, "-B", ROOT / "targets/model", work / "model.py", "--target", "web", "-o", model)
    run("node", "--test", HERE / "node.test.mjs", FOLDER=str(model))
    run("node", HERE / "bundles.mjs", work, model / "model.wasm")
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext"]
    for libraries in [], ["--lib", "es2022,dom"]:
        run(work / "node_modules/.bin/tsc", *options, *libraries, work / "types.mts")
