# A callback raises an exception whose text raises another. The Python package then reports a
# failure without an error, and reads a null one: no library can prevent it.
# upstream: signal 11
# ours: signal 11
import tvm_ffi


class Odd(Exception):
    def __str__(self):
        return str(1 // 0)


def fail():
    raise Odd


tvm_ffi.convert(fail)()
