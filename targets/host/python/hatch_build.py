"""Builds libtvm_ffi.so, the extension of targets/python, and on request the command `ferrite` with the archive of kernels that it links
into models, as released; tags the wheel with the systems that can load them."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILD = Path(__file__).resolve().parents[1] / "build.sh"
# Names of the built files, and the options with which BUILD makes them.
LIBRARY, COMMAND, EXTENSION = ("libtvm_ffi.so",), ("ferrite", "--command"), "libferrite_python.so"
# The archive that BUILD makes beside the command.
KERNELS = "libferrite_kernels.a"
# The folder of these files in the wheel.
FOLDER = "ferrite_tvm_ffi.libs"
# Variables: whether the wheel has the command; the versions of CPython whose extension it has.
WITH_COMMAND, VERSIONS = "FERRITE_WHEEL_COMMAND", "FERRITE_WHEEL_PYTHON"
# Versions of CPython, and targets, that the extension is for.
SUPPORTED, TARGETS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14"), r"(x86_64|aarch64)-.*-linux-gnu"


class LibraryHook(BuildHookInterface):
    """Adds the stripped library, its description, the extensions and, on request, the command and its kernels to the wheel; tags it with
    its platform."""

    def initialize(self, version, build_data):
        target = os.environ.get("CARGO_BUILD_TARGET")
        binaries = [stripped(build(*LIBRARY), target)]
        # The description is read from a library that this machine can load.
        elsewhere = target not in (None, host())
        described = stripped(build(*LIBRARY, CARGO_BUILD_TARGET=host()), None) if elsewhere else binaries[0]
        binaries += extensions(target)
        for file in (*binaries, served(described)):
            build_data["force_include"][str(file)] = f"{FOLDER}/{file.name}"
        if os.environ.get(WITH_COMMAND):
            command = build(*COMMAND)
            binaries.append(stripped(command, target))
            build_data["shared_scripts"][str(binaries[-1])] = command.name
            build_data["force_include"][str(command.with_name(KERNELS))] = f"{FOLDER}/{KERNELS}"
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
    progress, files = Progress(" ".join((name, *options[1:]))), []
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


def versions() -> list[str]:
    """Return the versions of CPython whose extensions the wheel contains: those that the environment names, or the running one's."""
    asked = os.environ.get(VERSIONS)
    if not asked:
        free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED")
        running = "%s.%s" % sys.version_info[:2]
        return [running] if running in SUPPORTED and platform.python_implementation() == "CPython" and not free_threaded else []
    found = {"all": [*SUPPORTED], "none": []}.get(asked, asked.split(","))
    if unknown := [version for version in found if version not in SUPPORTED]:
        raise ValueError(f"{VERSIONS}={asked}: there is an extension for CPython {', '.join(SUPPORTED)}, and not for {', '.join(unknown)}")
    return found


def extensions(target: str | None) -> list[Path]:
    """Return the stripped extensions, under the names by which CPython knows its own; none for a target that they are not for."""
    machine = re.fullmatch(TARGETS, target or host())
    files = []
    for version in versions() if machine else ():
        name = f"ferrite_python.cpython-{version.replace('.', '')}-{machine[1]}-linux-gnu.so"
        files.append(stripped(build(EXTENSION, "--python", version), target, name))
    return files


def stripped(file: Path, target: str | None, name: str = "") -> Path:
    """Return a copy of a file stripped of symbols that the loader does not need, under its name or another."""
    copy = file.parent / "wheel" / (name or file.name)
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
