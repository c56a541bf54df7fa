"""Runs what TVM's paged key-value cache computes wrongly or does not survive: each program is right here, and is not there."""

import pathlib
import subprocess
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

CACHE = pathlib.Path(__file__).parents[2] / "llm" / "cache"
sys.path.insert(0, str(CACHE))
import findings  # noqa: E402


def on_tvm(name):
    done = subprocess.run([sys.executable, CACHE / "on_tvm.py", "findings.py", name], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else f"ends with signal {-done.returncode}"


def main():
    for finding in findings.FINDINGS:
        name, ours = finding.__name__, findings.outcome(finding)
        theirs = on_tvm(name)
        print(f"{name}: {ours}; with TVM: {theirs}", flush=True)
        assert ours == "right", name
        assert theirs != "right", f"{name}: TVM is right, so the page of differences is wrong"


main()
