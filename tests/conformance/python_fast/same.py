"""Compares the results of tests without the extension and with it.

usage: same.py ours [--proof] OFF.json ON.json    files of fast_record
       same.py memory [--proof] OFF.json ON.json  files of memory.py
       same.py suite [--proof] OFF ON             folders of run_pytest.py, with state.json and census/
       same.py checked OFF ON                     the same; ON has reports in asan/, perhaps, and ours.json of fast_record

The last line is `N passed, N failed`. --proof: the package has no extension, so nothing has to be fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "upstream" / "support"))
import results  # noqa: E402 - of the runner of upstream's tests

# Blocks that a file may leave in use beyond those without the extension: caches that are filled
# once, and up to 1.5 % of the blocks of a registered class, which is never freed. Two runs of the
# same code differ by up to twenty.
CENSUS_SLACK, CENSUS_SHARE = 200, 0.02
# Blocks that the calls of a kind may leave: two are of the measurement, up to seventy of caches, in
# 500 calls as in 5,000.
MEMORY_SLACK = 200


class Comparison:
    """Counts of a comparison, and its failures in words."""

    def __init__(self):
        self.passed = 0
        self.failures: list[str] = []

    def fail(self, what: str, reason: str = "") -> None:
        self.failures.append(what)
        print(f"FAILED {what}" + "".join(f"\n    {line}" for line in reason.strip().split("\n") if line))

    def outcomes(self, off: dict[str, str], on: dict[str, str], reasons: dict[str, str]) -> None:
        """Each test that passes without the extension passes with it; none passes or appears only without it."""
        for test, outcome in off.items():
            if outcome != "passed":
                continue
            if on.get(test) == "passed":
                self.passed += 1
            else:
                self.fail(f"{test}: {on.get(test, 'missing')} with the extension, passed without it", reasons.get(test, ""))
        if not self.passed:
            self.fail("no test passed")

    def state(self, off: dict | None, on: dict | None, is_proof: bool) -> None:
        """The extension is on in one process and off in the other."""
        if off is None or on is None:
            self.fail("a process did not end, so nothing is known of the extension: see its log")
        elif off["fast"]:
            self.fail(f"FERRITE_TVM_FFI_FAST=0 leaves these fast: {', '.join(off['fast'])}")
        elif not on["fast"] and not is_proof:
            self.fail(f"nothing is fast: {on['left alone']}")
        else:
            print(f"fast: {', '.join(on['fast']) or 'nothing'}")
            for name, reason in on["left alone"].items():
                print(f"left alone: {name} ({reason})")

    def end(self) -> int:
        print(f"{self.passed} passed, {len(self.failures)} failed")
        return int(bool(self.failures))


def load(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def compare_ours(off: Path, on: Path, is_proof: bool) -> int:
    """Compare our own tests, which must pass in both modes, and observe the same."""
    comparison = Comparison()
    without, with_it = load(off), load(on)
    comparison.state(without.get("state"), with_it.get("state"), is_proof)
    for test, outcome in without.get("outcomes", {}).items():
        if outcome == "failed":
            comparison.fail(f"{test}: without the extension", without["reasons"].get(test, ""))
    comparison.outcomes(without.get("outcomes", {}), with_it.get("outcomes", {}), with_it.get("reasons", {}))
    for test, values in without.get("observed", {}).items():
        if (others := with_it.get("observed", {}).get(test)) != values:
            comparison.fail(f"{test}: observes something else with the extension", f"without: {values}\nwith:    {others}")
    return comparison.end()


def compare_memory(off: Path, on: Path, is_proof: bool) -> int:
    """Compare the blocks that calls leave in use: none with the extension, unless upstream's own code leaves as many."""
    comparison = Comparison()
    without, with_it = load(off), load(on)
    comparison.state(without.get("state"), with_it.get("state"), is_proof)
    for kind, left in without.get("left", {}).items():
        now = with_it.get("left", {}).get(kind)
        if now is None or now > max(left, 0) + MEMORY_SLACK:
            comparison.fail(f"memory of {kind}: {now} blocks left with the extension, {left} without it, after {without['calls']} calls")
            continue
        comparison.passed += 1
        if now > MEMORY_SLACK:
            print(f"{kind}: leaves {now} blocks after {without['calls']} calls, and {left} without the extension")
    return comparison.end()


