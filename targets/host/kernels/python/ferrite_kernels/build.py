"""Libraries compiled when a program asks for them, once for each change."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Sequence, Union

import tvm_ffi

from . import cache, compilers
from .compilers import RUST, Language

FORMAT = "1"  # of the cache: a change of it leaves older builds unused
SLOW = 1.0  # seconds after which a line says what the program waits for

Source = Union[str, "os.PathLike[str]"]


class BuildError(RuntimeError):
    """A compiler failed; the text has its command and its messages."""


def build(sources: Source | Sequence[Source], flags: Sequence[str] = ()) -> tvm_ffi.Module:
    """Compile sources into a library, unless the cache has it, and load it.

    Sources are files in C (`.c`, by cc), C++ (`.cc`, `.cpp`, `.cxx`, by c++), CUDA (`.cu`, by nvcc) and HIP (`.hip`, by hipcc), or one
    crate in Rust (its folder or `Cargo.toml`, by cargo); CC, CXX, NVCC, HIPCC and CARGO name other compilers. `flags` go to each of
    them, after the options that this function gives. `ferrite/kernel.h` and TVM-FFI's headers are found.

    The library is that of an earlier build if sources, flags, compilers and the headers read are the same. Builds are kept in the
    folder FERRITE_KERNELS_CACHE, or ferrite-kernels in the user's cache folder; nothing else is written. Of processes that ask for the same
    library, one builds it. A line on standard error says so if it takes more than a second.

    Errors: BuildError with the compiler's messages; MissingCompiler; ValueError for a file of no known language; OSError if a
    source cannot be read, or the cache lacks the library and cannot be written. Threads may call it at the same time.
    """
    paths = [_resolved(source) for source in ([sources] if isinstance(sources, (str, os.PathLike)) else sources)]
    languages = [compilers.language_of(path) for path in paths]
    if not paths or RUST in languages and len(paths) > 1:
        raise ValueError("expected source files, or one crate in Rust")
    return tvm_ffi.load_module(str(_library(paths, languages, [str(flag) for flag in flags])))


def _resolved(source: Source) -> Path:
    path = Path(source).resolve(strict=True)
    return (path / "Cargo.toml").resolve(strict=True) if path.is_dir() else path


def _library(paths: list[Path], languages: list[Language], flags: list[str]) -> Path:
    """Return the path of a library, built if it is not in the cache."""
    entry = cache.Entry(_key(paths, languages, flags))
    found = entry.find()
    if found is not None:
        return found
    name = paths[0].parent.name if languages[0] is RUST else ", ".join(path.name for path in paths)
    with entry.building(_LineIfSlow(f"waiting for another process that builds {name}")) as work:
        return entry.find() or _built(entry, work, paths, languages, flags, name)


def _key(paths: list[Path], languages: list[Language], flags: list[str]) -> str:
    """Return the key of a request: all that a build depends on, but the content of files."""
    parts = [FORMAT, platform.machine(), *flags, "", *compilers.include_options(), *map(str, paths)]
    for language in dict.fromkeys(languages):
        parts += [compilers.identity_of(compilers.command_of(language)), *language.options]
    return cache.digest(*parts)


def _built(entry: cache.Entry, work: Path, paths: list[Path], languages: list[Language], flags: list[str], name: str) -> Path:
    """Build a library in a folder, and move it into the cache."""
    make = _crate if languages[0] is RUST else _objects
    with _LineIfSlow(f"building {name}"):
        library, rules = make(work, paths, languages, flags)
    return entry.keep(library, {file for text in rules for file in compilers.files_in(text)})


def _objects(work: Path, paths: list[Path], languages: list[Language], flags: list[str]) -> tuple[Path, list[str]]:
    """Compile each source, and link the objects. Returns the library, and the rules that name the headers of each."""
    objects, rules = [], []
    for at, (path, language) in enumerate(zip(paths, languages)):
        made, rule = work / f"{at}.o", work / f"{at}.d"
        options = [*language.options, *compilers.include_options(), *flags, *language.dependencies, str(rule)]
        _run([*compilers.command_of(language), *options, "-c", str(path), "-o", str(made)], work)
        objects.append(str(made))
        rules.append(rule.read_text())
    library = work / "library.so"
    link = compilers.command_of(compilers.linker_of(languages))
    _run([*link, "-shared", *objects, *flags, "-o", str(library)], work)
    return library, rules


def _crate(work: Path, paths: list[Path], _: list[Language], flags: list[str]) -> tuple[Path, list[str]]:
    """Build the shared object of a crate. Returns it, and the rules that name its sources.

    Cargo's own folder stays beside the build's, so that a change of the crate does not compile its dependencies again.
    """
    target = work.with_suffix(".cargo")
    command = [*compilers.command_of(RUST), "build", "--release", "--manifest-path", str(paths[0]), "--target-dir", str(target), *flags]
    _run(command, paths[0].parent)
    made = sorted((target / "release").glob("*.so"))
    if len(made) != 1:
        raise BuildError(f"{paths[0]}: expected one library, got {len(made)}: set crate-type = [\"cdylib\"] in [lib]")
    library = Path(shutil.copy(made[0], work / "library.so"))
    rules = [made[0].with_suffix(".d").read_text(), f": {paths[0]}", f": {paths[0].with_name('Cargo.lock')}"]
    return library, rules


def _run(command: list[str], folder: Path) -> None:
    result = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    if result.returncode != 0:
        where = "\nferrite/kernel.h was not found: FERRITE names the folder of a clone of Ferrite" if _lacks_header(result.stdout) else ""
        raise BuildError(f"{shlex.join(command)}\n{result.stdout.rstrip()}\nexit status {result.returncode}{where}")


def _lacks_header(messages: str) -> bool:
    """Return whether a compiler did not find Ferrite's header: outside a clone, FERRITE says where it is."""
    return re.search(r"error: '?ferrite/kernel\.h'?:? .*(No such file|not found)", messages) is not None


class _LineIfSlow:
    """Prints a line on standard error, once, if a block takes long."""

    def __init__(self, text: str) -> None:
        self.line, self.printed = f"ferrite_kernels: {text}\n", False

    def __enter__(self) -> None:
        self.timer = threading.Timer(SLOW, self._print)
        self.timer.daemon = True
        self.timer.start()

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()

    def _print(self) -> None:
        if not self.printed:
            self.printed = True
            sys.stderr.write(self.line)
            sys.stderr.flush()
