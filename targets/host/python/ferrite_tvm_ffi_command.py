"""The command `python -m ferrite_tvm_ffi`: prints the libraries in use, or runs a program on this library."""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import json
import os
import runpy
import sys
from pathlib import Path

SWITCH = "FERRITE_TVM_FFI"
DESCRIPTION = "Says which libtvm_ffi.so the installed tvm_ffi runs on, or runs a program on Ferrite's."
EPILOG = f"""
With {SWITCH}=1 in the environment, each program of this environment runs on Ferrite's library, without the word `run`.

Exit status: 0 if the installed tvm_ffi runs on this library, 1 if it does not, 2 for wrong arguments; that of the program after `run`.
"""


def main(ferrite) -> int:
    """Run the command. `ferrite` is the module ferrite_tvm_ffi, which is not activated yet, unless the environment did."""
    options = parser().parse_args()
    if options.command == "run":
        return run(ferrite, options)
    found = examine(ferrite)
    print(json.dumps(found, indent=2) if options.json else text(found))
    return 0 if found["fits"] else 1


def parser() -> argparse.ArgumentParser:
    kind = argparse.RawDescriptionHelpFormatter
    root = argparse.ArgumentParser("python -m ferrite_tvm_ffi", description=DESCRIPTION, epilog=EPILOG, formatter_class=kind)
    root.add_argument("--json", action="store_true", help="print JSON")
    commands = root.add_subparsers(dest="command", metavar="run")
    one = commands.add_parser("run", help="run a program that does not import ferrite_tvm_ffi", description="Runs a program on this library.")
    one.add_argument("-m", dest="module", action="store_true", help="the program is a module, as for `python -m`")
    one.add_argument("program", help="file or, with -m, module")
    one.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    return root


def run(ferrite, options: argparse.Namespace) -> int:
    """Run a program as the interpreter would, after this library is loaded. Its child processes run on it, too."""
    try:
        ferrite.activate()
    except ImportError as error:
        print(f"does not fit: {error}", file=sys.stderr)
        return 1
    os.environ[SWITCH] = "1"
    sys.argv = [options.program, *options.arguments]
    if options.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        return 0
    if not Path(options.program).exists():
        print(f"there is no file {options.program}", file=sys.stderr)
        return 2
    sys.path[0] = str(Path(options.program).resolve().parent)
    runpy.run_path(options.program, run_name="__main__")
    return 0


def examine(ferrite) -> dict:
    """Return the libraries in use, whether the installed tvm_ffi runs on this library alone, and if not, the reason."""
    found = {"library": str(ferrite.LIBRARY), "fits": False}
    try:
        abi = (ctypes.c_uint32 * 3)()
        ferrite.load().TVMFFIGetVersion(abi)
        found["bytes"] = ferrite.LIBRARY.stat().st_size
        found["version"] = importlib.metadata.version("ferrite-tvm-ffi")
        found["abi"] = ".".join(map(str, abi))
        ferrite.activate()
        import tvm_ffi
    except ImportError as error:
        return {**found, "reason": str(error)}
    others = ferrite.mapped() - {str(ferrite.LIBRARY)}
    if tvm_ffi.LIB._name != str(ferrite.LIBRARY) or others:
        return {**found, "reason": f"tvm_ffi has loaded {tvm_ffi.LIB._name}; mapped are {', '.join(ferrite.mapped())}"}
    import ferrite_tvm_ffi_docs  # noqa: PLC0415 - after the library
    import ferrite_tvm_ffi_fast  # noqa: PLC0415
    import ferrite_tvm_ffi_pickle  # noqa: PLC0415

    parts, fast = {**ferrite_tvm_ffi_pickle.INSTALLED, **ferrite_tvm_ffi_docs.INSTALLED}, ferrite_tvm_ffi_fast.INSTALLED
    release = ferrite.installed()
    return {
        **found,
        "fits": True,
        "tvm_ffi": tvm_ffi.__version__,
        "tested": release in ferrite.TESTED,
        "serves": ".".join(map(str, ferrite.numbers(release))),
        "added": [name for name, reason in parts.items() if reason is None],
        "left alone": {name: reason for name, reason in parts.items() if reason},
        "fast": [name.removeprefix("fast ") for name, reason in fast.items() if reason is None],
        "not fast": {name.removeprefix("fast "): reason for name, reason in fast.items() if reason},
    }


def text(found: dict) -> str:
    lines = []
    if "abi" in found:
        lines.append(f"library: {found['library']}, {found['bytes']} bytes")
        lines.append(f"version: {found['version']}, TVMFFIGetVersion: {found['abi']}")
    if not found["fits"]:
        return "\n".join([*lines, f"does not fit: {found['reason']}"])
    how = "a tested release" if found["tested"] else "not tested, but the library has all that it needs"
    lines.append(f"tvm_ffi: {found['tvm_ffi']} fits, and runs on this library ({how})")
    lines.append(f"mode: the library serves release {found['serves']}")
    lines.append(f"added to tvm_ffi: {', '.join(found['added']) or 'nothing'}")
    lines.extend(f"left alone: {name} ({reason})" for name, reason in found["left alone"].items())
    lines.append(f"fast: {', '.join(found['fast']) or 'nothing'}")
    lines.extend(f"not fast: {name} ({reason})" for name, reason in found["not fast"].items())
    return "\n".join(lines)
