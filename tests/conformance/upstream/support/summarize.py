"""Compare the results of a suite with its list, and print shortfalls and the sum.

Every test of baseline/SUITE.txt must pass; of an earlier release, every test that runs and is not in
baseline/releases/VERSION.txt. The exit status is 0 only if that is so and nothing else went wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import results
from results import Result

_SHOWN = 20


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def tests_of_release(path: Path, found: list[Result]) -> tuple[list[str], list[str]]:
    """Return the tests of an earlier release that must pass, and errors in the list of those that need not.

    The list has a line `passes COUNT`, then a line `ID: REASON` for each test that passes with the library of that
    release, and not with a later one.
    """
    count, *lines = lines_of(path)
    excused = {line.rpartition(": ")[0] for line in lines}
    ran = {result.id: result for result in found if result.status not in ("skipped", "xfailed")}
    problems = [f"{test} is excused, and did not fail" for test in sorted(excused) if not fails(ran.get(test))]
    must_pass = [test for test in ran if test not in excused]
    if count != f"passes {len(must_pass)}":
        problems.append(f"{len(must_pass)} tests are to pass, and {path.name} says: {count}")
    return must_pass, problems


def fails(result: Result | None) -> bool:
    return result is not None and result.status != "passed"


def sanitizer_reports(folder: Path) -> list[str]:
    """Return the headline of each sanitizer report in a file of `folder`."""
    problems = []
    for path in sorted(folder.iterdir()):
        # A failed allocation of an excessive size is not an error.
        lines = [
            line
            for line in path.read_text(errors="replace").splitlines()
            if line.strip() and "WARNING: AddressSanitizer failed to allocate" not in line
        ]
        if lines:
            headline = next((line for line in lines if "ERROR: " in line), lines[0])
            problems.append(f"{path}: {headline}")
    return problems


def panics(folder: Path) -> list[str]:
    """Return each place where the library panicked: the caller gets an error, which a test may expect for another reason."""
    found = set()
    for path in folder.iterdir():
        found |= set(re.findall(r"panicked at (?!tvm-ffi/)\S+", path.read_text(errors="replace")))
    return sorted(found)


def ends(result: Result | None) -> list[str]:
    """Return the last lines of a test's output, made printable."""
    lines = [line for line in (result.text if result else "").splitlines() if line.strip()]
    return ["".join(c if c.isprintable() else "?" for c in line[:160]) for line in lines[-3:]]


def show(suite: str, missing: dict[str, Result | None], problems: list[str]) -> None:
    previous: list[str] = []
    for test, result in list(missing.items())[:_SHOWN]:
        print(f"  {result.status if result else 'notrun':<8} {test}")
        if ends(result) != previous:
            previous = ends(result)
            print("".join(f"             {line}\n" for line in previous), end="")
    if len(missing) > _SHOWN:
        print(f"  ... and {len(missing) - _SHOWN} more")
    for problem in problems[:_SHOWN]:
        print(f"PROBLEM in {suite}: {problem}")
    if len(problems) > _SHOWN:
        print(f"PROBLEM in {suite}: ... and {len(problems) - _SHOWN} more")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite", required=True)
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the results")
    parser.add_argument("--release", help="an earlier release, whose tests these are")
    parser.add_argument("--void", default="", help="why no result counts")
    parser.add_argument("select", nargs="*", help="only tests whose id contains one of these")
    options = parser.parse_args()

    found, problems = results.read(options.out)
    problems += sanitizer_reports(options.out / "asan") + panics(options.out / "log")
    if options.void:
        problems.append(f"no result counts: {options.void}")
    by_id = {result.id: result for result in found}
    if len(by_id) != len(found):
        problems.append("a test has two results")

    if options.release:
        listed, wrong = tests_of_release(options.lists / "releases" / f"{options.release}.txt", found)
        problems += wrong if not options.select else []
    else:
        listed = lines_of(options.lists / f"{options.suite}.txt")
    listed = [test for test in listed if results.selected(test, options.select)]
    good = {result.id for result in found if result.status == "passed"}
    missing = {
        test: by_id.get(test) for test in listed if options.void or test not in good
    }
    new = good - set(listed) if not options.select else set()
    problems += [f"{test} passes, and is in no list" for test in sorted(new)]

    show(options.suite, missing, problems)
    (options.out / "shortfall.txt").write_text(
        "".join(
            f"{result.status if result else 'notrun'}\t{test}\n"
            + "".join(f"\t{line}\n" for line in (result.text if result else "").splitlines())
            for test, result in missing.items()
        )
    )
    # A problem without a failed test counts as a failure.
    failed = len(missing) or len(problems[:1])
    note = f" ({len(problems)} problems)" if problems else ""
    print(f"{options.suite}: {len(listed) - len(missing)} passed, {failed} failed{note}")
    return 0 if listed and not missing and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
