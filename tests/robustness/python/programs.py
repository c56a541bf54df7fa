#!/usr/bin/env python3
"""Runs generated Python programs on upstream's library and on ours, and compares what their statements do.

usage: programs.py UPSTREAM OURS [--programs N] [--seconds S] [--first SEED] [--seed SEED...] [--topic NAME...] [--keep FOLDER]

UPSTREAM and OURS are folders with the package tvm_ffi, the second with our library in it. First the programs of kept/ run, which
once showed a difference, then new ones. Exits with 1 if a program does something else with our library, for no reason in explained.toml.
"""

from __future__ import annotations

import argparse
import ast
import collections
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import compare
import reduce
from generator import Program, generate
from library import HERE, Library, Result
from session import statements

KEPT = HERE / "kept"  # programs, since a seed gives another program when the vocabulary changes


class Run:
    def __init__(self, libraries: tuple[Library, Library], keep: Path | None):
        self.libraries = libraries
        self.keep = keep
        self.counts: collections.Counter[str] = collections.Counter()
        self.differences: dict[tuple, list[int]] = {}
        self.crashes = 0  # of our library

    def program(self, program: Program) -> None:
        source = program.source()
        texts = [ast.unparse(node) for node in statements(source)]
        for library in self.libraries:
            library.start(program.seed, source, program.alone)
        upstream, ours = (library.finish() for library in self.libraries)
        self.counts["programs"] += 1
        self.counts["statements"] += len(texts)
        texts, upstream, ours = self.without_deaths(program, texts, upstream, ours)
        self.counts["exceptions"] += sum(outcome.startswith("raises ") for outcome in ours.outcomes)
        found, names = compare.first_difference(texts, upstream, ours)
        for tries in (2, 6):  # threads may run in the same order twice
            if found:
                found, names = compare.examine(program.seed, texts, self.libraries, program.alone, tries)
        self.counts.update(names)
        if found:
            self.report(program, texts, found)

    def without_deaths(self, program: Program, texts: list[str], upstream: Result, ours: Result) -> tuple[list[str], Result, Result]:
        """Counts a statement that ends upstream's process, drops it, and runs the rest, so that it is compared, too.

        Where ours crashes as well, that is a failure, while one that only takes longer than the limit is counted.
        """
        while upstream.death and not upstream.outcomes and upstream.at >= 0:
            name = f"upstream: {upstream.death} at {compare.shape(texts[upstream.at])}"
            if ours.death:
                name += f"; ours: {ours.death}"
            self.crashes += ours.death.startswith("signal")
            self.counts[name] += 1
            if self.keep and self.counts[name] == 1:
                self.write(f"{'both' if ours.death else 'upstream'}-{program.seed}", texts[: upstream.at + 1])
            texts = texts[: upstream.at] + texts[upstream.at + 1 :]
            upstream, ours = (library.run(program.seed, "\n".join(texts), program.alone) for library in self.libraries)
        return texts, upstream, ours

    def write(self, name: str, texts: list[str]) -> None:
        self.keep.mkdir(exist_ok=True)
        (self.keep / f"{name}.py").write_text("\n".join(texts) + "\n")

    def report(self, program: Program, texts: list[str], found: compare.Difference) -> None:
        known = self.differences.setdefault(found.kind(), [])
        known.append(program.seed)
        print(f"\n== seed {program.seed} ({', '.join(program.topics)}): different", flush=True)
        if len(known) > 6:
            print(f"of a kind seen before: {found.text[:200]}\n  upstream: {found.upstream[:200]}\n  ours:     {found.ours[:200]}")
            return

        def differs(candidate: list[str]) -> bool:
            return self.same_kind(program, candidate, found)

        if found.statement >= 0:
            texts = texts[: found.statement + 1]
        small = reduce.reduce(texts, differs) if differs(texts) else texts
        last = compare.examine(program.seed, small, self.libraries, program.alone, tries=1)[0] or found
        print("\n".join(small), f"  at:       {last.text if last.statement >= 0 else 'the end of the process'}", f"  upstream: {last.upstream}", f"  ours:     {last.ours}", sep="\n", flush=True)
        if self.keep:
            self.write(str(program.seed), small)

    def same_kind(self, program: Program, candidate: list[str], found: compare.Difference) -> bool:
        one = compare.examine(program.seed, candidate, self.libraries, program.alone, tries=1)[0]
        return one is not None and one.kind() == found.kind()

    def summary(self, seconds: float) -> int:
        counts = self.counts
        print(f"\n{counts['programs']} programs, {counts['statements']} statements, {counts['exceptions']} of them raise, {seconds:.0f} s")
        for name, count in sorted(counts.items()):
            if name not in ("programs", "statements", "exceptions"):
                print(f"  {count:6} {name}")
        failed = self.crashes + sum(map(len, self.differences.values()))
        print(f"python-programs: {counts['programs'] - failed} passed, {failed} failed")
        return 1 if failed else 0


def kept_programs() -> list[Program]:
    return [Program(0, [path.stem], [path.read_text()], False, header="") for path in sorted(KEPT.glob("*.py"))]


def programs(options: argparse.Namespace) -> Iterator[Program]:
    if not options.seed:
        yield from kept_programs()
    for seed in options.seed or range(options.first, options.first + options.programs):
        yield generate(seed, tuple(options.topic))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("upstream", type=Path)
    parser.add_argument("ours", type=Path)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, nargs="*", default=[])
    parser.add_argument("--topic", nargs="*", default=[])
    parser.add_argument("--keep", type=Path)
    return parser.parse_args()


def main() -> int:
    options = arguments()
    libraries = (Library("upstream", options.upstream.resolve()), Library("ours", options.ours.resolve()))
    run = Run(libraries, options.keep)
    begin = time.monotonic()
    for program in programs(options):
        if time.monotonic() - begin > options.seconds:
            print(f"stopped after {options.seconds:.0f} s, before seed {program.seed}")
            break
        run.program(program)
    for library in libraries:
        library.close()
    return run.summary(time.monotonic() - begin)


if __name__ == "__main__":
    sys.exit(main())
