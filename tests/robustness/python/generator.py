"""Writes a Python program over tvm_ffi from a seed: a script of plain statements, drawn from the templates of vocabulary/.

A template is a paragraph of Python text. Its placeholders are

    $list, $map1, $object2   a variable of that kind; the same number is the same variable within a template
    $new.list                a new variable of that kind
    $int, $value, $slice ... a random literal: see literals.py
    $seed, $unique           the program's seed; a number that no other template has

A line "#% alone" gives the programs of a topic a process of their own, "#% weight N" makes them more frequent, "#% limit N" is the number
of its statements in a program. A variable of a kind
that the program lacks is made by a template that needs no other variable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import literals

VOCABULARY = Path(__file__).resolve().parent / "vocabulary"
PLACEHOLDER = re.compile(r"\$(new\.)?([a-z]+)(\d*)")
HEADER = """\
# seed {seed}: {topics}
import asyncio, contextvars, copy, ctypes, gc, json, os, pickle, signal, subprocess, sys, threading, time, weakref
import multiprocessing, concurrent.futures
from decimal import Decimal
from fractions import Fraction
import numpy as np
import tvm_ffi
from tvm_ffi import dataclasses as dc
"""


@dataclass
class Topic:
    name: str
    templates: list[str] = field(default_factory=list)
    weight: int = 1
    limit: int = 1000
    alone: bool = False


@dataclass
class Program:
    seed: int
    topics: list[str]
    statements: list[str]
    alone: bool
    header: str = HEADER

    def source(self) -> str:
        return self.header.format(seed=self.seed, topics=", ".join(self.topics)) + "\n".join(self.statements) + "\n"


@cache
def topics() -> dict[str, Topic]:
    return {path.stem: read_topic(path) for path in sorted(VOCABULARY.glob("*.txt"))}


def read_topic(path: Path) -> Topic:
    topic = Topic(path.stem)
    for paragraph in re.split(r"\n\n+", path.read_text().strip()):
        lines = [line for line in paragraph.split("\n") if not line.startswith("# ")]
        for line in [line for line in lines if line.startswith("#% ")]:
            set_property(topic, line[3:])
        if text := "\n".join(line for line in lines if not line.startswith("#% ")):
            topic.templates.append(text)
    return topic


def set_property(topic: Topic, line: str) -> None:
    word, _, rest = line.partition(" ")
    if word == "alone":
        topic.alone = True
    elif word in ("weight", "limit"):
        setattr(topic, word, int(rest))
    else:
        raise ValueError(f"{topic.name}: no property {word}")


@cache
def makers() -> dict[str, list[str]]:
    """The templates that make a variable of each kind and use none."""
    found: dict[str, list[str]] = {}
    for topic in topics().values():
        for template in topic.templates:
            used = {(kind, number) for new, kind, number in PLACEHOLDER.findall(template) if not new and is_variable(kind)}
            made = {(kind, number) for new, kind, number in PLACEHOLDER.findall(template) if new}
            if not used - made:
                for kind, _ in made:
                    found.setdefault(kind, []).append(template)
    return found


def is_variable(kind: str) -> bool:
    return kind not in literals.PLACEHOLDERS and kind not in ("seed", "unique")


class Writer:
    """The program under construction: its statements, and its variables by kind."""

    def __init__(self, seed: int):
        self.seed = seed
        self.random = Random(seed)
        self.statements: list[str] = []
        self.variables: dict[str, list[str]] = {}
        self.unique = 0

    def add(self, template: str) -> None:
        bound: dict[tuple[str, str], str] = {}
        self.unique += 1
        unique = str(self.unique)
        made: list[tuple[str, str]] = []

        def replace(match: re.Match) -> str:
            new, kind, number = match.groups()
            if kind == "seed":
                return str(self.seed)
            if kind == "unique":
                return unique
            if kind in literals.PLACEHOLDERS and not new:
                return self.literal(kind)
            if new:
                made.append((kind, self.new_name(kind)))
                bound[kind, number or "new"] = made[-1][1]
                return made[-1][1]
            if (kind, number) not in bound:
                bound[kind, number] = self.variable(kind)
            return bound[kind, number]

        text = PLACEHOLDER.sub(replace, template)
        for kind, name in made:
            self.variables.setdefault(kind, []).append(name)
        self.statements.append(text)

    def literal(self, kind: str) -> str:
        """A literal, or a variable where any value does."""
        if kind == "value" and self.variables and self.random.random() < 0.3:
            return self.random.choice(self.random.choice(list(self.variables.values())))
        return literals.PLACEHOLDERS[kind](self.random)

    def new_name(self, kind: str) -> str:
        self.unique += 1
        return f"{kind}_{self.unique}"

    def variable(self, kind: str) -> str:
        """A variable of the kind; the first use makes one, and later ones do at times."""
        known = self.variables.get(kind, [])
        if not known or self.random.random() < 0.15:
            self.add(self.random.choice(makers()[kind]))
        return self.random.choice(self.variables[kind][-4:])


def generate(seed: int, only: tuple[str, ...] = ()) -> Program:
    writer = Writer(seed)
    random = writer.random
    names = [name for name in topics() if not only or name in only]
    chosen = set(random.choices(names, [topics()[name].weight for name in names], k=random.randint(1, 4)))
    pool = [topics()[name] for name in sorted(chosen)]
    used = dict.fromkeys(chosen, 0)
    for _ in range(random.randint(20, 60)):
        topic = random.choice(pool)
        used[topic.name] += 1
        if used[topic.name] <= topic.limit:
            writer.add(random.choice(topic.templates))
    return Program(seed, sorted(chosen), writer.statements, any(topic.alone for topic in pool))
