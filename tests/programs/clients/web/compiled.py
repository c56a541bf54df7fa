"""The models of ../../relax as machine code, linked by the `fcompile` of ferrite_tvm_ffi.web with the functions that each one calls, have
the recorded results in Node. FERRITE_WEB names the library, TVMJS the folder of TVM's JavaScript runtime."""

import os
import pathlib
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # first
import tvm
from tvm import relax

PROGRAMS = pathlib.Path(__file__).resolve().parents[2]
TVMJS = pathlib.Path(os.environ["TVMJS"])
TARGET = tvm.target.Target({"kind": "llvm", "mtriple": "wasm32-unknown-unknown-wasm"})
LIBRARY = os.environ["FERRITE_WEB"]


def exported(mod, output, **options):
    executable = relax.build(mod, target=TARGET, exec_mode="compiled")
    executable.export_library(str(output), fcompile=ferrite_tvm_ffi.web.fcompile, **options)


def check_model(name, mod, folder):
    """Compares the results of a model with the recorded ones, and returns its size."""
    module = folder / f"{name}.wasm"
    exported(mod, module)
    for release in "0.27", "0.28":
        subprocess.run(["node", PROGRAMS / "web/models.js", TVMJS / f"tvmjs-{release}.js", module, name], check=True)
    return module.stat().st_size


def check_mistakes(mod, folder):
    """Compares the errors of what is missing with the documented ones."""
    del os.environ["FERRITE_WEB"]
    for options, message in (
        ({}, "name it by the variable FERRITE_WEB"),
        ({"archive": "absent.a"}, "absent.a cannot be read"),
        ({"archive": LIBRARY, "functions": ["absent"]}, "the library has no function absent"),
    ):
        try:
            exported(mod, folder / "wrong.wasm", **options)
        except ferrite_tvm_ffi.web.LinkError as error:
            assert message in str(error), error
        else:
            raise AssertionError(message)


def models():
    """Returns the models that gen_relax.py saves, by name."""
    sys.path.insert(0, str(PROGRAMS / "relax"))
    import gen_relax

    found = {}
    gen_relax.save = lambda name, mod, *_, **__: found.update({name: mod.with_attr("system_lib_prefix", f"fixture_{name}_")})
    for generate in gen_relax.MODELS:
        generate()
    return found


with tempfile.TemporaryDirectory() as temporary:
    folder, mods = pathlib.Path(temporary), models()
    assert len(mods) == 8, sorted(mods)
    sizes = {name: check_model(name, mod, folder) for name, mod in mods.items()}
    whole = folder / "whole.wasm"
    exported(mods["cnn"], whole, every_function=True)
    print(sizes, whole.stat().st_size)
    assert sizes["cnn"] < 0.6 * whole.stat().st_size
    check_mistakes(mods["mlp"], folder)
