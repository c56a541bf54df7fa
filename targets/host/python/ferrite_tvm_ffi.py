"""Use Ferrite's libtvm_ffi.so in place of the one inside apache-tvm-ffi.

    import ferrite_tvm_ffi  # first
    import tvm_ffi

`python -m ferrite_tvm_ffi run app.py` runs a program that lacks this import, and so does an interpreter with FERRITE_TVM_FFI=1 in
its environment: see ferrite_tvm_ffi_switch.py. `python -m ferrite_tvm_ffi` prints the libraries in use: see ferrite_tvm_ffi_command.py.
Values of tvm_ffi can then be pickled: see ferrite_tvm_ffi_pickle.py. `help` shows the documentation of functions of modules: see
ferrite_tvm_ffi_docs.py. Calls are fast where the wheel has an extension for the interpreter: see ferrite_tvm_ffi_fast.py. `web` links
what TVM compiled for web pages: see ferrite_tvm_ffi_web.py. `rpc` calls functions on other machines: see ferrite_tvm_ffi_rpc.py.

A libtvm_ffi.so is found in two ways, and the import redirects both. Binaries need it by name: the dynamic loader uses
the first library with that soname in the process, which is Ferrite's from the import on. Python code asks
`tvm_ffi.libinfo` for a path, and a path to another file would map a second library: so that module returns the path of
Ferrite's once it is imported. No file of the other package is changed.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.metadata
import importlib.util
import os
import re
import sys
from pathlib import Path

import ferrite_tvm_ffi_elf

# Releases that the library is tested against: tests/conformance/upstream. Beyond the stable C ABI,
# upstream's Python code and library share names of functions and layouts of classes, which change
# between releases. The library serves those of the last release, and those of an earlier one on
# request. Other releases are probed.
TESTED = (
    *("0.1.9", "0.1.10", "0.1.11", "0.1.12"),
    *("0.1.13.post0", "0.1.13.post1", "0.1.13.post2", "0.1.13.post3"),
    *("0.1.14", "0.1.14.post0", "0.1.14.post1"),
    *("0.1.15", "0.1.15.post0", "0.1.15.post1", "0.1.15.post2"),
)
UPSTREAM = "apache-tvm-ffi"
LIBRARY = Path(__file__).resolve().parent / "ferrite_tvm_ffi.libs" / "libtvm_ffi.so"


def activate() -> None:
    """Make a later `import tvm_ffi` use this library; raise an ImportError with the reason if that is impossible."""
    if FINDER in sys.meta_path:
        return
    if "tvm_ffi" in sys.modules:
        raise ImportError(
            "tvm_ffi is imported already: import ferrite_tvm_ffi before it, or set FERRITE_TVM_FFI=1 in the environment of this"
            " process"
        )
    release = installed()
    package = folder_of_theirs()
    if reason := misfit(release, package):
        raise ImportError(f"{UPSTREAM} {release} is installed, {reason}: pip install {UPSTREAM}=={TESTED[-1]}")
    whole(*ferrite_tvm_ffi_elf.binaries_of(package))
    serve(load(), release)
    sys.meta_path.insert(0, FINDER)
    import ferrite_tvm_ffi_fast  # noqa: PLC0415 - after the library

    ferrite_tvm_ffi_fast.prepare()


def installed() -> str:
    """Return the version of the installed apache-tvm-ffi, without a local build label."""
    try:
        return importlib.metadata.version(UPSTREAM).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        raise ImportError(f"{UPSTREAM} is not installed: pip install {UPSTREAM}=={TESTED[-1]}") from None


def folder_of_theirs() -> Path:
    """Return the folder of the package tvm_ffi, which is not imported."""
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{UPSTREAM} {installed()} is installed, but there is no package tvm_ffi: pip install {UPSTREAM}=={TESTED[-1]}")
    return Path(spec.submodule_search_locations[0])


def whole(*binaries: Path) -> None:
    """Raise an ImportError if one of these files is cut: loading it would end the process."""
    for binary in binaries:
        try:
            ferrite_tvm_ffi_elf.check(binary)
        except (OSError, ValueError) as error:
            raise ImportError(f"{binary} cannot be loaded: {error}") from None


def misfit(release: str, package: Path) -> str | None:
    """Return why a release cannot use this library; None if it can."""
    if release in TESTED:
        return None
    if numbers(release) < numbers(TESTED[0]):
        return f"and ferrite_tvm_ffi fits {TESTED[0]} and later releases"
    # This release works only with its own library: with any other, even one of upstream's, an
    # object that the library returns has lost its Python object.
    if numbers(release) == (0, 1, 13) and ".post" not in release:
        return "which fits no other library than its own"
    import ferrite_tvm_ffi_probe  # noqa: PLC0415 - imported only when needed

    try:
        missing = ferrite_tvm_ffi_probe.missing(package)
    except (OSError, ValueError) as error:
        return f"and what it needs cannot be read ({error})"
    return f"and needs what ferrite_tvm_ffi lacks ({', '.join(missing)})" if missing else None


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release before its suffix: those of `0.1.13.post3` are 0, 1, 13."""
    return tuple(int(number) for number in re.findall(r"\d+", re.match(r"[\d.]*", release)[0])[:3])


