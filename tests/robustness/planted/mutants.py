#!/usr/bin/env python3
"""Mutates the counts, values, strings and the name table of the core, and runs its unit tests on each mutant (cargo-mutants).

usage: mutants.py [OPTION...]     options of cargo-mutants, such as --shard 1/4

Fails if tests pass on a mutant without an explanation in survivors.py, or if tests fail on one that has an explanation.
The sources are copied to target/mutants, which may be deleted. MUTANTS_JOBS is the number of mutants built at once.
"""

import os
import shutil
import subprocess
import sys

from sources import TARGET, copy_sources, replace
from survivors import SURVIVORS

FOLDER = TARGET / "mutants"
TREE = FOLDER / "tree"
OUTPUT = FOLDER / "mutants.out"

FILES = (
    "core/src/refcount/atomic64.rs",
    "core/src/refcount/contended.rs",
    "core/src/any.rs",
    "core/src/any/*.rs",
    "core/src/string/mod.rs",
    "core/src/string/record.rs",
    "core/src/string/borrowed.rs",
    "core/src/string/buffered/fast.rs",
    "core/src/name_table/mod.rs",
    "core/src/name_table/names.rs",
    "core/src/name_table/lookup/std.rs",
)

# cargo-mutants does not follow modules whose file depends on the build.
CHOICES = (
    (
        "core/src/name_table/lookup/mod.rs",
        '#[cfg_attr(not(target_os = "none"), path = "std.rs")]\n#[cfg_attr(target_os = "none", path = "bare.rs")]\n',
        '#[path = "std.rs"]\n',
    ),
    (
        "core/src/string/buffered/mod.rs",
        '#[cfg_attr(all(feature = "std", feature = "speed", not(feature = "client")), path = "fast.rs")]\n'
        '#[cfg_attr(not(all(feature = "std", feature = "speed", not(feature = "client"))), path = "small.rs")]\n',
        '#[path = "fast.rs"]\n',
    ),
)


def run(options):
    jobs = os.environ.get("MUTANTS_JOBS", str(max(1, (os.cpu_count() or 1) // 2)))
    command = ["cargo", "mutants", "--dir", TREE, "--output", FOLDER, "--jobs", jobs, "--timeout", "60"]
    command += ["--package", "ferrite-ffi-core", "--features", "std", "--colors", "never"]
    for file in FILES:
        command += ["--file", file]
    environment = {**os.environ, "CARGO_INCREMENTAL": "1", "TMPDIR": str(FOLDER / "builds")}
    environment.update(CARGO_PROFILE_DEV_DEBUG="0", CARGO_PROFILE_TEST_DEBUG="0")
    environment.pop("CARGO_TARGET_DIR", None)
    status = subprocess.run([*command, *options, "--", "--lib", "--test", "single_threaded"], env=environment).returncode
    if status not in (0, 2, 3):  # all caught, some missed, some timed out
        sys.exit(f"error: cargo mutants ended with {status}")


def outcomes(name):
    """Returns the mutants with this outcome, without their line numbers."""
    lines = (OUTPUT / f"{name}.txt").read_text().splitlines()
    return [f"{line.split(':')[0]}: {line.split(': ', 1)[1]}" for line in lines]


def main(options):
    shutil.rmtree(FOLDER / "builds", ignore_errors=True)
    copy_sources(TREE)
    for file, conditional, chosen in CHOICES:
        replace(TREE / file, conditional, chosen)
    (FOLDER / "builds").mkdir(parents=True)
    run(options)
    # A mutant that does not end is found: no test waits for ever without it.
    caught, missed = outcomes("caught") + outcomes("timeout"), outcomes("missed")
    wrong = [f"no test fails: {name}" for name in missed if name not in SURVIVORS]
    wrong += [f"a test fails after all: {name}" for name in caught if name in SURVIVORS and name not in missed]
    print("\n".join(wrong))
    print(f"mutants: {len(caught) + len(missed) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
