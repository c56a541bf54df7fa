"""Peers of `ferrite rpc serve` that break the protocol: none of them ends the server, reaches memory of a session, or keeps others out.

usage: hostile.py [--server ferrite|upstream] [TEST...]
"""

import pathlib
import socket
import struct
import sys
import tempfile
import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
from tvm import rpc

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))

import servers  # noqa: E402

SERVER = servers.chosen(sys.argv)
MAGIC = 0xFF271
SHUTDOWN, INIT, CALL, RETURN, EXCEPTION, FROM_REMOTE, TO_REMOTE, ACK, GET_GLOBAL, FREE = range(1, 11)
ALLOCATE, FREE_DATA = 13, 14
INT, POINTER, DTYPE, DEVICE, DL_TENSOR, TEXT, BYTES, FUNCTION, OBJECT = 1, 4, 5, 6, 7, 8, 9, 68, 115
SECONDS = 20
"""Time limit of each answer."""
CPU = struct.pack("<ii", 1, 0)
FLOAT = struct.pack("<BBH", 2, 32, 1)


def text(value):
    return TEXT, struct.pack("<Q", len(value)) + value


def number(value):
    return INT, struct.pack("<q", value)


def pointer(value):
    return POINTER, struct.pack("<Q", value)


def tensor(data, shape, offset=0):
    head = struct.pack("<Q", data) + CPU + struct.pack("<i", len(shape)) + FLOAT
    return DL_TENSOR, head + struct.pack(f"<{len(shape)}q", *shape) + struct.pack("<Q", offset)


def sequence(*values):
    return struct.pack("<i", len(values)) + b"".join(struct.pack("<i", code) + content for code, content in values)


class Peer:
    """A client that sends what it wants."""

    def __init__(self, port, key=b"client:device"):
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self.socket.settimeout(SECONDS)
        if key is not None:
            self.send(struct.pack("<ii", MAGIC, len(key)) + key)

    def send(self, content):
        self.socket.sendall(content)

    def receive(self, count):
        content = b""
        while len(content) < count and (part := self.socket.recv(count - len(content))):
            content += part
        return content

    def begin(self):
        """Read the answer of the handshake, and begin a session."""
        code, length = struct.unpack("<ii", self.receive(8))
        assert code == MAGIC, code
        assert self.receive(length) == b"server:device"
        version = b"0.8.0"
        assert self.ask(INIT, struct.pack("<Q", len(version)) + version + sequence())[0] == RETURN
        return self

    def packet(self, code, content=b""):
        self.send(struct.pack("<Qi", 4 + len(content), code) + content)

    def answer(self):
        """Return the code and the content of an answer; (None, b"") after the connection was closed."""
        head = self.receive(8)
        if len(head) < 8:
            return None, b""
        content = self.receive(struct.unpack("<Q", head)[0])
        return struct.unpack("<i", content[:4])[0], content[4:]

    def ask(self, code, content=b""):
        self.packet(code, content)
        return self.answer()

    def function(self, name):
        code, content = self.ask(GET_GLOBAL, sequence(text(name)))
        assert code == RETURN, content
        return struct.unpack("<Q", content[8:16])[0]

    def call(self, handle, *values):
        return self.ask(CALL, struct.pack("<Q", handle) + sequence(*values))

    def allocate(self, count):
        code, content = self.ask(ALLOCATE, sequence((DEVICE, CPU), number(count), number(64), (DTYPE, FLOAT + bytes(4))))
        assert code == RETURN, content
        return struct.unpack("<Q", content[8:16])[0]

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Base(unittest.TestCase):
    def setUp(self):
        options = ("--sessions", "64", "--handshake-timeout", "3") if SERVER.name == "ferrite" else ()
        self.server = self.enterContext(SERVER.serve(*options, key="device"))

    def peer(self, *arguments):
        return self.enterContext(Peer(self.server.port, *arguments))

    def session(self):
        return self.peer().begin()

    def serves(self):
        """Check that the server serves TVM's client."""
        with self.peer() as peer:
            peer.begin()
            peer.packet(SHUTDOWN)
        self.assertEqual(rpc.connect("127.0.0.1", self.server.port, key="device").get_function("testing.echo")(1), 1)

    def refused(self, peer, code, content, *, goes_on=True):
        """Check that a packet is answered with an exception, or with the end of the session; then another session is served."""
        answered, message = peer.ask(code, content)
        self.assertIn(answered, (EXCEPTION, None), message)
        if goes_on and answered == EXCEPTION:
            self.assertEqual(peer.function(b"client.no_such_function"), 0)
        return message


