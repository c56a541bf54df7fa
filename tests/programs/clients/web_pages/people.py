"""The page of targets/web/page, built and served by its script, does in Chromium what people do with it; TVMJS and FERRITE_WEB are those of ../web."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[3] / "targets/web/page"


def free_port():
    with socket.create_server(("localhost", 0)) as server:
        return server.getsockname()[1]


def address(server):
    """Returns the address that the script prints when the page is built."""
    for line in server.stdout:
        print(line, end="", flush=True)
        if line.startswith("http://"):
            return line.strip()
    sys.exit("the page was not built")


with tempfile.TemporaryDirectory() as folder:
    variables = {**os.environ, "PYTHON": sys.executable, "PORT": str(free_port())}
    server = subprocess.Popen([PAGE / "serve.sh", folder], env=variables, stdout=subprocess.PIPE, text=True)
    try:
        subprocess.run(["node", HERE / "people.js", os.environ["TVMJS"], address(server)], check=True)
    finally:
        server.kill()
