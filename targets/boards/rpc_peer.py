#!/usr/bin/env python3
"""usage: rpc_peer.py PROGRAM COMMAND...: drives firmware of firmware/rpc.c, with well-formed packets and with others.

The standard streams of the command are the serial line of the board. Prints a row of run.sh's table for each check.
"""

import random
import select
import struct
import subprocess
import sys
import zlib

START, CALL, RETURN, EXCEPTION, COPY_FROM, COPY_TO, COPY_ACK, GET_FUNCTION, FREE_HANDLE = range(2, 11)
GET_ATTRIBUTE, ALLOCATE, FREE_DATA = 12, 13, 14
COPY_AMONG, ALLOCATE_TENSOR = 16, 17
CPU = struct.pack("<ii", 1, 0)


class Line:
    """The serial line as it is."""

    def __init__(self, process):
        self.process = process

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.process.stdout.read(size - len(data))
            assert more, "the board ended the line"
            data += more
        return data


class Link:
    """The line with frames, as in firmware/rpc_link.c. Loses and changes bytes in both directions."""

    DATA, NEXT, RESTART = 1, 2, 3

    def __init__(self, process, loss, name=b"\x01\x02\x03\x04"):
        self.process, self.loss, self.random = process, loss, random.Random(1)
        self.sent = self.received = self.repeated = 0
        self.pending, self.frame, self.escaped = bytearray(), bytearray(), False
        while self.exchange(self.RESTART, 0, name) != (self.RESTART, 0, name):
            self.repeated += 1

    def noisy(self, data):
        """Loses and changes bytes of the data."""
        out = bytearray()
        for byte in data:
            luck = self.random.random()
            if luck > self.loss:
                out.append(byte if luck > 2 * self.loss else byte ^ 1 << self.random.randrange(8))
        return bytes(out)

    def send(self, kind, number, payload=b""):
        body = bytes((kind, number)) + payload
        body += struct.pack("<I", zlib.crc32(body))
        body = body.replace(b"\x7d", b"\x7d\x5d").replace(b"\x7e", b"\x7d\x5e")
        self.process.stdin.write(self.noisy(b"\x7e" + body + b"\x7e"))
        self.process.stdin.flush()

    def receive(self):
        """Returns the next frame; None if there is none in time, or it is damaged."""
        while True:
            if not select.select([self.process.stdout], [], [], 0.1)[0]:
                return None
            data = self.process.stdout.read(1)
            assert data, "the board ended the line"
            for byte in self.noisy(data):
                if byte == 0x7E:
                    body, self.frame, self.escaped = bytes(self.frame), bytearray(), False
                    if len(body) >= 6 and zlib.crc32(body[:-4]) == struct.unpack("<I", body[-4:])[0]:
                        return body[0], body[1], body[2:-4]
                elif byte == 0x7D:
                    self.escaped = True
                else:
                    self.frame.append(byte ^ 0x20 if self.escaped else byte)
                    self.escaped = False

    def exchange(self, kind, number, payload=b""):
        self.send(kind, number, payload)
        return self.receive()

    def take(self, frame):
        """Takes data of the board. Returns true if they are new: the board may have repeated them."""
        is_new = frame is not None and frame[:2] == (self.DATA, self.received)
        if is_new:
            self.pending += frame[2]
            self.received = self.received + 1 & 0xFF
        return is_new

    def write(self, data):
        for at in range(0, len(data), 128):
            frame, following = None, self.sent + 1 & 0xFF
            while frame is None or frame[:2] != (self.NEXT, following):
                if frame is None:
                    self.send(self.DATA, self.sent, data[at : at + 128])
                    self.repeated += 1
                frame = self.receive()
                self.take(frame)
            self.sent = following
            self.repeated -= 1

    def read(self, size):
        while len(self.pending) < size:
            frame = self.receive()
            # No answer to data that were repeated: each would make the board repeat the next ones.
            if self.take(frame) or frame is None:
                self.send(self.NEXT, self.received)
        data, self.pending = bytes(self.pending[:size]), self.pending[size:]
        return data


