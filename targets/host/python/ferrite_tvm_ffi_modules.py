"""Makes modules of tvm_ffi and their functions picklable.

A module that was loaded from a file travels as the path of that file and its SHA-256, and is loaded from the same file again; after
`ferrite_tvm_ffi.include_files()` with the file's bytes, too, for machines that lack it. A machine of a Relax model travels as the
model's file and the devices that it was initialised for; inputs that were set and functions that were saved stay behind. A function
travels as its module and its name, or if it is a global function, as its name.

Where a value came from is noted on its Python object: a module of another origin, a Python closure or a C callback cannot travel.
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import os
import stat
import tempfile
from pathlib import Path

# Attribute of modules and functions that says where they came from.
SOURCE = "_ferrite_source"


class Files:
    """Whether modules travel with the bytes of their files."""

    are_included = False


class FileSource:
    """The file that a module was loaded from. Pickled, it becomes the module."""

    def __init__(self, path: str) -> None:
        self.path = file_of(path)
        self.state = state_of(self.path) if os.path.isabs(self.path) else None
        self.has_changed_imports = False

    def __reduce__(self):
        if self.has_changed_imports:
            raise TypeError(f"the module of {self.path} cannot be pickled: its imports were changed after it was loaded")
        if self.state is None:
            raise TypeError(f"the module of {self.path} cannot be pickled: its file is unknown")
        if state_of(self.path) != self.state:
            raise RuntimeError(f"the module of {self.path} cannot be pickled: the file has changed since it was loaded")
        content = None
        if Files.are_included:
            from ferrite_tvm_ffi_pickle import Memory  # noqa: PLC0415 - that module imports this one

            content = Memory(Path(self.path).read_bytes())
        return load_file, (self.path, digest_of(self.path), content)

    def results(self) -> dict:
        return {"vm_load_executable": lambda _, machine: note(machine, MachineSource(self))}


class MachineSource:
    """A machine of a Relax model: where the model came from, and the devices. Pickled, it becomes a new machine."""

    def __init__(self, executable: FileSource) -> None:
        self.executable = executable
        self.devices: tuple | None = None

    def __reduce__(self):
        return load_machine, (self.executable, self.devices)

    def results(self) -> dict:
        return {"vm_initialization": lambda devices, _: setattr(self, "devices", tuple(devices))}


class FunctionSource:
    """A function of a module (or a global function, without one)."""

    __slots__ = ("module", "name", "query_imports")

    def __init__(self, module, name: str, query_imports: bool = False) -> None:
        self.module, self.name, self.query_imports = module, name, query_imports


def note(value, source) -> None:
    """Note where a module or a function came from."""
    value.__dict__[SOURCE] = source


def noted(value):
    """Return where a module or a function came from; None if that is unknown."""
    return getattr(value, "__dict__", {}).get(SOURCE)


def file_of(path: str) -> str:
    """Return the absolute path of a file that was loaded, or a name without a slash if several files of that name are.

    The dynamic loader searches its own folders for such a name.
    """
    if "/" in path:
        return os.path.abspath(path)
    try:
        lines = os.fsdecode(Path("/proc/self/maps").read_bytes()).split("\n")
    except OSError:  # a sandbox without /proc
        lines = []
    found = {line.split(maxsplit=5)[5] for line in lines if line.endswith(f"/{path}")}
    if len(found) > 1:
        return path
    return next(iter(found), os.path.abspath(path))


def state_of(path: str) -> tuple | None:
    """Return what changes when a file is written or replaced; None without the file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file."""
    return digest_of_state(path, state_of(path))


@functools.lru_cache(maxsize=256)
def digest_of_state(path: str, _state) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def load_file(path: str, digest: str, content=None):
    """Load the module of a file with this SHA-256: the file at that path, or one of these bytes."""
    if not isinstance(path, str) or not isinstance(digest, str):
        raise TypeError("a pickled module has the path and the SHA-256 of its file")
    if state_of(path) is not None and digest_of(path) == digest:
        return load(path)
    if content is not None:
        return load(kept(Path(path).name, digest, memoryview(getattr(content, "content", content))))
    if state_of(path) is None:
        raise FileNotFoundError(
            f"{path}, the file of a pickled module, is not on this machine: put it there, or call"
            " ferrite_tvm_ffi.include_files() before pickling"
        )
    raise RuntimeError(f"{path} is not the file of the pickled module: it has the SHA-256 {digest_of(path)}, not {digest}")


def load(path: str):
    import tvm_ffi  # noqa: PLC0415 - after the library

    return tvm_ffi.load_module(path)


def kept(name: str, digest: str, content: memoryview) -> str:
    """Return the path of a file with these bytes, in a folder of this user under the folder of temporary files."""
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise ValueError(f"the bytes of {name} in a pickled module have the SHA-256 {found}, not {digest}")
    root = Path(tempfile.gettempdir()) / f"ferrite-tvm-ffi-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    about = root.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise PermissionError(f"{root} must be a folder that only this user can access")
    path = root / digest / name
    path.parent.mkdir(exist_ok=True)
    if state_of(str(path)) is None or digest_of(str(path)) != digest:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
    return str(path)


def load_machine(executable, devices):
    """Create a machine of a Relax model, and initialise it if the pickled one was."""
    machine = opened(executable)["vm_load_executable"]()
    if devices is not None:
        machine["vm_initialization"](*devices)
    return machine


def opened(value):
    """Return a module. `copy.copy` passes a source in place of the module that its pickle becomes."""
    if isinstance(value, (FileSource, MachineSource)):
        function, arguments = value.__reduce__()
        return function(*arguments)
    return value


def reduce_module(self):
    """Method `__reduce__` of modules."""
    source = noted(self)
    if source is None:
        raise TypeError(f"a module of the kind {self.kind} that no file was loaded for cannot be pickled")
    return opened, (source,)


def reduce_function(function):
    """Reducer of functions."""
    source = noted(function)
    if source is None:
        raise TypeError(
            "a function that is neither of a module from a file nor global cannot be pickled: a Python closure and a C callback"
            " exist in their own process only"
        )
    return function_of, (source.module, source.name, source.query_imports)


def function_of(module, name: str, query_imports: bool):
    """Return a function of a module, or a global function."""
    import tvm_ffi  # noqa: PLC0415 - after the library

    if module is None:
        return tvm_ffi.get_global_func(name)
    return opened(module).get_function(name, query_imports)


def install_modules(tvm_ffi) -> str | None:
    api = tvm_ffi.module._ffi_api
    if "__reduce__" in vars(tvm_ffi.Module):
        return "tvm_ffi pickles them"
    if not tvm_ffi.Module.__dictoffset__:
        return "their Python objects have no attributes"
    load_from_file, import_module, clear_imports = (
        getattr(api, name) for name in ("ModuleLoadFromFile", "ModuleImportModule", "ModuleClearImports")
    )

    def loaded(path):
        module = load_from_file(path)
        note(module, FileSource(path))
        return module

    def changes_imports(function):
        def changing(module, *arguments):
            if isinstance(source := noted(module), FileSource):
                source.has_changed_imports = True
            return function(module, *arguments)

        return changing

    api.ModuleLoadFromFile = loaded
    api.ModuleImportModule = changes_imports(import_module)
    api.ModuleClearImports = changes_imports(clear_imports)
    tvm_ffi.Module.__reduce__ = reduce_module
    return None


def install_functions(tvm_ffi) -> str | None:
    core, api = tvm_ffi.core, tvm_ffi.module._ffi_api
    if "__reduce__" in vars(core.Function) or core.Function in copyreg.dispatch_table:
        return "tvm_ffi pickles them"
    if not core.Function.__dictoffset__:
        return "their Python objects have no attributes"
    get_function, get_global = api.ModuleGetFunction, core._get_global_func

    class Following(core.Function):
        """A function whose result, or whose arguments, say where a module came from."""

        def __call__(self, *arguments):
            result = core.Function.__call__(self, *arguments)
            self.__dict__["follow"](arguments, result)
            return result

    def function_of_module(module, name, query_imports=False):
        function, source = get_function(module, name, query_imports), noted(module)
        if function is None or source is None:
            return function
        if follow := source.results().get(name):
            following = Following.__new__(Following)
            following.__move_handle_from__(function)
            following.__dict__["follow"] = follow
            function = following
        note(function, FunctionSource(source, name, query_imports))
        return function

    def global_function(name, *arguments, **options):
        if (function := get_global(name, *arguments, **options)) is not None:
            note(function, FunctionSource(None, name))
        return function

    copyreg.pickle(core.Function, reduce_function)
    copyreg.pickle(Following, reduce_function)
    api.ModuleGetFunction = function_of_module
    core._get_global_func = global_function
    return None
