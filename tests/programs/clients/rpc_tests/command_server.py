"""`ferrite rpc serve` with the interface of `tvm.rpc.Server`, and as the program that `tvm.rpc.with_minrpc` makes."""

import os
import pathlib
import shutil
import signal
import subprocess
import threading

FUNCTIONS = os.environ.get("FERRITE_RPC_FUNCTIONS")
SILENCE = 20
"""Seconds within which the command prints its address."""


def serve(*options):
    """Return the command with options. Clients of the tests are programs of this machine, and send no token."""
    return [os.environ["FERRITE_RPC_COMMAND"], "rpc", "serve", "--allow-code", *options]


class Server:
    """Server in a process of its own, for as many clients at a time as tests have."""

    def __init__(
        self,
        host="0.0.0.0",
        port=9091,
        port_end=9199,
        is_proxy=False,
        tracker_addr=None,
        key="",
        load_library=None,
        custom_addr=None,
        **_settings,
    ):
        options = ["--no-token", "--key", key, "--library", FUNCTIONS]
        local = "127.0.0.1" if host == "0.0.0.0" else host
        if is_proxy:
            options += ["--proxy", f"{local}:{port}"]
        else:
            options += ["--tcp", f"{local}:{port}", "--port-end", str(port_end - 1)]
        if tracker_addr and not is_proxy:
            options += ["--tracker", "{}:{}".format(*tracker_addr)]
        if custom_addr:
            options += ["--custom-address", custom_addr]
        for library in load_library.split(":") if load_library else []:
            options += ["--library", library]
        self.host = host
        self.proc = subprocess.Popen(serve(*options), stdout=subprocess.PIPE, text=True, process_group=0)
        self.port = port if is_proxy else self._port()

    def _port(self):
        """Return the port that the command prints. A command that prints nothing is ended."""
        timer = threading.Timer(SILENCE, self.proc.kill)
        timer.start()
        line = self.proc.stdout.readline()
        timer.cancel()
        if not line.startswith("serving at "):
            self.terminate()
            raise RuntimeError(f"no server: {line!r}")
        return int(line.rpartition(":")[2])

    def terminate(self):
        if self.proc:
            os.killpg(self.proc.pid, signal.SIGTERM)
            self.proc.wait()
            self.proc.stdout.close()
            self.proc = None

    def __del__(self):
        self.terminate()


def with_minrpc(compile_func, server="posix_popen_server"):
    """Return a compile function whose result is a program for `rpc.PopenSession`: a script that runs the command with the objects as
    a library. TVM's links them with a server in C++."""

    def fcompile(output, objects, options=None, **settings):
        options = ["--library", FUNCTIONS]
        if objects:
            library = str(pathlib.Path(output).resolve()) + ".so"
            subprocess.run(["cc", "-shared", "-o", library, *objects], check=True)
            options += ["--library", library]
        words = " ".join(f"'{word}'" for word in serve(*options, "--pipe"))
        pathlib.Path(output).write_text(f'#!{shutil.which("sh")}\nexec {words} "$1" "$2"\n')
        os.chmod(output, 0o755)

    fcompile.need_system_lib = True
    fcompile.output_format = ""
    return fcompile


def install(rpc):
    """Replace TVM's servers in its package."""
    rpc.Server = rpc.server.Server = Server
    rpc.with_minrpc = rpc.minrpc.with_minrpc = with_minrpc
