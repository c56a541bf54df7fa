"""Compare the results of TVM's own tests with the list of failing tests.

usage: judge.py LIBRARY KINDS RESULTS LIST [PATTERN...]

LIST is not_passed.txt, which tells its form. With upstream's library nothing is compared.
"""

import re
import sys
from collections import Counter
from pathlib import Path

import results

_LINE = re.compile(r"(failed|skipped) (.*?): (.*)")


class Excuse:
    """An entry of the list."""

    def __init__(self, line):
        self.status, self.pattern, self.reason = _LINE.fullmatch(line).groups()
        self.matches = re.compile(re.escape(self.pattern).replace(r"\*", ".*")).fullmatch
        self.used = Counter()


def read_list(path):
    """Return the number of passing tests, the kinds of devices with which they pass, and the reasons of the others."""
    first, *lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    number, kinds = re.fullmatch(r"passed (\d+) with (.*)", first).groups()
    return int(number), kinds, [Excuse(line) for line in lines]


def compare(found, excuses):
    """Yield the differences from the list."""
    for result in found:
        name = result.id.removeprefix("tests/python/")
        excuse = next((excuse for excuse in excuses if excuse.matches(name)), None)
        if excuse is not None:
            excuse.used[result.status] += 1
        allowed = {None: ("passed",), "skipped": ("passed", "skipped"), "failed": ("failed",)}
        if result.status not in allowed[excuse and excuse.status]:
            last = (result.text.strip().splitlines() or [""])[-1]
            yield f"{result.status:<8} {name}: {last[:200]}"


def main():
    library, kinds, out, listed, *patterns = sys.argv[1:]
    found, problems = results.read(Path(out))
    counts = Counter(result.status for result in found)
    print(f"{len(found)} tests of {library}:", ", ".join(f"{number} {status}" for status, number in counts.most_common()))
    if library == "upstream":
        for problem in problems:
            print(problem)
        return False
    passing, expected_kinds, excuses = read_list(Path(listed))
    wrong = problems + list(compare(found, excuses))
    if not patterns:
        wrong += [f"no test is {excuse.pattern}" for excuse in excuses if not excuse.used]
        if kinds == expected_kinds and counts["passed"] != passing:
            wrong.append(f"{counts['passed']} tests passed, and {passing} should")
    for excuse in excuses:
        number = excuse.used.total() - excuse.used["passed"]
        print(f"  {number:>3} {excuse.status}: {excuse.pattern}: {excuse.reason}")
    for line in wrong:
        print(line)
    print(f"clients: {counts['passed']} passed, {len(wrong)} failed")
    return bool(wrong)


sys.exit(main())
