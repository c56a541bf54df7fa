"""Builds libtvm_ffi.so, and on request the command `ferrite`, as released; tags the wheel with the systems that can load them."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILD = Path(__file__).resolve().parents[1] / "build.sh"
# Names of the built files, and the options with which BUILD makes them.
LIBRARY, COMMAND = ("libtvm_ffi.so",), ("ferrite", "--command")


class LibraryHook(BuildHookInterface):
    """Adds the stripped library, its description and, on request, the stripped command to the wheel; tags it with its platform."""

    def initialize(self, version, build_data):
        target = os.environ.get("CARGO_BUILD_TARGET")
        binaries = [stripped(build(*LIBRARY), target)]
        # The description is read from a library that this machine can load.
        elsewhere = target not in (None, host())
        described = stripped(build(*LIBRARY, CARGO_BUILD_TARGET=host()), None) if elsewhere else binaries[0]
        for file in (binaries[0], served(described)):
            build_data["force_include"][str(file)] = f"ferrite_tvm_ffi.libs/{file.name}"
        if os.environ.get("FERRITE_WHEEL_COMMAND"):
            binaries.append(stripped(build(*COMMAND), target))
            build_data["shared_scripts"][str(binaries[1])] = binaries[1].name
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(*binaries)}"


class Progress:
    """Progress of a build on the terminal, past pip, which hides what a backend prints; silent without a terminal."""

    def __init__(self, what: str) -> None:
        self.what, self.crates, self.begun = what, 0, time.monotonic()
        try:
            self.terminal = open("/dev/tty", "w")
        except OSError:
            self.terminal = open(os.devnull, "w")
        self.terminal.write("\n")  # pip's own line is not finished
        self.say(f"building {what} from its Rust sources, which takes some minutes")

    def crate(self, name: str) -> None:
        self.crates += 1
        self.say(f"{self.what}: crate {self.crates} compiled, {time.monotonic() - self.begun:.0f} s ({name})", end="")

    def end(self) -> None:
        self.say(f"{self.what}: built in {time.monotonic() - self.begun:.0f} s")
        self.terminal.close()

    def say(self, text: str, end: str = "\n") -> None:
        self.terminal.write(f"\r\033[Kferrite-tvm-ffi: {text}{end}")
        self.terminal.flush()


def host() -> str:
    """Return the name that rustc has for this machine."""
    about = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"(?m)^host: (\S+)$", about)[1]


def build(name: str, *options: str, **variables: str) -> Path:
    """Return the path of a built file as reported by cargo, since the target directory may be anywhere."""
    command = [BUILD, *options, "--message-format=json-render-diagnostics"]
    progress, files = Progress(name), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | variables) as cargo:
        for line in cargo.stdout:
            message = json.loads(line)
            files += map(Path, message.get("filenames", []))
            if message["reason"] == "compiler-artifact" and not message["fresh"]:
                progress.crate(message["target"]["name"])
    if cargo.returncode != 0:
        raise subprocess.CalledProcessError(cargo.returncode, command)
    progress.end()
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