class Board:
    """Packets to a board, and its answers."""

    def __init__(self, line):
        self.line = line

    def ask(self, body):
        self.line.write(struct.pack("<Q", len(body)) + body)
        size = struct.unpack("<Q", self.line.read(8))[0]
        assert 4 <= size < 1 << 20, f"an answer of {size} bytes"
        answer = self.line.read(size)
        return struct.unpack("<i", answer[:4])[0], answer[4:]

    def request(self, code, content):
        return self.ask(struct.pack("<i", code) + content)

    def good(self, code, content, answer=RETURN):
        got, body = self.request(code, content)
        assert got == answer, (code, got, body)
        return body

    def refused(self, message, code, content):
        """The request is answered by this error, and the session goes on."""
        got, body = self.request(code, content)
        text = body[16:].decode()
        assert got == EXCEPTION and text == message, (code, got, body)
        self.free(self.function("testing.echo"))

    def pointer(self, code, content):
        return struct.unpack("<iiQ", self.good(code, content))[2]

    def function(self, name):
        return self.pointer(GET_FUNCTION, values(text(name)))

    def free(self, handle):
        self.good(FREE_HANDLE, values(pointer(handle)))

    def allocate(self, size):
        return self.pointer(ALLOCATE, values(device(), number(size), number(64), dtype()))


def values(*each):
    return struct.pack("<i", len(each)) + b"".join(each)


def number(value):
    return struct.pack("<iq", 1, value)


def pointer(handle):
    return struct.pack("<iQ", 4, handle)


def dtype(code=2, bits=32, lanes=1):
    return struct.pack("<iBBHI", 5, code, bits, lanes, 0)


def device(kind=1):
    return struct.pack("<iii", 6, kind, 0)


def text(value, kind=8):
    data = value.encode()
    return struct.pack("<iQ", kind, len(data)) + data


def tensor(handle, shape, bits=32, offset=0):
    head = struct.pack("<Q", handle) + CPU + struct.pack("<iBBH", len(shape), 2, bits, 1)
    return head + struct.pack(f"<{len(shape)}q", *shape) + struct.pack("<Q", offset)


def start(board, version="0.8.0", arguments=b"\0\0\0\0"):
    return board.request(START, struct.pack("<Q", len(version)) + version.encode() + arguments)


def row(name, result):
    print(f"row|{name}|{result}|-", flush=True)


def check_start(board):
    got, body = board.request(GET_FUNCTION, values(text("testing.echo")))
    assert got == EXCEPTION and b"initialize once, and first" in body
    assert b"protocol is not 0.8.0" in start(board, "0.7.0")[1]
    assert b"no session constructors" in start(board, arguments=values(text("rpc.Connect")))[1]
    assert start(board)[0] == RETURN
    assert b"initialize once, and first" in start(board)[1]
    row("sessions begin", "ok, 4 mistakes")


def check_values(board):
    """Values come back as they were sent; a call's result has its type first."""
    echo = board.function("testing.echo")
    scalars = [number(-7), struct.pack("<iq", 2, 1), struct.pack("<id", 3, 2.5), dtype(), device()]
    scalars += [text("text"), text("ab", 9)]
    for value in [*scalars, text("a longer string"), text("0123456789", 9)]:
        body = board.good(CALL, struct.pack("<Q", echo) + values(value))
        assert body[:8] == struct.pack("<ii", 2, 1) and body[16:] == value, (value, body)
    assert board.good(CALL, struct.pack("<Q", echo) + values(struct.pack("<i", 0))) == struct.pack("<iiqi", 2, 1, 0, 0)
    # Strings as objects, and a function as an object; a returned function is a handle of its own.
    body = board.good(CALL, struct.pack("<Q", echo) + values(struct.pack("<iIQ", 65, 65, 3) + b"abc"))
    assert body[16:] == text("abc")
    for argument in (struct.pack("<iQ", 68, echo), struct.pack("<iIQ", 64, 115, echo)):
        kind, handle = struct.unpack("<qiQ", board.good(CALL, struct.pack("<Q", echo) + values(argument))[8:])[::2]
        assert kind == 68 and handle != echo
        board.free(handle)
    assert board.function("nothing") == 0
    row("values", f"ok, {len(scalars) + 6} values")


