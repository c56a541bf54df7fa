"""Run the worker: one process for one library, one operation and one size."""

import json
import os
import re
import subprocess

CALLGRIND = [
    "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
    "--toggle-collect=bench_measured",
]  # fmt: skip
# With these settings, glibc uses the same memcpy, memcmp and strlen on every x86-64 processor, so
# counts are comparable.
SSE2 = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512VL,-AVX2,-AVX_Fast_Unaligned_Load,-BMI2,-ERMS,-SSE4_2,-SSE4_1,-SSSE3"}


class Worker:
    """The built worker, its operations, and the processor that it is pinned to."""

    def __init__(self, folder, cpu=None):
        self.program = f"{folder}/worker"
        self.module = f"{folder}/module.so"
        self.floors = f"{folder}/libbench_floors.so"
        self.cpu = max(os.sched_getaffinity(0)) if cpu is None else cpu
        listed = subprocess.run([self.program, "--list"], capture_output=True, text=True, check=True)
        self.operations = {o["op"]: o for o in map(json.loads, listed.stdout.splitlines())}

    def command(self, library, op, size, *more):
        parts = [self.program, "--op", op, "--module", self.module, "--cpu", str(self.cpu)]
        if os.path.exists(self.floors):
            parts += ["--floors", self.floors]
        if not self.operations[op]["floor"]:
            parts += ["--lib", library]
        if size:
            parts += ["--size", str(size)]
        return parts + [str(one) for one in more]

    def time(self, library, op, size, milliseconds):
        return result(self.command(library, op, size, "--ms", milliseconds))

    def count(self, library, op, size, repetitions):
        """Return the instructions inside the measured function; deterministic."""
        command = CALLGRIND + self.command(library, op, size, "--no-fork", "--reps", repetitions)
        answer = result(command, env={**os.environ, **SSE2})
        if "error" in answer:
            return answer
        counts = re.findall(r"Collected\s*:\s*([\d ,]+)", answer["stderr"])
        if not counts:
            return {"error": "valgrind gave no count"}
        answer["ns"] = int(re.sub(r"[ ,]", "", counts[-1])) / (repetitions * answer["per_rep"])
        return answer

    def load(self, library, times):
        return result([self.program, "--load", library, "--times", str(times), "--cpu", str(self.cpu)])


def result(command, env=None):
    """Return the worker's line of JSON, or an `error` with the failure."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=600, env=env)
    except subprocess.TimeoutExpired:
        return {"error": "timeout"}
    for line in done.stdout.splitlines():
        if line.startswith('{"op"'):
            return {**json.loads(line), "stderr": done.stderr}
    last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [""]
    return {"error": f"no result (exit {done.returncode}) {last[0][:120]}"}
