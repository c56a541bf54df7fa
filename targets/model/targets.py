"""The targets of the command: boards with the profile `relax`, hosts, devices, and web pages."""

import os
import pathlib
import re

import processor
from executable import BUILTIN
from failure import Failure

ROOT = pathlib.Path(__file__).resolve().parents[2]
"""The files of this program: a clone of Ferrite, or the folder into which the command `ferrite` writes what it contains of one."""


def clone():
    """Returns the clone from which libraries and firmware are built, or None: the variable FERRITE, or this file's own."""
    named = os.environ.get("FERRITE")
    folder = pathlib.Path(named) if named else ROOT
    if (folder / "targets/boards").is_dir() and (folder / "Cargo.toml").is_file():
        return folder.resolve()
    if named:
        raise Failure(f"FERRITE={named} is not a clone of Ferrite")
    return None


HOST = "host"
DEVICES = {"opencl": 4, "cuda": 2}
"""Kinds of devices, each with its number in DLPack."""
WEB = {"web": "cpu", "web,webgpu": "webgpu"}
"""Web pages, with the device that runs the kernels."""
OLDEST_CUDA = "sm_75"
"""The oldest architecture that today's CUDA compiles for. Kernels stay source, which Ferrite compiles for the GPU that it finds."""
HALVES = ("cortex-m33", "cortex-m4f")
"""Boards whose C compiler has float16."""


def sources():
    """Returns the clone, or the folder with what the command contains of one."""
    return clone() or ROOT


def boards():
    """Returns the names of the boards with the profile `relax`; none without a clone."""
    root = clone()
    files = sorted((root / "targets/boards").glob("*/board.conf")) if root else []
    return [file.parent.name for file in files if re.search(r"^profiles=\(.*\brelax\b.*\)$", file.read_text(), re.M)]


def check(name):
    known = [*boards(), HOST, *DEVICES, *WEB]
    if name not in known:
        more = "" if clone() else f"; boards need a clone of Ferrite, from which firmware is built: name its folder by the variable FERRITE"
        raise Failure(f"there is no target {name}; targets are: {', '.join(known)}{more}")
    if name in WEB and not clone() and not os.environ.get("FERRITE_WEB"):
        raise Failure(
            "the library for web pages is built from a clone of Ferrite: name its folder by the variable FERRITE, or a library that is built by FERRITE_WEB"
        )


def description(name, cpu=None, simd=True):
    """Returns what TVM compiles for: this machine, with LLVM's name of a processor, a device, or web pages, with or without SIMD."""
    if name in WEB:
        page = processor.web(simd)
        return page if WEB[name] == "cpu" else {"kind": WEB[name], "host": page}
    if name == HOST:
        return processor.target(cpu)
    return {"kind": name, "host": "llvm"} | ({"arch": OLDEST_CUDA} if name == "cuda" else {})


def check_types(name, source):
    """Refuses kernels in C with a type that the compiler of the board lacks."""
    if name not in HALVES and re.search(r"\bhalf\b", source):
        raise Failure(f"the kernels of the model calculate in float16, which the C compiler of {name} does not have")


def builtins(target):
    """Returns the functions that the machine of a target has, by their names."""
    if (root := clone()) is None:
        return set((ROOT / "builtins.txt").read_text().split())
    crate = root / "targets/relax/src/builtins"
    if target in boards():
        return set(re.findall(r'FerriteModelBuiltin_\w+ = \w+ "([^"]+)"', (crate / "table/linked.rs").read_text()))
    sources = "".join(file.read_text() for file in crate.rglob("*.rs"))
    return set(re.findall(r'builtin!\(\s*(?:packed )?"([^"]+)"', sources))


def check_functions(executable, target, kernels):
    """Checks that the machine and the kernels have every function that the model calls."""
    known = builtins(target)
    missing = [name for name in executable.packed if name not in known and (name.startswith(BUILTIN) or name not in kernels)]
    if missing:
        raise Failure(f"the model calls functions that the target {target} does not have: {', '.join(missing)}")
