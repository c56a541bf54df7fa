"""The target for which TVM schedules kernels of GPUs: with tensor cores, unless the installed TVM crashes when it uses them.

apache-tvm-ffi 0.1.15 crashes when it serialises a type, as TVM does to copy the intrinsics of tensor cores.
"""

import os
import sys

WITHOUT = "sm_61"
"""An architecture without tensor cores."""


def usable(target):
    """Returns the target itself, or one without tensor cores, with a warning."""
    import tvm
    import tvm_ffi

    if target.kind.name != "cuda" or serialises_types():
        return target
    version = getattr(tvm_ffi, "__version__", "")
    print(f"warning: kernels do without tensor cores, with which apache-tvm-ffi {version} crashes: pip install apache-tvm-ffi==0.1.14.post1", file=sys.stderr)
    return tvm.target.Target({"kind": "cuda", "arch": WITHOUT, "host": "llvm"})


def serialises_types():
    """Returns `False` if a process that serialises a type crashes."""
    import tvm

    process = os.fork()
    if process == 0:
        try:
            # TVM reports a crash in many lines.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            tvm.ir.save_json(tvm.ir.PrimType("float16"))
        finally:
            os._exit(0)
    return os.waitpid(process, 0)[1] == 0
