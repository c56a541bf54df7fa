#!/usr/bin/env python3
"""Plants known bugs in a copy of the sources, one at a time, and shows which suite finds each.

usage: planted.py [--list] [--all-suites] [WORDS...]

With WORDS, only bugs whose names contain all of them. The suites of a bug run in order until one fails; with --all-suites all
of them run. Each suite must pass without a bug first. Fails if a suite fails without a bug, if no suite finds a bug, or if the
text that a bug replaces is not in its file exactly once.

The copy and what is built from it are in target/planted, which may be deleted.
"""

import os
import signal
import subprocess
import sys
import time

from bugs import BUGS
from sources import TARGET, copy_sources, replace

FOLDER = TARGET / "planted"
TREE = FOLDER / "tree"

TEST = ["cargo", "test", "--quiet"]
CROSS = [*TEST, "-p", "ferrite-tests", "--test"]
LOOM = {"RUSTFLAGS": "--cfg loom", "LOOM_MAX_PREEMPTIONS": "3", "CARGO_TARGET_DIR": str(FOLDER / "loom")}
# The released library takes a minute to link; the bugs do not need its optimisation.
CHEAP_RELEASE = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
}

# Name: check of ci.sh with the same tests, command, environment.
SUITES = {
    "core": ("test", [*TEST, "-p", "ferrite-ffi-core", "--features", "std", "--lib"], {}),
    "ring2": (
        "test",
        [*TEST, "-p", "ferrite-ffi-alloc", "--features", "ferrite-ffi-core/std,ferrite-ffi-alloc/std", "--lib"],
        {},
    ),
    "host": ("test", [*TEST, "-p", "ferrite-ffi-host", "--lib"], {}),
    "c": ("test", [*CROSS, "c_programs", "--", "plain::"], CHEAP_RELEASE),
    "sanitizers": ("sanitizers", [*CROSS, "c_programs", "--", "--ignored", "sanitized::"], CHEAP_RELEASE),
    "forks": ("test", [*CROSS, "forks", "--", "every_lock"], CHEAP_RELEASE),
    "signals": ("faults", [*CROSS, "faults", "--", "a_signal"], CHEAP_RELEASE),
    "alloc_fail": ("test", [*CROSS, "alloc_fail"], CHEAP_RELEASE),
    "loom": ("loom", [*TEST, "-p", "ferrite-tests", "--release", "--test", "loom"], LOOM),
}
BUILD_LIMIT_S = 1500
# A suite that takes much longer than without a bug found one: it hangs.
limits = dict.fromkeys(SUITES, 600)


def limit_after(seconds):
    """Returns the limit of a suite that takes this long without a bug."""
    return int(60 + 5 * seconds)



def run(suite, build_only=False):
    """Runs a suite in the copy. Returns what went wrong, or None."""
    _, command, environment = SUITES[suite]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER / "build"), "CARGO_TERM_COLOR": "never", **environment}
    environment.pop("FERRITE_LIBRARY_DIR", None)
    if build_only:
        at = command.index("--") if "--" in command else len(command)
        command = [*command[:at], "--no-run"]
    log = FOLDER / f"{suite}.log"
    with open(log, "w") as output:
        # A process group of its own, so that the tests end with cargo.
        process = subprocess.Popen(
            command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        limit = BUILD_LIMIT_S if build_only else limits[suite]
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"does not end within {limit} s"
    return None if status == 0 else explanation(log.read_text(errors="replace"))


def explanation(text):
    """Names the first failed test of a suite, or the signal that ended it."""
    lines = text.splitlines()
    for line in lines:
        if line.startswith("error") and "test failed" not in line:
            return line
        if line.startswith("---- ") and line.endswith(" stdout ----"):
            return line[len("---- "):-len(" stdout ----")]
    for line in lines:
        if "(signal: " in line:
            return line[line.index("(signal: "):].strip("()")
    return lines[-1] if lines else "no output"


def plant(bug):
    """Replaces the text of a bug in the copy. Returns the file's original content."""
    return replace(TREE / bug.file, bug.old, bug.new)


def find(bug, all_suites):
    """Plants a bug and runs its suites. Returns pairs of a suite and how it found the bug."""
    original = plant(bug)
    found = []
    try:
        for suite in bug.suites:
            # A bug that does not compile would be found by every suite.
            broken = run(suite, build_only=True)
            if broken:
                print(f"error: does not build with this bug: {bug.name}: {broken}: see {FOLDER}/{suite}.log")
                return []
            how = run(suite)
            if how:
                found.append((suite, how))
                if not all_suites:
                    break
    finally:
        # With a new time of change, so that cargo builds it again.
        (TREE / bug.file).write_text(original)
    return found


def main(arguments):
    options = [word for word in arguments if word.startswith("--")]
    words = [word for word in arguments if not word.startswith("--")]
    bugs = [bug for bug in BUGS if all(word in bug.name for word in words)]
    if "--list" in options:
        print("\n".join(bug.name for bug in bugs))
        return 0
    copy_sources(TREE)
    for bug in bugs:  # before anything is built
        (TREE / bug.file).write_text(plant(bug))
    bad = 0
    for suite in dict.fromkeys(suite for bug in bugs for suite in bug.suites):
        wrong = run(suite, build_only=True)
        start = time.monotonic()
        wrong = wrong or run(suite)
        seconds = time.monotonic() - start
        limits[suite] = limit_after(seconds)
        print(f"without a bug, {suite}: {wrong or 'passes'} ({seconds:.0f} s)", flush=True)
        bad += wrong is not None
    if bad:
        print(f"planted: 0 passed, {bad} failed")
        return 1
    print("\n| Bug | Found by | How | s |\n|---|---|---|---|")
    for bug in bugs:
        start = time.monotonic()
        found = find(bug, "--all-suites" in options)
        by = ", ".join(f"{suite} (`./ci.sh {SUITES[suite][0]}`)" for suite, _ in found) or "**nothing**"
        how = "; ".join(f"`{how}`" for _, how in found)
        print(f"| {bug.name} | {by} | {how} | {time.monotonic() - start:.0f} |", flush=True)
        bad += not found
    print(f"\nplanted: {len(bugs) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
