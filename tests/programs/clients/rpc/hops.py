"""TVM's unmodified client behind a server that is a client of a further one, and in one process with the client of this library.

usage: hops.py [--server ferrite|upstream] [TEST...]
"""

import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm
import tvm_ffi
from ferrite_tvm_ffi import rpc as own_rpc
from session import COUNT, SERVER, Base


class Hops(Base):
    """A server that is a client of a further one."""

    options = ("--allow", "rpc.Connect") if SERVER.name == "ferrite" else ()

    def setUp(self):
        super().setUp()
        self.last = self.enterContext(SERVER.serve(key="last"))

    def hop(self, port, key="last"):
        return self.connect(session_constructor_args=["rpc.Connect", "127.0.0.1", port, key, False])

    def test_a_session_with_a_further_server(self):
        session = self.hop(self.last.port)
        self.assertEqual(session.get_function("testing.echo")("text"), "text")
        session.upload(str(self.library()))
        loaded, device = session.load_module("one.so"), session.cpu(0)
        self.adds(loaded["plus_one"], device)
        content = np.random.default_rng(0).integers(0, 256, 1 << 20, "uint8")
        self.assertTrue(np.array_equal(tvm.runtime.tensor(content, device).numpy(), content))
        arrays = [tvm.runtime.tensor(np.zeros(COUNT, "float32"), device) for _ in range(2)]
        timed = loaded.time_evaluator("plus_one", device, number=3, repeat=2)(*arrays)
        self.assertEqual(len(timed.results), 2)
        with self.assertRaises(tvm.error.RPCError):
            session.get_function("ffi.Shape")("text")
        self.assertEqual(session.get_function("testing.echo")(1), 1)

    def test_a_further_server_that_refuses_is_an_error(self):
        with self.assertRaisesRegex(tvm.error.RPCError, "refuses|match"):
            self.hop(self.last.port, key="other")
        self.assertEqual(self.connect().get_function("testing.echo")(1), 1)


class BothClients(Base):
    """TVM's client and the one of this library in one process: the names `rpc.*` are TVM's."""

    def connect_own(self, server):
        return self.enterContext(own_rpc.connect("127.0.0.1", server.port, "device"))

    def setUp(self):
        super().setUp()
        self.other = self.enterContext(SERVER.serve(key="device"))
        self.theirs, self.own = self.connect(), self.connect_own(self.other)

    def test_names_of_tvm_are_its_own(self):
        self.assertEqual(self.theirs.get_function("testing.echo")(1), 1)
        third = self.enterContext(SERVER.serve(key="device"))
        session = tvm_ffi.get_global_func("rpc.Connect")("127.0.0.1", third.port, "device", False)
        # TVM counts its own sessions.
        index = tvm_ffi.get_global_func("rpc.SessTableIndex")
        self.assertEqual(index(session), index(self.theirs._sess) + 1)

    def test_functions_serve_the_sessions_of_both(self):
        index = tvm_ffi.get_global_func("rpc.SessTableIndex")
        self.assertEqual(index(self.theirs._sess), self.theirs._tbl_index)
        self.assertGreaterEqual(index(self.own.module), 0)
        load = tvm_ffi.get_global_func("rpc.LoadRemoteModule")
        path = self.library()
        for session, module in ((self.theirs, self.theirs._sess), (self.own, self.own.module)):
            session.upload(str(path))
            self.assertIsNotNone(load(module, "one.so")["plus_one"])

    def test_kernels_and_copies_of_both(self):
        path, x = self.library(), np.arange(COUNT, dtype="float32")
        for session in (self.theirs, self.own):
            session.upload(str(path))
        function = self.own.load_module("one.so").plus_one
        for _ in range(3):
            self.adds(self.theirs.load_module("one.so")["plus_one"], self.theirs.cpu(0))
            arrays = [self.own.tensor(array) for array in (x, np.zeros_like(x))]
            function(*arrays)
            np.testing.assert_array_equal(self.own.numpy(arrays[1]), x + 1)

    def test_a_broken_session_leaves_the_other(self):
        self.other.terminate()
        with self.assertRaisesRegex(RuntimeError, "the server was stopped|closed"):
            self.own.function("testing.echo")(1)
        with self.assertRaises(own_rpc.RPCError):
            self.own.function("testing.echo")(1)
        self.assertEqual(self.theirs.get_function("testing.echo")(1), 1)


if __name__ == "__main__":
    unittest.main()