def check_memory(board):
    """Copies in whole and in parts; views; all memory is given back."""
    data = board.allocate(64)
    assert board.good(COPY_FROM, tensor(data, [16]) + struct.pack("<Q", 64), COPY_ACK) == bytes(64)
    content = bytes(range(64))
    board.good(COPY_TO, tensor(data, [16]) + struct.pack("<Q", 64) + content)
    board.good(COPY_TO, tensor(data, [16], offset=32) + struct.pack("<Q", 4) + b"four")
    content = content[:32] + b"four" + content[36:]
    assert board.good(COPY_FROM, tensor(data, [16], offset=30) + struct.pack("<Q", 10), COPY_ACK) == content[30:40]
    other = board.pointer(ALLOCATE_TENSOR, values(struct.pack("<i", 7) + tensor(0, [4, 4]), struct.pack("<i", 0)))
    pair = [struct.pack("<i", 7) + tensor(handle, [16]) for handle in (data, other)]
    board.good(COPY_AMONG, values(*pair, pointer(0)))
    assert board.good(COPY_FROM, tensor(other, [16]) + struct.pack("<Q", 64), COPY_ACK) == content
    for handle in (data, other):
        board.good(FREE_DATA, values(device(), pointer(handle)))
    for _ in range(100):
        board.good(FREE_DATA, values(device(), pointer(board.allocate(8192))))
    assert board.good(GET_ATTRIBUTE, values(device(), number(0))) == values(number(1))
    assert board.good(GET_ATTRIBUTE, values(device(2), number(0))) == values(number(0))
    row("memory", "ok, 100 tensors of 8 KiB")


