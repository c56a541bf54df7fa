"""Replaces TVM's virtual machine by the one of this library in every process that imports tvm.

After TVM was imported, the global names of executables and builtins are TVM's. This library's own are under `ferrite.relax.`.

- Executables in libraries are loaded by `ferrite.relax.load_from_bytes`.
- `relax.VirtualMachine` exports an executable that was compiled in the process to a library, and loads that.
- `tvm.get_global_func` gives the builtins of this library.
"""

import importlib.util
import itertools
import pathlib
import sys
import tempfile

LOADER = "ffi.Module.load_from_bytes.relax.VMExecutable"


def of_this_library(tvm, module, folder, numbers):
    """Returns the executable as one of this library. `module` is of any kind; RPC modules and loaded libraries stay as they are."""
    if isinstance(module, tvm.runtime.Executable):
        module = module.mod
    if module.kind != "relax.VMExecutable":
        return module
    path = str(pathlib.Path(folder.name) / str(next(numbers)))
    if not module.imports:
        module.write_to_file(path, "vm")
        return tvm.get_global_func("ferrite.relax.load_from_file")(path)
    if all(part.kind == "library" for part in module.imports):
        return module
    tvm.relax.VMExecutable(module).export_library(path + ".so")
    return tvm.runtime.load_module(path + ".so")


def install(tvm):
    import tvm.relax  # noqa: F401
    import tvm_ffi

    folder, numbers = tempfile.TemporaryDirectory(prefix="ferrite_machine"), itertools.count()
    load = tvm_ffi.get_global_func("ferrite.relax.load_from_bytes")
    tvm_ffi.register_global_func(LOADER, load, override=True)

    machine = tvm.runtime.vm.VirtualMachine
    create = machine.__init__

    def create_ours(self, rt_mod, *args, **kwargs):
        if isinstance(rt_mod, tvm.runtime.Module | tvm.runtime.Executable):
            rt_mod = of_this_library(tvm, rt_mod, folder, numbers)
        create(self, rt_mod, *args, **kwargs)

    machine.__init__ = create_ours

    builtins = tvm_ffi.get_global_func("ferrite.relax.builtins")()
    find = tvm.get_global_func

    def find_ours(name, allow_missing=False):
        if name.startswith("vm.builtin."):
            return builtins[name]
        return find(name, allow_missing)

    tvm.get_global_func = find_ours


class Hook:
    """Finder that installs the replacement when tvm is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "tvm":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def run_and_install(module):
            run(module)
            install(module)

        spec.loader.exec_module = run_and_install
        return spec


sys.meta_path.insert(0, Hook())
