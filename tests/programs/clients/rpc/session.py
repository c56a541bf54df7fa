"""Sessions of TVM's unmodified client with `ferrite rpc serve`: values, errors, copies, files, modules, models, timers, trackers, pipes,
several clients, and kernels that crash.

usage: session.py [--server ferrite|upstream] [TEST...]
"""

import contextlib
import math
import pathlib
import subprocess
import sys
import threading
import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm
from tvm import relax, rpc, te
from tvm.script import relax as R

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))

import servers  # noqa: E402

SERVER = servers.chosen(sys.argv)
COUNT = 102


def plus_one(name="plus_one"):
    """Returns a module with a function that adds 1 to each element."""
    x = te.placeholder((COUNT,), "float32", name="x")
    y = te.compute(x.shape, lambda i: x[i] + 1.0, name="y")
    function = te.create_prim_func([x, y]).with_attr("global_symbol", name)
    return tvm.compile(tvm.IRModule({name: function}), target="llvm")


@tvm.script.ir_module
class Model:
    @R.function
    def main(left: R.Tensor((8, 8), "float32"), right: R.Tensor((8, 8), "float32")) -> R.Tensor((8, 8), "float32"):
        with R.dataflow():
            product = R.matmul(left, right)
            output = R.nn.relu(product)
            R.output(output)
        return output


CRASH = """
int __tvm_ffi_crash(void* self, const void* args, int count, void* result) {
  (void)self; (void)args; (void)count; (void)result;
  *(volatile int*)8 = 1;
  return 0;
}
int __tvm_ffi_spin(void* self, const void* args, int count, void* result) {
  (void)self; (void)args; (void)count; (void)result;
  for (;;) *(volatile int*)&count = 1;
}
"""
"""A kernel that crashes, and one that never ends."""


class Base(unittest.TestCase):
    """A server and a folder for each test."""

    options = ()

    def setUp(self):
        self.folder = self.enterContext(servers.folder())
        self.server = self.enterContext(SERVER.serve(*self.options, key="device"))

    def connect(self, **settings):
        return rpc.connect("127.0.0.1", self.server.port, key="device", **settings)

    def library(self, *names, to="one.so"):
        path = self.folder / to
        plus_one(*names).export_library(str(path))
        return path

    def crashing(self):
        source, path = self.folder / "crash.c", self.folder / "crash.so"
        source.write_text(CRASH)
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", path], check=True)
        return path

    def adds(self, function, device):
        x = np.random.default_rng(0).random(COUNT, "float32")
        arrays = [tvm.runtime.tensor(array, device) for array in (x, np.zeros_like(x))]
        function(*arrays)
        np.testing.assert_array_equal(arrays[1].numpy(), x + 1)


class Values(Base):
    def setUp(self):
        super().setUp()
        self.session = self.connect()
        self.echo = self.session.get_function("testing.echo")

    def test_numbers(self):
        for value in (0, 1, -1, 2**63 - 1, -(2**63), True, False, 0.5, -0.0, 1e300, math.inf):
            self.assertEqual((type(value), repr(self.echo(value))), (type(value), repr(value)))
        self.assertTrue(math.isnan(self.echo(math.nan)))
        self.assertIsNone(self.echo(None))

    def test_texts(self):
        for text in ("", "text", "\u00e4\U0001f600", "x" * 1_000_000):
            self.assertEqual(self.echo(text), text)

    def test_bytes(self):
        for content in (b"", b"\0\xff\0", bytes(range(256)) * 1000):
            self.assertEqual(bytes(self.echo(bytearray(content))), content)

    def test_further_arguments_are_sent(self):
        self.assertEqual(self.echo(1, "text", None, 2.0), 1)

    def test_objects_of_the_server_return_to_it(self):
        shape = self.session.get_function("ffi.Shape")(2, 3)
        self.assertEqual(type(shape).__name__, "RPCObjectRef")
        again = self.echo(shape)
        del shape
        self.assertEqual(type(again).__name__, "RPCObjectRef")

    def test_no_function_of_the_name(self):
        with self.assertRaisesRegex(AttributeError, "client.no_such_function"):
            self.session.get_function("client.no_such_function")

    def test_errors_have_their_kind(self):
        with self.assertRaisesRegex(tvm.error.RPCError, r"(?m)^(Type|Value)Error: "):
            self.session.get_function("ffi.Shape")("text")
        self.assertEqual(self.echo(1), 1)