def check_mistakes(board):
    """Each mistake is an error, after which the session goes on."""
    echo, data = board.function("testing.echo"), board.allocate(64)
    stale = board.allocate(8)
    board.good(FREE_DATA, values(device(), pointer(stale)))
    call = struct.pack("<Q", echo)
    as_tensor = struct.pack("<i", 7)
    handle = "ValueError: no such handle"
    kind = "TypeError: handle of another kind"
    bounds = "ValueError: tensor exceeds its memory"
    shape = "ValueError: invalid shape"
    short = "ValueError: truncated request"
    long = "MemoryError: arguments exceed the server's memory"
    wrong = "TypeError: wrong arguments"
    mistakes = [
        # Handles: of nothing, freed, of another kind, freed twice.
        (handle, CALL, struct.pack("<Q", 0) + values()),
        (handle, CALL, struct.pack("<Q", 0x20000000) + values()),
        (handle, CALL, struct.pack("<Q", 2**64 - 1) + values()),
        (handle, CALL, struct.pack("<Q", echo | 1 << 40) + values()),
        (handle, CALL, struct.pack("<Q", echo + 0x100) + values()),
        (kind, CALL, struct.pack("<Q", data) + values()),
        (kind, CALL, call + values(struct.pack("<iQ", 73, echo))),
        (kind, FREE_HANDLE, values(pointer(data))),
        (kind, FREE_DATA, values(device(), pointer(echo))),
        (handle, FREE_DATA, values(device(), pointer(stale))),
        (handle, FREE_HANDLE, values(pointer(0))),
        (handle, COPY_FROM, tensor(stale, [2]) + struct.pack("<Q", 8)),
        (handle, CALL, call + values(pointer(0x20000000))),
        (kind, COPY_FROM, tensor(echo, [2]) + struct.pack("<Q", 8)),
        # Sizes: beyond the data, by shape, by offset, and those that overflow.
        (bounds, COPY_FROM, tensor(data, [16]) + struct.pack("<Q", 65)),
        (bounds, COPY_FROM, tensor(data, [16], offset=60) + struct.pack("<Q", 5)),
        (bounds, COPY_FROM, tensor(data, [16], offset=2**64 - 4) + struct.pack("<Q", 8)),
        (bounds, COPY_FROM, tensor(data, [16]) + struct.pack("<Q", 2**64 - 1)),
        (bounds, COPY_TO, tensor(data, [16]) + struct.pack("<Q", 65) + bytes(65)),
        (short, COPY_TO, tensor(data, [16]) + struct.pack("<Q", 60) + bytes(59)),
        (bounds, CALL, call + values(as_tensor + tensor(data, [17]))),
        (bounds, CALL, call + values(as_tensor + tensor(data, [16], offset=4))),
        (shape, CALL, call + values(as_tensor + tensor(data, [-1]))),
        (shape, CALL, call + values(as_tensor + tensor(data, [2**32]))),
        (shape, CALL, call + values(as_tensor + tensor(data, [2**31, 2**31, 4]))),
        (shape, CALL, call + values(as_tensor + tensor(data, [2**16, 2**16, 2**16, 2**16]))),
        (shape, CALL, call + values(as_tensor + tensor(data, [16], bits=0))),
        (shape, CALL, call + values(as_tensor + struct.pack("<Q", data) + CPU + struct.pack("<iBBH", -1, 2, 32, 1))),
        (shape, CALL, call + values(as_tensor + struct.pack("<Q", data) + CPU + struct.pack("<iBBH", 1 << 30, 2, 32, 1))),
        # Memory: tensors and arguments that do not fit.
        ("MemoryError: tensor exceeds the board's memory", ALLOCATE, values(device(), number(1 << 20), number(64), dtype())),
        ("MemoryError: tensor exceeds the board's memory", ALLOCATE, values(device(), number(-1), number(64), dtype())),
        (shape, ALLOCATE_TENSOR, values(as_tensor + tensor(0, [2**30, 2]))),
        (long, CALL, call + values(text("x" * 5000))),
        (long, CALL, call + struct.pack("<I", 0x10000000)),
        (long, CALL, call + struct.pack("<I", 0xFFFFFFFF)),
        (long, CALL, call + values(*[number(0)] * 100)),
        (long, CALL, call + values(struct.pack("<iQ", 8, 2**64 - 1))),
        (short, CALL, call + values(struct.pack("<iQ", 8, 100) + b"short")),
        # Requests that are malformed.
        (short, CALL, b"\1\2"),
        (short, CALL, call),
        (short, CALL, call + struct.pack("<i", 2) + number(1)),
        (short, GET_FUNCTION, b""),
        (wrong, GET_FUNCTION, values()),
        (wrong, GET_FUNCTION, values(number(1))),
        (wrong, FREE_HANDLE, values(number(echo))),
        (wrong, ALLOCATE, values(device(), number(8))),
        ("TypeError: unsupported type", CALL, call + values(struct.pack("<ii", 77, 77))),
        ("TypeError: unsupported type", CALL, call + values(struct.pack("<ii", -5, 0))),
        ("ValueError: string with a zero byte", CALL, call + values(text("a\0b"))),
        ("ValueError: the device is cpu(0)", ALLOCATE, values(device(2), number(8), number(64), dtype())),
        ("ValueError: unknown request", 22, b""),
        ("ValueError: unknown request", -1, b""),
        ("ValueError: unknown request", 4, bytes(100)),
        ("TypeError: testing.echo takes one argument", CALL, call + values()),
    ]
    for message, code, content in mistakes:
        board.refused(message, code, content)
    got, body = board.ask(b"\1\0")
    assert got == EXCEPTION and short.encode() in body
    # Handles of which there are too many; all of them can be freed, and made again.
    for _ in range(2):
        handles = []
        while (got := board.request(GET_FUNCTION, values(text("testing.echo"))))[0] == RETURN:
            handles.append(struct.unpack("<iiQ", got[1])[2])
        assert b"MemoryError: too many handles" in got[1] and len(handles) == 20 - 2, (got, len(handles))
        for one in handles:
            board.free(one)
    # Bytes after the content of a packet are ignored, and so are empty packets.
    board.good(GET_FUNCTION, values(text("nothing")) + b"more than was asked for")
    board.line.write(bytes(16))
    board.free(board.function("testing.echo"))
    row("mistakes", f"ok, {len(mistakes) + 3} mistakes")