def serve(library: ctypes.CDLL, release: str) -> None:
    """Select the release whose functions and classes the library serves, before the Python package uses either."""
    name, function = b"ffi.ferrite.ServeRelease", ctypes.c_void_p()
    if library.TVMFFIFunctionGetGlobal(ctypes.byref(ByteArray(name, len(name))), ctypes.byref(function)) == 0:
        arguments = (Any * 3)(*(Any(type_index=1, payload=min(number, 255)) for number in (*numbers(release), 0, 0)[:3]))
        if library.TVMFFIFunctionCall(function, arguments, 3, ctypes.byref(Any())) == 0:
            library.TVMFFIObjectDecRef(function)
            return
    raise ImportError(f"{LIBRARY} is in use already: import ferrite_tvm_ffi before what uses it")


class ByteArray(ctypes.Structure):
    """The C record TVMFFIByteArray."""

    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


class Any(ctypes.Structure):
    """The C record TVMFFIAny."""

    _fields_ = (("type_index", ctypes.c_int32), ("small_length", ctypes.c_uint32), ("payload", ctypes.c_int64))


def load() -> ctypes.CDLL:
    """Load this library for all binaries loaded from now on; raise an ImportError if that is impossible."""
    if sys.platform != "linux":
        raise ImportError(f"{LIBRARY} is for Linux, and this is {sys.platform}")
    if others := mapped() - {str(LIBRARY)}:
        raise ImportError(f"{', '.join(others)} is loaded already: import ferrite_tvm_ffi before what loads it")
    whole(LIBRARY)
    try:
        return ctypes.CDLL(str(LIBRARY), ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(f"{LIBRARY} cannot be loaded: {error}") from error


def mapped() -> set[str]:
    """Return the paths of all mapped files named libtvm_ffi.so."""
    try:
        lines = os.fsdecode(Path("/proc/self/maps").read_bytes()).split("\n")
    except OSError:  # a sandbox without /proc
        return set()
    return {path for line in lines for path in line.split(maxsplit=5)[5:] if f"/{LIBRARY.name}" in path}


class Finder:
    """Import hook: finds modules of tvm_ffi by the other finders, and patches them after their execution."""

    def find_spec(self, name, path=None, target=None):
        if (patch := PATCHES.get(name)) is None:
            return None
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, specs), None)
        if spec is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                patch(module)

            spec.loader.exec_module = exec_module
        return spec


def point_at_ours(libinfo) -> None:
    """Patch `tvm_ffi.libinfo` to return this library's path, and all others unchanged."""
    find = libinfo._find_library_by_basename

    @functools.wraps(find)
    def find_ours(package, target_name, *args, **options):
        found = find(package, target_name, *args, **options)  # called first, since it validates the arguments
        return LIBRARY if (package, target_name) == (UPSTREAM, "tvm_ffi") else found

    libinfo._find_library_by_basename = find_ours


def make_picklable(tvm_ffi) -> None:
    """Make tensors, modules and functions of tvm_ffi picklable."""
    import ferrite_tvm_ffi_pickle  # noqa: PLC0415 - it imports this module

    ferrite_tvm_ffi_pickle.install(tvm_ffi)


def finish(tvm_ffi) -> None:
    """Make values of tvm_ffi picklable, and its calls fast."""
    make_picklable(tvm_ffi)
    make_fast(tvm_ffi)


def make_fast(tvm_ffi) -> None:
    """Make calls of tvm_ffi fast, if this wheel has the extension for this interpreter."""
    import ferrite_tvm_ffi_fast  # noqa: PLC0415 - imported only when needed

    ferrite_tvm_ffi_fast.install(tvm_ffi)


def show_documentation(module) -> None:
    """Make `help` show the documentation of functions of modules."""
    import ferrite_tvm_ffi_docs  # noqa: PLC0415 - imported only when needed

    ferrite_tvm_ffi_docs.install(module)


def include_files(are_included: bool = True) -> None:
    """Make modules that are pickled from now on contain the bytes of their files, for machines that lack these files."""
    import ferrite_tvm_ffi_modules  # noqa: PLC0415 - imported only when needed

    ferrite_tvm_ffi_modules.Files.are_included = are_included


def __getattr__(name: str):
    """Return the modules `rpc` and `web`, which are imported only when needed."""
    if name not in ("rpc", "web"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"ferrite_tvm_ffi_{name}")


FINDER = Finder()
PATCHES = {"tvm_ffi.libinfo": point_at_ours, "tvm_ffi": finish, "tvm_ffi.module": show_documentation}

if __name__ == "__main__":
    import ferrite_tvm_ffi_command

    # The environment may have imported this module already, by its own name.
    sys.exit(ferrite_tvm_ffi_command.main(sys.modules.setdefault("ferrite_tvm_ffi", sys.modules["__main__"])))
activate()