class Copies(Base):
    def test_64_mebibytes(self):
        device = self.connect().cpu(0)
        content = np.random.default_rng(0).integers(0, 256, 64 << 20, "uint8")
        self.assertTrue(np.array_equal(tvm.runtime.tensor(content, device).numpy(), content))

    def test_copies_among_tensors_of_the_server(self):
        """TVM's client sends the offset of a view only in these copies."""
        device = self.connect().cpu(0)
        content = np.arange(24, dtype="float32")
        whole = tvm.runtime.tensor(content, device)
        other = tvm.runtime.tensor(np.full(12, -1, "float32"), device)
        middle = whole._create_view([12], relative_byte_offset=24)
        other.copyto(middle)
        np.testing.assert_array_equal(whole.numpy(), [*range(6), *[-1] * 12, *range(18, 24)])
        whole._create_view([12], relative_byte_offset=48).copyto(other)
        np.testing.assert_array_equal(other.numpy(), [*[-1] * 6, *range(18, 24)])

    def test_types_and_empty_tensors(self):
        device = self.connect().cpu(0)
        for dtype in ("int8", "uint16", "int64", "float16", "float64", "bool"):
            content = np.arange(6).reshape(2, 3).astype(dtype)
            np.testing.assert_array_equal(tvm.runtime.tensor(content, device).numpy(), content)
        self.assertEqual(tvm.runtime.tensor(np.zeros((0, 3), "float32"), device).numpy().shape, (0, 3))

    def test_devices(self):
        session = self.connect()
        session.cpu(0).sync()
        self.assertTrue(session.cpu(0).exist)
        self.assertFalse(session.device("cuda", 7).exist)


class Files(Base):
    def test_files_come_back(self):
        session = self.connect()
        for content in (b"", b"\0content of a file", bytes(1_000_000)):
            session.upload(bytearray(content), "file.bin")
            self.assertEqual(bytes(session.download("file.bin")), content)
        session.remove("file.bin")
        for name in ("file.bin", "other.bin", ""):
            session.remove(name)
        with self.assertRaises(tvm.error.RPCError):
            session.download("file.bin")

    def test_sessions_have_folders_of_their_own(self):
        first = self.connect()
        first.upload(bytearray(b"first"), "file.bin")
        del first
        with self.assertRaises(tvm.error.RPCError):
            self.connect().download("file.bin")

    def test_names_outside_of_the_folder_are_refused(self):
        session = self.connect()
        outside = self.folder / "outside"
        for name in ("../outside", "a/../../outside", str(outside)):
            with self.subTest(name), self.assertRaises(tvm.error.RPCError):
                session.upload(bytearray(b"content"), name)
            with self.subTest(name), self.assertRaises(tvm.error.RPCError):
                session.download(name)
        self.assertFalse(outside.exists())


class Modules(Base):
    def test_shared_libraries_objects_and_archives(self):
        session = self.connect()
        built = plus_one()
        for name in ("one.so", "one.o", "one.tar"):
            path = str(self.folder / name)
            built.mod.write_to_file(path) if name == "one.o" else built.export_library(path)
            with self.subTest(name):
                session.upload(path)
                self.adds(session.load_module(name)["plus_one"], session.cpu(0))

    def test_linked_modules_are_downloaded(self):
        session = self.connect()
        session.upload(str(self.library(to="one.tar")))
        path = self.folder / "linked.so"
        path.write_bytes(session.download_linked_module("one.tar"))
        self.adds(tvm.runtime.load_module(str(path))["plus_one"], tvm.cpu(0))

    def test_imported_modules(self):
        session = self.connect()
        loaded = []
        for name in ("one", "two"):
            session.upload(str(self.library(name, to=f"{name}.so")))
            loaded.append(session.load_module(f"{name}.so"))
        loaded[0].import_module(loaded[1])
        self.adds(loaded[0].get_function("two", query_imports=True), session.cpu(0))
        with self.assertRaises(AttributeError):
            loaded[0]["three"]

    def test_errors_of_kernels(self):
        session = self.connect()
        session.upload(str(self.library()))
        function = session.load_module("one.so")["plus_one"]
        device = session.cpu(0)
        with self.assertRaisesRegex(tvm.error.RPCError, r"(?m)^TypeError: "):
            function(tvm.runtime.tensor(np.zeros(COUNT, "float32"), device))
        with self.assertRaisesRegex(tvm.error.RPCError, "float32|shape"):
            function(*(tvm.runtime.tensor(np.zeros(COUNT - 1, "float32"), device) for _ in range(2)))
        self.adds(function, device)

    def test_timers(self):
        session = self.connect()
        session.upload(str(self.library()))
        loaded, device = session.load_module("one.so"), session.cpu(0)
        arrays = [tvm.runtime.tensor(np.zeros(COUNT, "float32"), device) for _ in range(2)]
        timed = loaded.time_evaluator("plus_one", device, number=3, repeat=4, min_repeat_ms=1)(*arrays)
        self.assertEqual(len(timed.results), 4)
        self.assertTrue(0 < timed.min <= timed.mean < 1e-3, timed)
        flushing = loaded.time_evaluator("plus_one", device, number=1, repeat=2, f_preproc="cache_flush_cpu_non_first_arg")(*arrays)
        self.assertEqual(len(flushing.results), 2)

    def test_models(self):
        session = self.connect()
        path = self.folder / "model.so"
        tvm.compile(Model, target="llvm").export_library(str(path))
        session.upload(str(path))
        device = session.cpu(0)
        machine = relax.VirtualMachine(session.load_module("model.so"), device)
        left, right = (np.random.default_rng(seed).standard_normal((8, 8)).astype("float32") for seed in (1, 2))
        machine.set_input("main", *(tvm.runtime.tensor(array, device) for array in (left, right)))
        machine.invoke_stateful("main")
        np.testing.assert_allclose(machine.get_outputs("main").numpy(), np.maximum(left @ right, 0), rtol=1e-5, atol=1e-5)