def check_noise(board, count):
    """Requests with changed bytes: the board answers each, and works afterwards."""
    source = random.Random(5)
    echo, data = board.function("testing.echo"), board.allocate(64)
    call = struct.pack("<Q", echo)
    requests = [
        (CALL, call + values(number(1), text("abc"))),
        (CALL, call + values(struct.pack("<i", 7) + tensor(data, [4, 4]))),
        (COPY_FROM, tensor(data, [16]) + struct.pack("<Q", 64)),
        (COPY_TO, tensor(data, [16]) + struct.pack("<Q", 64) + bytes(64)),
        (ALLOCATE_TENSOR, values(struct.pack("<i", 7) + tensor(0, [4, 4]))),
        (GET_FUNCTION, values(text("testing.echo"))),
    ]
    answers = {}
    for _ in range(count):
        code, content = source.choice(requests)
        changed = bytearray(content)
        for _ in range(source.randrange(1, 4)):
            changed[source.randrange(len(changed))] = source.choice((0, 1, 4, 7, 8, 64, 115, 127, 128, 255, source.randrange(256)))
        got, body = board.request(code, bytes(changed[: source.randrange(len(changed) + 1)] if source.random() < 0.2 else changed))
        assert got in (RETURN, EXCEPTION, COPY_ACK), got
        answers[got] = answers.get(got, 0) + 1
        if got == RETURN and code in (ALLOCATE_TENSOR, GET_FUNCTION):
            handle = struct.unpack("<iiQ", body)[2]
            if handle != 0:
                board.good(*((FREE_HANDLE, values(pointer(handle))) if code == GET_FUNCTION else (FREE_DATA, values(device(), pointer(handle)))))
    assert board.good(CALL, call + values(number(5)))[16:] == number(5)
    row("changed requests", f"ok, {count} requests, {answers.get(EXCEPTION, 0)} refused")


def restart(board):
    """Ends the session and begins another one."""
    board.line.write(struct.pack("<Qi", 4, 1))
    assert start(board)[0] == RETURN


def check_sessions(board):
    """A session that ends gives everything back: the next one has all handles and all memory."""
    for _ in range(3):
        restart(board)
        board.allocate(8192)
        while board.request(GET_FUNCTION, values(text("testing.echo")))[0] == RETURN:
            pass
    row("sessions", "ok, 3 sessions")


def check_link(process):
    """Every 200th byte is lost or changed, in both directions."""
    link = Link(process, 0.0025)
    board = Board(link)
    assert start(board)[0] == RETURN
    data, content = board.allocate(4096), random.Random(2).randbytes(4096)
    board.good(COPY_TO, tensor(data, [1024]) + struct.pack("<Q", 4096) + content)
    assert board.good(COPY_FROM, tensor(data, [1024]) + struct.pack("<Q", 4096), COPY_ACK) == content
    check_values(board)
    # A bridge that starts again begins a session, in which no handle of the other one is known.
    board.line = Link(process, 0.0025, b"new!")
    board.line.write(struct.pack("<Q", 1000) + bytes(100))
    board.line = Link(process, 0.0025, b"last")
    assert start(board)[0] == RETURN
    board.refused("ValueError: no such handle", COPY_FROM, tensor(data, [1024]) + struct.pack("<Q", 4096))
    assert link.repeated > 5, link.repeated
    row("a bad line", f"ok, {link.repeated} frames repeated")


