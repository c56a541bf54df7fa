"""Test TVM's Python runtime on this library: arrays and their views, DLPack, modules with objects and archives in them, timers, and
remote sessions, whose server is another process."""

import tempfile
from pathlib import Path

import ferrite_tvm_ffi
import numpy as np
import tvm
import tvm_ffi
from tvm import rpc, te
from tvm.support import cc

COUNT = 102


def plus_one(name="plus_one"):
    """Return a function that adds 1 to each element."""
    x = te.placeholder((COUNT,), "float32", name="x")
    y = te.compute(x.shape, lambda i: x[i] + 1.0, name="y")
    return te.create_prim_func([x, y]).with_attr("global_symbol", name)


def module(name="plus_one", target="llvm"):
    return tvm.compile(tvm.IRModule({name: plus_one(name)}), target=target)


def arrays(device=None):
    """Return an array, and one of zeros for the result."""
    x = np.random.default_rng(0).random(COUNT, "float32")
    return [tvm.runtime.tensor(array, device) if device else tvm.runtime.tensor(array) for array in (x, np.zeros_like(x))]


def adds(function, device=None):
    x, y = arrays(device)
    function(x, y)
    np.testing.assert_array_equal(y.numpy(), x.numpy() + 1)


def refused(error, action, *words):
    """Check that an action raises an error whose message has these words."""
    try:
        action()
    except error as raised:
        missing = [word for word in words if word not in str(raised)]
        assert not missing, (missing, str(raised))
        return
    raise AssertionError(f"no {error.__name__}")


def views(_folder):
    content = np.arange(24, dtype="float32")
    whole = tvm.runtime.tensor(content)
    rows = whole._create_view([4, 6])
    half = whole._create_view([12], relative_byte_offset=48)
    quarter = half._create_view([6], relative_byte_offset=24)
    for view, expected in ((rows, content.reshape(4, 6)), (half, content[12:]), (quarter, content[18:])):
        np.testing.assert_array_equal(view.numpy(), expected)
    quarter.copyfrom(np.full(6, -1, "float32"))
    np.testing.assert_array_equal(whole.numpy()[17:], [17, *[-1] * 6])
    for view, shape, offset in ((whole, [25], 0), (whole, [24], 4), (half, [6], 28), (whole, [1], 96)):
        refused(ValueError, lambda: view._create_view(shape, relative_byte_offset=offset))
    copy = tvm.runtime.empty((12,), "float32")
    half.copyto(copy)
    np.testing.assert_array_equal(copy.numpy(), half.numpy())


def dlpack(_folder):
    """Strides of extents of 1 do not matter; other strided arrays are refused, and so are unaligned ones."""
    numbers = np.from_dlpack(tvm.runtime.tensor(np.arange(12.0)))  # NumPy aligns its own memory to less than TVM asks for
    one = np.lib.stride_tricks.as_strided(numbers, (1, 3, 1), (400, 8, 80))
    for array in (numbers.reshape(3, 4), one):
        np.testing.assert_array_equal(tvm.runtime.from_dlpack(array).numpy(), array)
    for array in (numbers.reshape(3, 4)[:, ::2], numbers.reshape(3, 4).T):
        refused(RuntimeError, lambda: tvm.runtime.from_dlpack(array), "not contiguous")
    refused(RuntimeError, lambda: tvm.runtime.from_dlpack(numbers[1:]), "not aligned")


def timers(_folder):
    built = module()
    result = built.mod.time_evaluator("plus_one", tvm.cpu(), number=2, repeat=3)(*arrays())
    assert len(result.results) == 3 and min(result.results) > 0 and result.mean >= result.min
    assert "mean (ms)" in str(result)


def executables(folder):
    built = module()
    assert built.mod.is_compilation_exportable() and built.mod.implements_function("plus_one")
    assert not built.mod.implements_function("other")
    adds(built.jit()["plus_one"])
    adds(built.jit(force_recompile=True)["plus_one"])
    workspace = folder / "workspace"
    workspace.mkdir()
    library = folder / "executable.so"
    built.export_library(str(library), workspace_dir=str(workspace))
    assert any(workspace.iterdir())
    loaded = tvm.runtime.load_module(str(library))
    assert loaded.is_runnable() and not loaded.is_compilation_exportable()
    adds(loaded["plus_one"])
    refused(AttributeError, lambda: loaded["other"], "other")


def objects_and_archives(folder):
    """An object file that is linked by the compiler, and one that a module imports as a static library."""
    object_file, library = folder / "one.o", folder / "one.so"
    module("one").mod.write_to_file(str(object_file))
    cc.create_shared(str(library), [str(object_file)])
    adds(tvm.runtime.load_module(str(library))["one"])
    static = tvm.runtime.load_static_library(str(object_file), ["one"])
    assert static.is_compilation_exportable() and static.implements_function("one") and not static.is_runnable()
    both = module("two")
    both.mod.import_module(static)
    both.export_library(str(folder / "both.so"))
    loaded = tvm.runtime.load_module(str(folder / "both.so"))
    for name in ("one", "two"):
        adds(loaded.get_function(name, query_imports=True))


def errors(_folder):
    """Errors keep their kind and message on the way through the library."""
    for kind in (ValueError, KeyError, RuntimeError, tvm.error.OpNotImplemented):

        @tvm_ffi.convert
        def fail():
            raise kind("from Python")

        refused(kind, fail, "from Python")
    refused(Exception, lambda: tvm.get_global_func("client.no_such_function"), "client.no_such_function")


def remote(folder):
    """A session with a server in another process: calls, errors, arrays, files, modules, timers and functions of the client."""
    server = rpc.Server("127.0.0.1", key="client")
    try:
        with_session(rpc.connect("127.0.0.1", server.port, key="client"), folder)
    finally:
        server.terminate()
    with_session(rpc.LocalSession(), folder)


def with_session(session, folder):
    echo = session.get_function("testing.echo")
    assert [echo(1, 2), echo("text"), bytes(echo(bytearray(b"123")))] == [1, "text", b"123"]
    refused(RuntimeError, lambda: session.get_function("testing.test_raise_error")("RuntimeError", "message"), "message")
    refused(Exception, lambda: session.get_function("client.no_such_function"), "client.no_such_function")
    device = session.cpu(0)
    content = np.arange(3 * 70_000, dtype="float32").reshape(3, 70_000)
    np.testing.assert_array_equal(tvm.runtime.tensor(content, device).numpy(), content)
    session.upload(bytearray(b"content of a file"), "file.bin")
    assert bytes(session.download("file.bin")) == b"content of a file"
    library = folder / "remote.so"
    module().export_library(str(library))
    session.upload(str(library))
    loaded = session.load_module("remote.so")
    adds(loaded["plus_one"], device)
    cost = loaded.time_evaluator("plus_one", device, number=3)(*arrays(device))
    assert cost.mean > 0
    device.sync()


PARTS = (views, dlpack, timers, executables, objects_and_archives, errors, remote)

if __name__ == "__main__":
    for part in PARTS:
        with tempfile.TemporaryDirectory() as made:
            part(Path(made))
    assert ferrite_tvm_ffi.mapped() == {str(ferrite_tvm_ffi.LIBRARY)}