def compare_upstream(off: Path, on: Path, is_proof: bool):
    """Compare the outcomes of upstream's tests, and what went wrong beside tests. Return the comparison, and the results of both runs."""
    comparison = Comparison()
    (without, problems), (with_it, new_problems) = results.read(off), results.read(on)
    comparison.state(load(off / "state.json").get("state"), load(on / "state.json").get("state"), is_proof)
    reasons = {result.id: result.text[-1500:] for result in with_it}
    comparison.outcomes({result.id: result.status for result in without}, {result.id: result.status for result in with_it}, reasons)
    for problem in set(new_problems) - set(problems):
        comparison.fail(problem)
    return comparison, without, with_it


def compare_suite(off: Path, on: Path, is_proof: bool) -> int:
    """Compare upstream's tests: the sets of passed ones, what went wrong beside tests, and the census of each file."""
    comparison, without, with_it = compare_upstream(off, on, is_proof)
    census(comparison, growth(off / "census"), growth(on / "census"))
    for name, found in (("without", without), ("with", with_it)):
        passed = sum(result.status == "passed" for result in found)
        print(f"{name} the extension: {passed} of {len(found)} tests of upstream passed")
    return comparison.end()


def compare_checked(off: Path, on: Path, is_proof: bool) -> int:
    """Compare upstream's tests without the extension and with one that checks itself: nothing may be reported."""
    comparison, without, with_it = compare_upstream(off, on, is_proof)
    if (on / "asan").exists() and not (on / "ours.json").exists() and (on / "ours.log").exists():
        comparison.fail("our tests did not end", (on / "ours.log").read_text(encoding="utf-8", errors="replace")[-3000:])
    ours = load(on / "ours.json")
    for test, outcome in ours.get("outcomes", {}).items():
        if outcome == "failed":
            comparison.fail(test, ours["reasons"].get(test, ""))
        comparison.passed += outcome == "passed"
    for report in sorted((on / "asan").glob("*")):
        comparison.fail(f"report {report}", report.read_text(encoding="utf-8", errors="replace")[:3000])
    return comparison.end()


def growth(folder: Path) -> dict[str, dict]:
    """Return the growth by file; that of a file that ran in several processes is of none."""
    found: dict[str, list] = {}
    for path in sorted(folder.glob("*.json")):
        one = load(path)
        found.setdefault(one["file"], []).append(one)
    return {file: several[0] for file, several in found.items() if len(several) == 1}


def census(comparison: Comparison, off: dict[str, dict], on: dict[str, dict]) -> None:
    """Each file leaves as many blocks in use as without the extension, and as many instances of each class."""
    both = [file for file in off if file in on and off[file]["tests"] == on[file]["tests"]]
    print(f"census: {len(both)} files, blocks left in use without and with the extension")
    if not both:
        comparison.fail("no file has a census")
    for file in both:
        before, after = off[file]["blocks"], on[file]["blocks"]
        more = {name: number for name, number in on[file]["instances"].items() if number > off[file]["instances"].get(name, 0)}
        if after > before + CENSUS_SLACK + CENSUS_SHARE * abs(before) or more:
            comparison.fail(f"census of {file}: {after} blocks instead of {before}; more instances: {more}")
        else:
            comparison.passed += 1
            print(f"  ok {file}: {before}, {after}")


def main() -> int:
    arguments = sys.argv[1:]
    is_proof = "--proof" in arguments
    kind, off, on = (argument for argument in arguments if argument != "--proof")
    return {"ours": compare_ours, "memory": compare_memory, "suite": compare_suite, "checked": compare_checked}[kind](Path(off), Path(on), is_proof)


if __name__ == "__main__":
    sys.exit(main())
