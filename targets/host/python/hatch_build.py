"""Builds libtvm_ffi.so and the command `ferrite` as released, and tags the wheel with the systems that can load them."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILD = Path(__file__).resolve().parents[1] / "build.sh"
# Names of the built files, and the options with which BUILD makes them.
LIBRARY, COMMAND = ("libtvm_ffi.so",), ("ferrite", "--command")


class LibraryHook(BuildHookInterface):
    """Adds the stripped library, its description and the stripped command to the wheel, and tags the wheel with its platform."""

    def initialize(self, version, build_data):
        target = os.environ.get("CARGO_BUILD_TARGET")
        library, command = (stripped(build(*what), target) for what in (LIBRARY, COMMAND))
        # The description is read from a library that this machine can load.
        elsewhere = target not in (None, host())
        described = stripped(build(*LIBRARY, CARGO_BUILD_TARGET=host()), None) if elsewhere else library
        for file in (library, served(described)):
            build_data["force_include"][str(file)] = f"ferrite_tvm_ffi.libs/{file.name}"
        build_data["shared_scripts"][str(command)] = command.name
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(library, command)}"


def host() -> str:
    """Return the name that rustc has for this machine."""
    about = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"(?m)^host: (\S+)$", about)[1]


def build(name: str, *options: str, **variables: str) -> Path:
    """Return the path of a built file as reported by cargo, since the target directory may be anywhere."""
    command = [BUILD, *options, "--message-format=json-render-diagnostics"]
    messages = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ | variables).stdout
    files = [Path(file) for line in messages.splitlines() for file in json.loads(line).get("filenames", [])]
    return next(file for file in files if file.name == name)


def stripped(file: Path, target: str | None) -> Path:
    """Return a copy of a file stripped of symbols that the loader does not need."""
    copy = file.parent / "wheel" / file.name
    copy.parent.mkdir(exist_ok=True)
    tool = "strip" if target in (None, host()) else target.replace("-unknown", "") + "-strip"
    subprocess.run([tool, "-o", copy, file], check=True)
    return copy


def served(library: Path) -> Path:
    """Write the description of the library, against which later releases of upstream are probed."""
    file = library.with_name("served.json")
    command = [sys.executable, Path(__file__).with_name("served.py"), library]
    file.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return file


def platform_tag(*files: Path) -> str:
    """Return the manylinux tag (PEP 600) for the newest glibc version that a symbol of the files needs.

    Their other dependencies, libgcc_s and libstdc++ (needed in their oldest versions), are in every manylinux policy. Not all
    machines have tags below 2.17.
    """
    versions = (re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", file.read_bytes()) for file in files)
    newest = max(17, *map(int, itertools.chain(*versions)))
    machine = os.environ.get("CARGO_BUILD_TARGET", platform.machine()).split("-")[0]
    return f"manylinux_2_{newest}_{machine}"