class Endings(Base):
    """Ends of sessions that are not the client's."""

    def test_a_session_ends_after_its_time(self):
        echo = self.connect(session_timeout=1).get_function("testing.echo")
        with self.assertRaisesRegex(tvm.error.RPCSessionTimeoutError, "Your 1.*s session has expired"):
            for _ in iter(int, 1):
                echo(1)

    def test_a_kernel_that_does_not_end_is_ended(self):
        session = self.connect(session_timeout=2)
        session.upload(str(self.crashing()))
        with self.assertRaises(tvm.error.RPCSessionTimeoutError):
            session.load_module("crash.so")["spin"]()
        self.assertEqual(self.connect().get_function("testing.echo")(1), 1)

    def test_the_signal_of_a_crash_is_named(self):
        session = self.connect()
        session.upload(str(self.crashing()))
        with self.assertRaisesRegex(tvm.error.RPCError, "SIGSEGV"):
            session.load_module("crash.so")["crash"]()
        self.assertEqual(self.connect().get_function("testing.echo")(1), 1)


class Clients(Base):
    options = ("--sessions", "2") if SERVER.name == "ferrite" else ()

    def test_two_clients_at_a_time(self):
        first, second = (self.connect() for _ in range(2))
        for session in (first, second, first):
            self.assertEqual(session.get_function("testing.echo")(1), 1)
        failed = []

        def work(session):
            with self.subTest():
                session.upload(str(path))
                function = session.load_module("one.so")["plus_one"]
                for _ in range(20):
                    self.adds(function, session.cpu(0))
                failed.pop()

        path = self.library()
        failed.extend((1, 2))
        threads = [threading.Thread(target=work, args=(session,)) for session in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_a_crash_ends_one_session(self):
        first, second = (self.connect() for _ in range(2))
        first.upload(str(self.crashing()))
        second.upload(str(self.library()))
        with self.assertRaises(tvm.error.RPCError):
            first.load_module("crash.so")["crash"]()
        self.adds(second.load_module("one.so")["plus_one"], second.cpu(0))


class Trackers(unittest.TestCase):
    def test_servers_are_requested_from_a_tracker(self):
        with SERVER.tracker() as tracker, SERVER.serve(key="board", tracker=tracker.port):
            client = rpc.connect_tracker("127.0.0.1", tracker.port)
            self.wait_for_free(client, 1)
            session = client.request("board", session_timeout=30)
            self.assertEqual(session.get_function("testing.echo")(1), 1)
            self.assertEqual(client.summary()["queue_info"]["board"]["free"], 0)
            del session
            self.wait_for_free(client, 1)
            self.assertEqual(client.request_and_run("board", lambda session: session.get_function("testing.echo")("text")), "text")
            self.assertIn("server:board", client.text_summary())

    def wait_for_free(self, client, count):
        for _ in range(300):
            if client.summary()["queue_info"].get("board", {}).get("free") == count:
                return
            threading.Event().wait(0.1)
        self.fail(client.text_summary())


class Pipes(unittest.TestCase):
    def test_a_program_serves_pipes(self):
        with servers.folder() as folder:
            session = rpc.PopenSession(SERVER.pipe_program(folder))
            self.assertEqual(session.get_function("testing.echo")("text"), "text")
            content = np.arange(70_000, dtype="float32")
            np.testing.assert_array_equal(tvm.runtime.tensor(content, session.cpu(0)).numpy(), content)
            with contextlib.suppress(AttributeError):
                session.system_lib()["no_such_function"]


if __name__ == "__main__":
    unittest.main()
