"""Servers and trackers in processes of their own: `ferrite rpc serve` and `ferrite rpc tracker`, or TVM's."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PORTS = 9101, 9199
_ADDRESS = re.compile(r"(?:127\.0\.0\.1|localhost|0\.0\.0\.0):(\d+)")
START_SECONDS = 60


def command():
    """Return the command `ferrite`: FERRITE_COMMAND, or the one of the installed wheel."""
    import ferrite_tvm_ffi

    wheel = pathlib.Path(ferrite_tvm_ffi.__file__).parent / "bin/ferrite"
    found = os.environ.get("FERRITE_COMMAND") or (str(wheel) if wheel.exists() else shutil.which("ferrite"))
    assert found, "no command ferrite: set FERRITE_COMMAND"
    return found


def _listens(port):
    """Return whether a socket listens on the port. A connection to try it would be a client."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


class Process:
    """A program that prints the address on which it listens. Its lines are kept."""

    def __init__(self, arguments, **settings):
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0, bufsize=1, **settings
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        try:
            self.port = int(_ADDRESS.search(self.wait_for(_ADDRESS)).group(1))
            # TVM's server prints its address before it listens.
            while not _listens(self.port):
                time.sleep(0.01)
        except BaseException:
            self.terminate()
            raise

    @property
    def pid(self):
        return self.process.pid

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def wait_for(self, pattern, seconds=START_SECONDS):
        """Return the first printed line that has the pattern."""
        pattern = re.compile(pattern)

        def found():
            return next((line for line in self.lines if line is None or pattern.search(line)), "")

        with self.changed:
            assert self.changed.wait_for(lambda: found() != "", seconds), f"{pattern.pattern} is not in {self.text()!r}"
            assert (line := found()) is not None, f"it has ended: {self.text()!r}"
            return line

    def text(self):
        return "".join(line for line in self.lines if line)

    def terminate(self):
        """End the program with its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.reader.join(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.terminate()


class Ferrite:
    """This project's server and tracker. `runner` is put before the command: an emulator of another machine."""

    name = "ferrite"

    def __init__(self, program=None, runner=()):
        self.program = [*runner, program or command()]

    def serve_arguments(self, *options, key="", tracker=None, port=PORTS[0], code=True):
        arguments = [*self.program, "rpc", "serve", "--tcp", f"127.0.0.1:{port}", "--port-end", str(PORTS[1]), "--key", key]
        arguments += ["--tracker", f"127.0.0.1:{tracker}"] if tracker else []
        return arguments + (["--allow-code", "--no-token"] if code else []) + list(options)

    def serve(self, *options, **settings):
        return Process(self.serve_arguments(*options, **settings))

    def tracker(self, port=PORTS[0]):
        return Process([*self.program, "rpc", "tracker", "--tcp", f"127.0.0.1:{port}", "--port-end", str(PORTS[1])])

    def pipe_program(self, folder, *options):
        """Return a program that serves the descriptors that are its arguments, as TVM's PopenSession starts one."""
        path = pathlib.Path(folder) / "pipe_server"
        words = " ".join(f"'{word}'" for word in [*self.program, "rpc", "serve", *options, "--allow-code", "--pipe"])
        path.write_text(f'#!/bin/sh\nexec {words} "$1" "$2"\n')
        path.chmod(0o755)
        return str(path)


class Upstream:
    """TVM's server and tracker in Python, which need the package tornado. There is none for pipes in the wheel."""

    name = "upstream"

    def serve(self, *options, key="", tracker=None, port=PORTS[0], code=True):
        assert not options and code, "TVM's server has no such options"
        arguments = [sys.executable, "-m", "tvm.exec.rpc_server", "--host", "127.0.0.1", "--port", str(port), "--port-end", str(PORTS[1])]
        arguments += ["--key", key] + (["--tracker", f"127.0.0.1:{tracker}"] if tracker else [])
        return Process(arguments, env=_inherited())

    def tracker(self, port=PORTS[0]):
        return Process(
            [sys.executable, "-m", "tvm.exec.rpc_tracker", "--host", "127.0.0.1", "--port", str(port), "--port-end", str(PORTS[1])],
            env=_inherited(),
        )


def _inherited():
    """Return this process's environment, with its packages: interpreters that TVM starts find them too."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUNBUFFERED": "1"}


def chosen(arguments):
    """Remove `--server NAME` from the arguments, and return that server."""
    if "--server" not in arguments:
        return Ferrite()
    at = arguments.index("--server")
    _, name = arguments[at : at + 2]
    del arguments[at : at + 2]
    return {"ferrite": Ferrite, "upstream": Upstream}[name]()


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as made:
        yield pathlib.Path(made)
