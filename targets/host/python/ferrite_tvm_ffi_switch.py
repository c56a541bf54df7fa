"""Makes `import tvm_ffi` import ferrite_tvm_ffi first. FERRITE_TVM_FFI=1 in the environment imports this module at start, by
ferrite_tvm_ffi.pth: programs that import no tvm_ffi load nothing.

If the installed tvm_ffi does not fit, its import raises the ImportError: no program runs on another library unnoticed.
"""

import sys


class Switch:
    """Import hook: finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name == "tvm_ffi" and "ferrite_tvm_ffi" not in sys.modules:
            import ferrite_tvm_ffi  # its import activates it

            return ferrite_tvm_ffi.FINDER.find_spec(name, path, target)
        return None


sys.meta_path.insert(0, Switch())
