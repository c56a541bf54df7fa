"""Makes a program that shows a difference small: drops statements while the difference stays (delta debugging)."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable


def reduce(texts: list[str], differs: Callable[[list[str]], bool], seconds: float = 60) -> list[str]:
    """The shortest program found; `differs` says whether a shorter one still shows the difference."""
    deadline = time.monotonic() + seconds
    for candidate in (needed_by_last(texts, False), needed_by_last(texts, True)):
        if differs(candidate):
            texts = candidate
            break
    size = max(1, len(texts) // 2)
    while time.monotonic() < deadline:
        shorter = one_pass(texts, differs, size, deadline)
        if size == 1 and len(shorter) == len(texts):
            return shorter
        texts, size = shorter, max(1, size // 2)
    return texts


def needed_by_last(texts: list[str], mentions: bool) -> list[str]:
    """The last statement and those that bind its names, and so on; with `mentions`, also those that use such a name."""
    kept: list[str] = []
    wanted: set[str] = set()
    for number, text in reversed(list(enumerate(texts))):
        bound, used = names_of(text)
        if number == len(texts) - 1 or bound & wanted or mentions and used & wanted:
            kept.insert(0, text)
            wanted |= used
    return kept


def names_of(text: str) -> tuple[set[str], set[str]]:
    """The names that a statement binds, and those that it uses."""
    bound: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else used).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    return bound, used


def one_pass(texts: list[str], differs: Callable[[list[str]], bool], size: int, deadline: float) -> list[str]:
    start = len(texts) - size  # the last statements are the most often unneeded
    while start > -size and time.monotonic() < deadline:
        candidate = texts[: max(start, 0)] + texts[start + size :]
        if candidate and differs(candidate):
            texts = candidate
        start -= size
    return texts
