#!/usr/bin/env python3
"""Mutates the counts, values, strings and the name table of the core, and runs its unit tests on each mutant (cargo-mutants).

usage: mutants.py [OPTION...]     options of cargo-mutants, such as --shard 1/4

Fails if tests pass on a mutant without an explanation in survivors.py, or if tests fail on one that has an explanation.
The sources are copied to target/mutants, which may be deleted. One copy is mutated and built in place, so that each mutant takes
seconds.
"""

import os
import subprocess
import sys

from sources import TARGET, copy_sources, replace
from survivors import SURVIVORS

FOLDER = TARGET / "mutants"
TREE = FOLDER / "tree"

# Tests of other things that take most of the time.
SLOW = ("a_long_cause_chain", "threads_export_one_import", "sizes_equal_those_in_128_bits", "threads_see_each_others_changes")

# Files, the binaries that have their tests, and the tests, as arguments of cargo test.
GROUPS = (
    (("core/src/object/refcount/atomic64.rs", "core/src/object/refcount/contended.rs"), ["--lib", "--test=single_threaded"], []),
    (("core/src/object/refcount/split32.rs", "core/src/object/refcount/masked.rs"), ["--lib"], ["refcount::"]),
    (
        (
            "core/src/names/name_table/mod.rs",
            "core/src/names/name_table/names.rs",
            "core/src/names/name_table/trie.rs",
            "core/src/names/name_table/lookup/std.rs",
        ),
        ["--lib"],
        ["name_table::"],
    ),
    (
        (
            "core/src/value/any/*.rs",
            "core/src/value/convert/key.rs",
            "core/src/value/string/mod.rs",
            "core/src/value/string/record.rs",
            "core/src/value/string/buffered/fast.rs",
        ),
        ["--lib"],
        ["--", *(f"--skip={name}" for name in SLOW)],
    ),
)

# cargo-mutants does not follow modules whose file depends on the build.
CHOICES = (
    (
        "core/src/names/name_table/lookup/mod.rs",
        '#[cfg_attr(not(target_os = "none"), path = "std.rs")]\n#[cfg_attr(target_os = "none", path = "bare.rs")]\n',
        '#[path = "std.rs"]\n',
    ),
    (
        "core/src/value/string/buffered/mod.rs",
        '#[cfg_attr(all(feature = "std", feature = "speed", not(feature = "client")), path = "fast.rs")]\n'
        '#[cfg_attr(not(all(feature = "std", feature = "speed", not(feature = "client"))), path = "small.rs")]\n',
        '#[path = "fast.rs"]\n',
    ),
    # It mutates modules twice that are declared twice.
    (
        "core/src/object/refcount/mod.rs",
        '#[cfg(all(target_has_atomic = "32", not(target_has_atomic = "64")))]\nmod split32;\n',
        "",
    ),
    ("core/src/object/refcount/mod.rs", '#[cfg(not(target_has_atomic = "32"))]\nmod masked;\n', ""),
)


def run(number, files, binaries, tests, options):
    """Tests the mutants of a group. Returns the names of those on which a test fails, and of those on which all pass."""
    output = FOLDER / f"group{number}"
    command = ["cargo", "mutants", "--in-place", "--dir", TREE, "--output", output, "--timeout", "20", "--colors", "never"]
    command += ["--package", "ferrite-ffi-core", "--features", "std,bytes", "--exclude-re", "tests::"]
    command += [f"--file={file}" for file in files] + [f"--cargo-arg={binary}" for binary in binaries]
    environment = {**os.environ, "CARGO_INCREMENTAL": "1", "CARGO_TARGET_DIR": str(FOLDER / "build")}
    environment.update(CARGO_PROFILE_DEV_DEBUG="0", CARGO_PROFILE_TEST_DEBUG="0")
    status = subprocess.run([*command, *options, "--", *tests], env=environment).returncode
    if status not in (0, 2, 3):  # all caught, some missed, some timed out
        sys.exit(f"error: cargo mutants ended with {status}")
    # A mutant that does not end is found: no test waits for ever without it.
    return outcomes(output, "caught") + outcomes(output, "timeout"), outcomes(output, "missed")


def outcomes(output, name):
    """Returns the mutants with this outcome, without their line numbers."""
    lines = (output / "mutants.out" / f"{name}.txt").read_text().splitlines()
    return [f"{line.split(':')[0]}: {line.split(': ', 1)[1]}" for line in lines]


def main(options):
    copy_sources(TREE)
    for file, conditional, chosen in CHOICES:
        replace(TREE / file, conditional, chosen)
    caught, missed = [], []
    for number, group in enumerate(GROUPS):
        found, survived = run(number, *group, options)
        caught += found
        missed += survived
    wrong = [f"no test fails: {name}" for name in missed if name not in SURVIVORS]
    wrong += [f"a test fails after all: {name}" for name in caught if name in SURVIVORS and name not in missed]
    print("\n".join(wrong))
    print(f"mutants: {len(caught) + len(missed) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
