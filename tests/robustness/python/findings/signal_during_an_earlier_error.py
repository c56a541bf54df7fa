# A C function checks for signals, as generated code does in long loops, and the handler in Python
# raises an exception. The error of an earlier call, which nobody took, is still there: upstream's
# check leaves it, and the caller makes an exception of it beside the handler's. upstream:
# SystemError: <class 'KeyError'> returned a result with an exception set
# ours: ZeroDivisionError: of the handler
import signal
import subprocess
import tempfile

import tvm_ffi

SOURCE = """
#include <signal.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
int __tvm_ffi_check(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  (void)self, (void)args, (void)count, (void)result;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
  raise(SIGUSR1);
  return TVMFFIEnvCheckSignals();
}
"""


def handler(number, frame):
    raise ZeroDivisionError("of the handler")


signal.signal(signal.SIGUSR1, handler)
with tempfile.TemporaryDirectory() as folder:
    library = folder + "/check.so"
    includes = [f"-I{path}" for path in tvm_ffi.libinfo.include_paths()]
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", *includes, "-o", library, "-"], input=SOURCE, text=True, check=True)
    tvm_ffi.load_module(library).check()
