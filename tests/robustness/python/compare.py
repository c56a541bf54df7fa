"""Compares what two libraries did with a program: equal, explained by the table of deliberate differences, unstable, or different."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from library import Library, Result

EXPLAINED = Path(__file__).resolve().parent / "explained.toml"


@dataclass(frozen=True)
class Difference:
    """The first statement whose outcomes differ; -1 if a process died."""

    statement: int
    text: str
    upstream: str
    ours: str

    def kind(self) -> tuple:
        """The kind of difference, which stays while the program is reduced."""
        return (self.statement < 0, word(self.upstream), word(self.ours))


def word(outcome: str) -> str:
    return " ".join(outcome.split()[:2]) if outcome.startswith(("raises", "signal", "takes", "exit")) else "value"


@cache
def explained() -> list[dict]:
    table = tomllib.loads(EXPLAINED.read_text())["difference"]
    for entry in table:
        for part in ("statement", "upstream", "ours", "same_but", "lower"):
            entry[part] = re.compile(entry.get(part, ""), re.DOTALL)
    return table


def reason(difference: Difference) -> str | None:
    """The name of the entry of the table that explains a difference."""
    for entry in explained():
        if (
            entry["statement"].search(difference.text)
            and entry["upstream"].search(difference.upstream)
            and entry["ours"].search(difference.ours)
            and is_same_but(entry["same_but"], difference)
            and is_lower(entry["lower"], difference)
        ):
            return entry["name"]
    return None


def is_same_but(parts: re.Pattern, difference: Difference) -> bool:
    """Whether the outcomes are the same where the pattern does not match; true for an empty pattern."""
    return not parts.pattern or parts.sub("", difference.upstream) == parts.sub("", difference.ours)


def is_lower(number: re.Pattern, difference: Difference) -> bool:
    """Whether the number that the pattern captures is lower in our outcome; true for an empty pattern."""
    if not number.pattern:
        return True
    upstream, ours = number.search(difference.upstream), number.search(difference.ours)
    return upstream is not None and ours is not None and int(ours[1]) < int(upstream[1])


def first_difference(texts: list[str], upstream: Result, ours: Result, unstable: set[int] = frozenset()) -> tuple[Difference | None, list[str]]:
    """The first difference that nothing explains, and the names of those before it that are explained.

    Statements after one that is explained are compared only if its entry says that both libraries go on alike.
    """
    names: list[str] = []
    if ours.death and not upstream.death:
        difference = Difference(-1, "\n".join(texts), upstream.death or "ends well", ours.death or "ends well")
        name = reason(difference)
        return (None, ["explained: " + name]) if name else (difference, [])
    if not upstream.outcomes or not ours.outcomes:
        return None, ["both end early"]
    if upstream.death:
        names.append(f"upstream at its end: {upstream.death}")
    for number, (text, one, two) in enumerate(zip(texts, upstream.outcomes, ours.outcomes, strict=True)):
        if one == two or number in unstable:
            continue
        difference = Difference(number, text, one, two)
        name = reason(difference)
        if name is None:
            return difference, names
        names.append("explained: " + name)
        if not next(entry for entry in explained() if entry["name"] == name).get("alike_after", False):
            break
    return None, names


def shape(text: str) -> str:
    """A statement without its literals and the numbers of its variables, to recognise others like it."""
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'...'", " ".join(text.split())))[:120]


def examine(
    seed: int, texts: list[str], libraries: tuple[Library, Library], alone: bool, tries: int = 2
) -> tuple[Difference | None, list[str]]:
    """Runs a program several times with nothing before it, and leaves out statements that vary from run to run."""
    source = "\n".join(texts)
    runs = [[library.run(seed, source, alone, fresh=tries > 1) for _ in range(tries)] for library in libraries]
    unstable: set[int] = set()
    for results in runs:
        if len({result.death for result in results}) > 1:
            return None, ["varies from run to run: " + " or ".join(sorted({f"{library.name} {result.death or 'ends well'}" for library, rs in zip(libraries, runs) for result in rs}))]
        for number, outcomes in enumerate(zip(*(result.outcomes for result in results))):
            if len(set(outcomes)) > 1:
                unstable.add(number)
    found, names = first_difference(texts, runs[0][0], runs[1][0], unstable)
    return found, [*names, *["varies from run to run"] * bool(unstable)]