class Handshakes(Base):
    def test_lengths_of_keys(self):
        for length in (-1, -(2**31), 2**31 - 1, 1 << 20):
            with self.subTest(length), self.peer(None) as peer:
                peer.send(struct.pack("<ii", MAGIC, length))
                self.serves()

    def test_other_protocols(self):
        for content in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 100, b"\xff" * 8, struct.pack("<i", 0x2F271)):
            with self.subTest(content[:4]), self.peer(None) as peer:
                peer.send(content)
                self.serves()

    def test_keys_of_others(self):
        for key in (b"", b"client:", b"client:other", b"server:device", b"client:device2", b"\xff\xfe", b"device", b"\0" * 9):
            with self.subTest(key), self.peer(key) as peer:
                self.assertNotEqual(peer.receive(4), struct.pack("<i", MAGIC))
        self.serves()

    def test_silent_clients_keep_nobody_out(self):
        for content in (b"", b"\x71", struct.pack("<ii", MAGIC, 13), struct.pack("<ii", MAGIC, 13) + b"client:"):
            self.peer(None).send(content)
        self.serves()

    def test_clients_that_leave(self):
        for content in (b"", struct.pack("<i", MAGIC), struct.pack("<ii", MAGIC, 13) + b"client:device"):
            with self.peer(None) as peer:
                peer.send(content)
        self.serves()

    def test_many_silent_clients(self):
        for _ in range(400):
            self.peer(None)
        self.serves()


class Strings(Base):
    """TVM's client cuts strings at a zero byte in both directions, so these are packets."""

    def test_strings_with_zero_bytes_come_back(self):
        peer = self.session()
        code, content = peer.call(peer.function(b"testing.echo"), text(b"a\0b"))
        self.assertEqual((code, content[-11:]), (RETURN, struct.pack("<Q", 3) + b"a\0b"))

    def test_names_with_zero_bytes_are_refused(self):
        peer = self.session()
        for name in (b"a\0b", b"../a\0", b"\0"):
            code, _ = peer.call(peer.function(b"tvm.rpc.server.upload"), text(name), (BYTES, struct.pack("<Q", 1) + b"x"))
            self.assertEqual(code, EXCEPTION)


class Packets(Base):
    def test_lengths_of_packets(self):
        for length in (2**64 - 1, 2**63, 1 << 50):
            with self.subTest(length):
                peer = self.session()
                peer.send(struct.pack("<Qi", length, CALL) + bytes(100))
                self.serves()
                peer.close()

    def test_packets_without_content(self):
        peer = self.session()
        peer.send(struct.pack("<Q", 0))
        for length in range(1, 4):
            peer.send(struct.pack("<Q", length) + bytes(length))
            self.assertIn(peer.answer()[0], (EXCEPTION, None))
            peer = self.session()
        for code in (CALL, FROM_REMOTE, TO_REMOTE, GET_GLOBAL, FREE, ALLOCATE):
            with self.subTest(code):
                self.refused(self.session(), code, b"")
        self.serves()

    def test_unknown_codes(self):
        for code in (0, 22, 99, -1, 2**31 - 1, RETURN, EXCEPTION, ACK):
            with self.subTest(code):
                self.refused(self.session(), code, bytes(16))
        self.serves()

    def test_a_second_beginning(self):
        self.refused(self.session(), INIT, struct.pack("<Q", 5) + b"0.8.0" + sequence())

    def test_constructors_that_are_not_there(self):
        with self.peer() as peer:
            code, length = struct.unpack("<ii", peer.receive(8))
            peer.receive(length)
            code, message = peer.ask(INIT, struct.pack("<Q", 5) + b"0.8.0" + sequence(text(b"rpc.NoSuchConstructor")))
            self.assertEqual(code, EXCEPTION)
            self.assertIn(b"rpc.NoSuchConstructor", message)

    def test_sequences(self):
        for content in (
            struct.pack("<i", -1),
            struct.pack("<i", 2**31 - 1),
            struct.pack("<ii", 1, 99),
            struct.pack("<iiQ", 1, TEXT, 2**64 - 1),
            struct.pack("<iiQ", 1, TEXT, 1 << 40) + b"text",
            struct.pack("<iiQ", 1, BYTES, 1 << 62),
            struct.pack("<iiIQ", 1, OBJECT, 115, 12345),
            struct.pack("<iiI", 1, OBJECT, 70),
            struct.pack("<iiQ", 1, FUNCTION, 0xDEAD),
            sequence((DL_TENSOR, struct.pack("<Q", 1) + CPU + struct.pack("<i", -5) + FLOAT)),
            sequence((DL_TENSOR, struct.pack("<Q", 1) + CPU + struct.pack("<i", 2**30) + FLOAT)),
        ):
            with self.subTest(content[:24]):
                peer = self.session()
                echo = peer.function(b"testing.echo")
                self.refused(peer, CALL, struct.pack("<Q", echo) + content)
        self.serves()