def call(board, name, *arguments):
    """Calls a global function; returns the values of its result after the type."""
    return board.good(CALL, struct.pack("<Q", board.function(name)) + values(*arguments))[16:]


def check_modules(process):
    """A function of the system library computes, and a time evaluator measures it."""
    board = Board(Line(process))
    assert start(board)[0] == RETURN
    module = struct.pack("<iQ", 73, struct.unpack("<iQ", call(board, "ffi.SystemLib"))[1])
    get = "tvm.rpc.server.ModuleGetFunction"
    assert call(board, get, module, text("nothing"), number(1)) == struct.pack("<i", 0)
    add_one = struct.unpack("<iQ", call(board, get, module, text("add_one"), number(1)))[1]
    x, y = board.allocate(64), board.allocate(64)
    board.good(COPY_TO, tensor(x, [16]) + struct.pack("<Q", 64) + struct.pack("<16f", *range(16)))
    pair = [struct.pack("<i", 7) + tensor(handle, [16]) for handle in (x, y)]
    board.good(CALL, struct.pack("<Q", add_one) + values(*pair))
    data = board.good(COPY_FROM, tensor(y, [16]) + struct.pack("<Q", 64), COPY_ACK)
    assert data == struct.pack("<16f", *range(1, 17)), data
    row("system library", "ok, add_one")
    # 200 calls in each of 3 repetitions: the clock counts 40 instructions at a time.
    numbers = [number(value) for value in (1, 0, 200, 3, 0, 100, 0, 1, 0)]
    evaluator = call(board, "runtime.RPCTimeEvaluator", module, text("add_one"), *numbers, text(""))
    times = board.good(CALL, evaluator[4:] + values(*pair))[16 + 4 + 8 :]
    nanoseconds = [time * 1e9 for time in struct.unpack("<3d", times)]
    assert max(nanoseconds) < 1.01 * min(nanoseconds) and 100 < min(nanoseconds) < 10000, nanoseconds
    evaluator = struct.pack("<Q", board.function("runtime.RPCTimeEvaluator"))
    for message, *rest in (
        ("no such function", text("nothing"), *numbers, text("")),
        ("no f_preproc on boards", text("add_one"), *numbers, text("prepare")),
        ("no f_preproc on boards", text("add_one"), *numbers, number(0)),
        ("wrong arguments", text("add_one")),
    ):
        board.refused(f"ValueError: {message}", CALL, evaluator + values(module, *rest))
    row("time evaluator", "ok, 4 mistakes")


def check_mean(line, name):
    """A function computes the mean of a vector; another name is not that of a function."""
    board = Board(line)
    assert start(board)[0] == RETURN
    data = board.allocate(16)
    board.good(COPY_TO, tensor(data, [4]) + struct.pack("<Q4f", 16, 1, 2, 3, 4))
    assert call(board, name, struct.pack("<i", 7) + tensor(data, [4])) == struct.pack("<id", 3, 2.5)
    assert board.function("nothing") == 0
    row(name, "ok, a mean")


def check_zephyr(process):
    check_mean(Link(process, 0.0025), "app.mean")


def check_embassy(process):
    check_mean(Line(process), "sensor.mean")


def check_server(process):
    board = Board(Line(process))
    check_start(board)
    check_values(board)
    restart(board)
    check_memory(board)
    check_mistakes(board)
    check_noise(board, 250)
    check_sessions(board)
    restart(board)
    print(f"stack|{struct.unpack('<iq', call(board, 'board.stack'))[1]}")


def main(program, command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        checks = {"rpc": check_server, "rpc_link": check_link, "rpc_modules": check_modules}
        checks |= {"zephyr": check_zephyr, "embassy": check_embassy}
        checks[program](process)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
