"""The compilers of sources: which one a file needs, how it is called, and what it says of itself."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple, Sequence

from tvm_ffi import libinfo

HERE = Path(__file__).resolve().parent


class Language(NamedTuple):
    """A language, the variable that names its compiler, the compilers that are looked for, and the options of all builds."""

    name: str
    variable: str
    commands: tuple[str, ...]
    options: tuple[str, ...]
    dependencies: tuple[str, ...] = ("-MD", "-MF")


_HOST = ("-O3", "-fPIC", "-fvisibility=hidden")
C = Language("C", "CC", ("cc", "gcc", "clang"), ("-std=gnu11", *_HOST))
CPP = Language("C++", "CXX", ("c++", "g++", "clang++"), ("-std=c++17", *_HOST))
CUDA = Language("CUDA", "NVCC", ("nvcc",), ("-std=c++17", "-O3", "-Xcompiler=-fPIC"))
HIP = Language("HIP", "HIPCC", ("hipcc",), ("-std=c++17", *_HOST))
RUST = Language("Rust", "CARGO", ("cargo",), ())

_SUFFIXES = {".c": C, ".cc": CPP, ".cpp": CPP, ".cxx": CPP, ".cu": CUDA, ".hip": HIP}
_LINKERS = (HIP, CUDA, CPP, C)  # the first one whose files there are links them


class MissingCompiler(RuntimeError):
    """A language has no compiler here."""


def language_of(source: Path) -> Language:
    """Return the language of a source: by its suffix, or Rust for the manifest of a crate. ValueError for other files."""
    if source.name == "Cargo.toml":
        return RUST
    if source.suffix not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise ValueError(f"{source}: expected a file that ends with {known}, a Cargo.toml or its folder")
    return _SUFFIXES[source.suffix]


def linker_of(languages: Sequence[Language]) -> Language:
    """Return the language whose compiler links objects of these."""
    return next(language for language in _LINKERS if language in languages)


def command_of(language: Language) -> list[str]:
    """Return the words that call a compiler: of its variable, or the first one that is installed. MissingCompiler without one."""
    named = shlex.split(os.environ.get(language.variable, ""))
    for words in [named] if named else [[command] for command in language.commands]:
        path = shutil.which(words[0])
        if path:
            return [path, *words[1:]]
    wanted = named[0] if named else " or ".join(language.commands)
    raise MissingCompiler(f"{language.name} needs {wanted}, which is not in PATH: install it, or name a compiler by {language.variable}")


def identity_of(command: Sequence[str]) -> str:
    """Return the path of a compiler and what it says of its version."""
    return _identity(tuple(command), os.stat(command[0]).st_mtime_ns)


@functools.lru_cache
def _identity(command: tuple[str, ...], _: int) -> str:
    said = subprocess.run([*command, "--version"], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return f"{os.path.realpath(command[0])} {command[1:]}\n{said.stdout}"


def include_options() -> list[str]:
    """Return options for the folders with `ferrite/kernel.h` and TVM-FFI's headers: FERRITE, a checkout around this package, tvm_ffi."""
    roots = [Path(os.environ["FERRITE"])] if "FERRITE" in os.environ else [HERE, *HERE.parents[4:5]]
    own = [root / "include" for root in roots if (root / "include/ferrite/kernel.h").is_file()]
    return [f"-I{folder}" for folder in (*own, libinfo.find_include_path(), libinfo.find_dlpack_include_path())]


def files_in(rules: str) -> list[str]:
    """Return the files that the rules of a makefile depend on, as compilers and cargo write them."""
    files: dict[str, None] = {}
    for rule in rules.replace("\\\n", " ").splitlines():
        for name in re.findall(r"(?:\\.|[^\s\\])+", rule.partition(": ")[2]):
            files[re.sub(r"\\(.)", r"\1", name)] = None
    return list(files)