class Handles(Base):
    def test_handles_that_nobody_has(self):
        for handle in (0, 1, 8, 0xDEADBEEF, 2**63, 2**64 - 1):
            with self.subTest(handle):
                self.refused(self.session(), CALL, struct.pack("<Q", handle) + sequence())
                self.refused(self.session(), FREE, sequence(pointer(handle)))
        self.serves()

    def test_functions_are_freed_once(self):
        peer = self.session()
        echo = peer.function(b"testing.echo")
        self.assertEqual(peer.ask(FREE, sequence(pointer(echo)))[0], RETURN)
        self.refused(peer, FREE, sequence(pointer(echo)))
        self.refused(peer, CALL, struct.pack("<Q", echo) + sequence(number(1)))

    def test_data_is_freed_once(self):
        peer = self.session()
        data = peer.allocate(256)
        release = sequence((DEVICE, CPU), pointer(data))
        self.assertEqual(peer.ask(FREE_DATA, release)[0], RETURN)
        self.refused(peer, FREE_DATA, release)
        self.refused(peer, FROM_REMOTE, tensor(data, [64])[1] + struct.pack("<Q", 256))

    def test_data_is_no_function(self):
        peer = self.session()
        data, echo = peer.allocate(256), peer.function(b"testing.echo")
        self.refused(peer, CALL, struct.pack("<Q", data) + sequence())
        self.refused(peer, FREE, sequence(pointer(data)))
        self.refused(peer, FREE_DATA, sequence((DEVICE, CPU), pointer(echo)))

    def test_copies_stay_within_the_data(self):
        """The number of bytes counts, whatever the shape."""
        for shape, offset, count in (([65], 0, 260), ([64], 4, 256), ([64], 2**64 - 4, 256), ([64], 0, 1 << 40), ([-1], 252, 8)):
            with self.subTest((shape, offset, count)):
                peer = self.session()
                head = tensor(peer.allocate(256), shape, offset)[1] + struct.pack("<Q", count)
                self.refused(peer, FROM_REMOTE, head)
                if count <= 1 << 10:
                    self.refused(peer, TO_REMOTE, head + bytes(count))
        self.serves()

    def test_addresses_do_not_pass_for_handles(self):
        """A tensor at any address of the server, as a client of TVM's server may name it."""
        for address in (0x400000, 0x7FFFF7DD0000):
            with self.subTest(address):
                self.refused(self.session(), FROM_REMOTE, tensor(address, [4])[1] + struct.pack("<Q", 16))

    def test_sizes_of_allocations(self):
        for count in (-1, 2**63 - 1, 1 << 60):
            with self.subTest(count):
                self.refused(
                    self.session(), ALLOCATE, sequence((DEVICE, CPU), number(count), number(64), (DTYPE, FLOAT + bytes(4)))
                )


@unittest.skipUnless(SERVER.name == "ferrite", "options of this project's server")
class Permissions(unittest.TestCase):
    def test_code_needs_permission(self):
        with SERVER.serve(key="device", code=False) as server:
            session = rpc.connect("127.0.0.1", server.port, key="device")
            self.assertEqual(session.get_function("testing.echo")(1), 1)
            for action in (
                lambda: session.upload(bytearray(b"content"), "file.so"),
                lambda: session.load_module("file.so"),
                lambda: session.get_function("ffi.ModuleLoadFromFile")("/tmp/file.so"),
                lambda: session.download("/etc/hostname"),
            ):
                with self.assertRaises((AttributeError, RuntimeError)):
                    action()

    def test_tokens(self):
        token = "0123456789abcdef" * 2
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(token + "\n")
            file.flush()
            with SERVER.serve("--allow-code", "--token", file.name, key="device", code=False) as server:
                for key in ("device", f"device token={token[:-1]}", f"device token={token}0", "device token="):
                    with self.subTest(key), self.assertRaises(Exception):
                        rpc.connect("127.0.0.1", server.port, key=key)
                session = rpc.connect("127.0.0.1", server.port, key=f"device token={token}")
                session.upload(bytearray(b"content"), "file")
                self.assertEqual(bytes(session.download("file")), b"content")


if __name__ == "__main__":
    unittest.main()
