"""Firmware with the server of `ferrite/rpc.h` for a Cortex-M4F, and sessions of TVM's client with it in QEMU."""

import os
import pathlib
import shutil
import stat
import subprocess

from tvm import rpc

ROOT = pathlib.Path(__file__).resolve().parents[5]
BOARDS, MCU = ROOT / "targets/boards", ROOT / "targets/mcu"
FILES = ["rpc.c", "rpc_server.c", "rpc_evaluator.c", "rpc_system_library.c", "workspace.c"]


def build(folder, name, defines=(), sources=(), objects=(), heap=16384):
    """Builds firmware from `rpc.c` and further files by the Makefile that users copy. Returns its path."""
    shutil.copy(BOARDS / "Makefile", folder)
    files = [BOARDS / "firmware" / file for file in FILES] + [MCU / "serial/cmsdk.c", *sources]
    flags = ["-Os", "-fno-builtin", f"-DRPC_HEAP_BYTES={heap}", *(f"-D{define}" for define in defines)]
    variables = {
        "FERRITE": ROOT,
        "PROFILE": "core",
        "SOURCES": " ".join(map(str, files)),
        "CFLAGS": " ".join(flags),
        "LDFLAGS": " ".join(map(str, objects)),
    }
    command = ["make", "-B", "-C", folder, *(f"{variable}={value}" for variable, value in variables.items())]
    # The tests may run below another make.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return shutil.copy(folder / "build/cortex-m4f-core.elf", folder / f"{name}.elf")


def session(firmware):
    """Starts the firmware in QEMU. Returns a session of TVM's client, over its serial line."""
    script = firmware.with_suffix(".sh")
    script.write_text(f'#!/bin/sh\nexec "{BOARDS}/rpc.sh" "{firmware}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return rpc.PopenSession(str(script))
