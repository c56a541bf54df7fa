#!/usr/bin/env python3
"""Instructions of decode steps outside kernels, with this library and with libtvm_runtime, in one run.

usage: run.py [--record]

Prints for each batch the instructions of the cache alone and of everything outside kernels, the time, and the address space of the
cache, and fails if one is above its limit in limits.txt. The interpreter has apache-tvm 0.27.0.post1, and finds the wheel's modules.
Counts are differences of two runs under callgrind, by library: of the library or libtvm_runtime, and libc.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
LIMITS = HERE / "limits.txt"
GROWTH = 1.05
FEW, MANY = 20, 60
OUTSIDE = re.compile(r"libtvm_ffi|libtvm_runtime|libc[.-]|ld-linux")


def instructions(file):
    """Instructions in each shared object of a profile."""
    counts, names, current, is_call = collections.Counter(), {}, "", False
    for line in file.read_text().splitlines():
        named = re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line)
        if named:
            kind, number, path = named.groups()
            if path:
                names[number] = pathlib.Path(path).name
            if kind == "ob":
                current = names[number]
        elif line.startswith("calls="):
            is_call = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not is_call:
                counts[current] += int(line.split()[1])
            is_call = False
    return counts


def profile(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "profile"
        tool = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={file}"]
        subprocess.run([*tool, sys.executable, HERE / "step.py", *arguments], check=True, stdout=subprocess.DEVNULL)
        return instructions(file)


def step(batch, part, library):
    """Instructions of one step outside kernels."""
    few, many = (profile(str(count), str(batch), part, library) for count in (FEW, MANY))
    return sum((many[name] - few[name]) / (MANY - FEW) for name in many if OUTSIDE.search(name))


def plain(batch, library):
    """Time of a step, and KiB of address space of the cache."""
    program = [sys.executable, HERE / "step.py", "200", str(batch), "all", library]
    words = subprocess.run(program, check=True, capture_output=True, text=True).stdout.split()
    return float(words[0]), int(words[2])


def rows():
    """Name, our figure, and TVM's; of instructions and of address space."""
    for batch in (1, 8):
        for part in ("cache", "all"):
            yield f"{part}/{batch}", step(batch, part, "ours"), step(batch, part, "tvm")
    yield "address_space_KiB", plain(1, "ours")[1], plain(1, "tvm")[1]


def main():
    limits = {}
    if LIMITS.exists():
        lines = [line.split() for line in LIMITS.read_text().splitlines() if not line.startswith("#")]
        limits = {name: (float(most), float(ratio)) for name, most, ratio in lines}
    failed, found = False, {}
    for name, ours, tvm in rows():
        most, ratio = limits.get(name, (0, 0.5))
        above = ours > GROWTH * most or ours > ratio * tvm
        failed |= above
        found[name] = ours, ratio
        print(f"{name:18} {ours:10.0f} TVM {tvm:10.0f} {ours / tvm:6.2f}{'  ABOVE' if above else ''}", flush=True)
    for batch in (1, 8):
        print(f"time of a step, batch {batch}: {plain(batch, 'ours')[0]} us, TVM {plain(batch, 'tvm')[0]} us")
    if "--record" in sys.argv:
        header = [line for line in LIMITS.read_text().splitlines() if line.startswith("#")]
        lines = [f"{name} {ours:.0f} {ratio}" for name, (ours, ratio) in found.items()]
        LIMITS.write_text("\n".join([*header, *lines]) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
