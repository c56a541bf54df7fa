# A callback raises an exception whose text has a lone surrogate. The same: the text has no UTF-8
# form. upstream: signal 11
# ours: signal 11
import tvm_ffi


def fail():
    raise ValueError("\ud800")


tvm_ffi.convert(fail)()
