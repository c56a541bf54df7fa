"""Tests sessions with servers, in an environment in which the wheel is installed. usage: test_rpc.py"""

import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # the wheel's modules are there, without a library

import ferrite_tvm_ffi  # noqa: E402
import numpy as np  # noqa: E402
import tvm_ffi  # noqa: E402

rpc = ferrite_tvm_ffi.rpc


@tvm_ffi.register_global_func("test_rpc.fail")
def fail(message):
    raise KeyError(message)


FILES = {}


@tvm_ffi.register_global_func("tvm.rpc.server.upload")
def upload(name, content):
    FILES[str(name)] = bytes(content)


@tvm_ffi.register_global_func("tvm.rpc.server.download")
def download(name):
    return FILES[str(name)]


class Sessions(unittest.TestCase):
    def setUp(self):
        self.session = rpc.local()
        self.addCleanup(self.session.close)

    def test_values_come_back(self):
        echo = self.session.function("testing.echo")
        for value in (None, True, 42, 1.5, "a\0b", b"\xff"):
            self.assertEqual(echo(value), value)

    def test_errors_have_their_class(self):
        with self.assertRaisesRegex(KeyError, "no such key"):
            self.session.function("test_rpc.fail")("no such key")
        with self.assertRaises(AttributeError):
            self.session.function("test_rpc.absent")

    def test_tensors_are_copied_in_both_directions(self):
        x = self.session.tensor(np.arange(6, dtype="float32").reshape(2, 3))
        y = self.session.empty((2, 3))
        self.session.function("runtime.TVMTensorCopyFromTo")(x, y)
        np.testing.assert_array_equal(self.session.numpy(y), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual((tuple(y.shape), str(y.dtype)), ((2, 3), "float32"))

    def test_local_tensors_are_refused(self):
        local = tvm_ffi.from_dlpack(np.zeros(3, "float32"))
        with self.assertRaisesRegex(ValueError, "copy the tensor"):
            self.session.function("testing.echo")(local)

    def test_files_are_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kernels.so"
            file.write_bytes(b"content")
            self.session.upload(file)
        self.assertEqual(self.session.download("kernels.so"), b"content")

    def test_calls_are_measured(self):
        times = self.session.time_evaluator("testing.echo", number=5, repeat=3)(1)
        self.assertEqual((len(times), min(times) >= 0), (3, True))

    def test_closed_sessions_raise_an_error(self):
        echo = self.session.function("testing.echo")
        self.session.close()
        for _ in range(2):
            with self.assertRaises(rpc.RPCError):
                echo(1)


class Connections(unittest.TestCase):
    def test_a_port_without_a_server_is_an_error(self):
        with self.assertRaisesRegex(rpc.RPCError, "Error connecting"):
            rpc.connect("127.0.0.1", 1)

    def test_ports_and_times_that_do_not_exist_are_errors(self):
        with self.assertRaisesRegex(ValueError, "no port"):
            rpc.connect("127.0.0.1", 65536)
        with self.assertRaisesRegex(ValueError, "time limit"):
            rpc.connect("127.0.0.1", 1, read_timeout=-1)

    def test_a_program_that_is_missing_is_an_error(self):
        with self.assertRaisesRegex(rpc.RPCError, "Error starting"):
            rpc.start("/absent/server")


if __name__ == "__main__":
    unittest.main()
