#!/usr/bin/env python3
"""Checks docs/safe-functions: each public safe function that contains or reaches unsafe code has a row, and each row its function. So
has each `unsafe impl` of Send or Sync, on a page of its own.

A function is found by reading the sources, without a compiler: public functions and methods, and methods of traits on public types, whose
body has an `unsafe` block, or names a function of the same file that is not public and has one. Tests are left out.

usage: unsafe_review.py           fails with the functions that have no row, and the rows that have no function
       unsafe_review.py --list    prints the functions and the implementations, by file
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {  # page: folders of its sources
    "core": ("core/src",),
    "alloc-ext": ("alloc-ext/src",),
    "capi": ("capi/src", "capi/boundary/src", "capi/cxx/src", "capi/legacy", "capi/minimal/src"),
    "host": ("targets/host/src",),
    "gpu": ("targets/gpu/src",),
    "relax": ("targets/relax/src",),
    "rpc": ("targets/rpc/src",),
    "rust": ("targets/rust/src", "targets/rust/macros/src"),
}
THREADS_PAGE = "docs/safe-functions/send-sync.md"
THREADS = ("Send", "Sync")  # the columns of its tables
TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|'[a-z_]\w*(?!')|->|=>|::|[^\sA-Za-z0-9_]|[0-9]\w*")
OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Found:
    """A function of the sources."""

    file: str
    name: str  # `Type::method`, `function` or `macro!`
    is_public: bool
    is_safe: bool
    has_unsafe: bool
    words: set[str] = field(default_factory=set)


@dataclass(frozen=True, order=True)
class Promise:
    """An `unsafe impl` of Send or Sync."""

    file: str
    type: str  # or `macro!`, for one that a macro makes
    trait: str


def without_texts(source: str) -> str:
    """The source with comments removed, and strings and characters emptied."""
    pattern = re.compile(
        r"//[^\n]*|/\*.*?\*/|b?r(#*)\".*?\"\1|[bc]?\"(?:\\.|[^\"\\])*\"|b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\])'", re.DOTALL
    )
    return pattern.sub(lambda match: " " if match[0].startswith("/") else '""', source)


def end_of_group(tokens: list[str], at: int) -> int:
    """The position behind the group that opens at a position."""
    depth = 0
    for position in range(at, len(tokens)):
        if tokens[position] in OPENING:
            depth += 1
        elif tokens[position] in OPENING.values():
            depth -= 1
            if depth == 0:
                return position + 1
    return len(tokens)


def skip_generics(tokens: list[str], at: int) -> int:
    """The position behind `<…>`, if it opens at the position."""
    if at >= len(tokens) or tokens[at] != "<":
        return at
    depth = 0
    while at < len(tokens):
        depth += {"<": 1, ">": -1}.get(tokens[at], 0)
        at += 1
        if depth == 0:
            return at
    return at


def head_name(tokens: list[str]) -> str:
    """The name of a type: its last path segment, without generics."""
    at, name, depth = 0, "", 0
    while at < len(tokens):
        token = tokens[at]
        if token == "<":
            at = skip_generics(tokens, at)
            continue
        if token in ("where",):
            break
        if re.match(r"[A-Za-z_]", token) and token not in ("dyn", "mut", "const", "for", "crate", "self", "super"):
            name = token
            if at + 1 >= len(tokens) or tokens[at + 1] != "::":
                break
        at += 1
    return name or "".join(tokens[:3])


class Reader:
    """Reads the items of a file."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.tokens = TOKEN.findall(without_texts(source))
        self.functions: list[Found] = []
        self.promises: list[Promise] = []
        self.public_names: set[str] = set()  # items with `pub`
        self.exported_names: set[str] = set()  # names in a `pub use`
        self.globs: set[str] = set()  # modules in a `pub use module::*`
        self.modules: dict[str, bool] = {}

    def read(self) -> None:
        self.items(0, len(self.tokens), owner="", in_trait=False, trait_of_type=False)

    def items(self, at: int, end: int, owner: str, in_trait: bool, trait_of_type: bool) -> None:
        tokens = self.tokens
        is_public = is_test = is_exported = is_unsafe = False
        while at < end:
            token = tokens[at]
            if token == "#":
                start = at + 1 + (tokens[at + 1] == "!")
                stop = end_of_group(tokens, start)
                attribute = tokens[start:stop]
                text = " ".join(attribute)
                if re.search(r"\[ cfg \( (?:all \( )?test\b", text) or text.startswith("[ test") or "cfg ( loom" in text:
                    is_test = True
                if "macro_export" in attribute:
                    is_exported = True
                at = stop
                continue
            if token == "pub":
                is_public = tokens[at + 1] != "("
                at = at + 1 if is_public else end_of_group(tokens, at + 1)
                continue
            if token in ("const", "async", "extern", "default") and (tokens[at + 1] in ("fn", "unsafe", "extern", '"', "async")):
                at += 1
                continue
            if token == '"':
                at += 1
                continue
            if token == "unsafe":
                is_unsafe = True
                at += 1
                continue
            if token == "fn":
                at = self.function(at, end, owner, is_public or in_trait or trait_of_type, not is_unsafe, is_test)
            elif token == "macro_rules":
                name = tokens[at + 2]
                stop = end_of_group(tokens, at + 3)
                body = tokens[at + 3 : stop]
                if not is_test:
                    has = has_unsafe(body)
                    made = re.findall(r"unsafe impl .*?\b(Send|Sync) for", " ".join(body))
                    self.promises += [Promise(self.file, f"{name}!", trait) for trait in sorted(set(made))]
                    self.functions.append(Found(self.file, f"{name}!", is_exported, True, has, words_of(body)))
                    if is_exported:
                        self.exported_names.add(name)
                at = stop
            elif token == "impl":
                at = self.implementation(at, end, is_test, is_unsafe)
            elif token == "trait":
                name = tokens[at + 1]
                if is_public:
                    self.public_names.add(name)
                start = self.brace(at, end)
                stop = end_of_group(tokens, start)
                if not is_test:
                    self.items(start + 1, stop - 1, name, True, False)
                at = stop
            elif token == "mod":
                name = tokens[at + 1]
                if tokens[at + 2] == ";":
                    if not is_test:
                        self.modules[name] = is_public
                    at += 3
                else:
                    stop = end_of_group(tokens, at + 2)
                    if not is_test:
                        self.items(at + 3, stop - 1, owner, False, False)
                    at = stop
            elif token == "use":
                stop = tokens.index(";", at)
                if is_public:
                    self.exports(tokens[at + 1 : stop])
                at = stop + 1
            else:
                if is_public and token in ("struct", "enum", "union", "type", "static", "const"):
                    self.public_names.add(tokens[at + 2] if tokens[at + 1] == "mut" else tokens[at + 1])
                at = self.other(at, end)
            is_public = is_test = is_exported = is_unsafe = False

    def exports(self, tokens: list[str]) -> None:
        text = " ".join(tokens)
        for name in re.findall(r"(\w+)(?= (?:,|\}|as \w+|$))|(\w+)$", text):
            self.exported_names.add(name[0] or name[1])
        for module in re.findall(r"(\w+) :: (?:\*|\{[^}]*\*)", text):
            self.globs.add(module)

    def brace(self, at: int, end: int) -> int:
        depth = 0
        while at < end:
            token = self.tokens[at]
            if token in "([":
                depth += 1
            elif token in ")]":
                depth -= 1
            elif token in "{;" and depth == 0:
                return at
            at += 1
        return end - 1

    def other(self, at: int, end: int) -> int:
        """Skips an item: to behind its `;` or its braces. Calls of macros with items in them are read as items."""
        tokens = self.tokens
        while at < end:
            token = tokens[at]
            if token == ";":
                return at + 1
            if token == "{":
                return end_of_group(tokens, at)
            if token == "!" and at + 1 < end and tokens[at + 1] in OPENING:
                stop = end_of_group(tokens, at + 1)
                # Classes are defined in calls of macros.
                for index in range(at + 2, stop - 2):
                    if tokens[index] == "pub" and tokens[index + 1] in ("struct", "enum"):
                        self.public_names.add(tokens[index + 2])
                return stop + 1 if stop < end and tokens[stop] == ";" else stop
            if token in OPENING:
                at = end_of_group(tokens, at)
            else:
                at += 1
        return end

    def function(self, at: int, end: int, owner: str, is_public: bool, is_safe: bool, is_test: bool) -> int:
        tokens = self.tokens
        name = tokens[at + 1]
        start = self.brace(at, end)
        if tokens[start] == ";":
            return start + 1
        stop = end_of_group(tokens, start)
        if not is_test:
            body = tokens[start:stop]
            full = f"{owner}::{name}" if owner else name
            if is_public and not owner:
                self.public_names.add(name)
            self.functions.append(Found(self.file, full, is_public, is_safe, has_unsafe(body), words_of(body)))
        return stop

    def implementation(self, at: int, end: int, is_test: bool, is_unsafe: bool) -> int:
        tokens = self.tokens
        start = skip_generics(tokens, at + 1)
        brace = self.brace(start, end)
        stop = end_of_group(tokens, brace)
        head = tokens[start:brace]
        depth, split = 0, None
        for index, token in enumerate(head):
            depth += {"<": 1, ">": -1, "(": 1, ")": -1}.get(token, 0)
            if token == "for" and depth == 0 and (index + 1 >= len(head) or head[index + 1] != "<"):
                split = index
                break
            if token == "where" and depth == 0:
                break
        if not is_test:
            if split is None:
                self.items(brace + 1, stop - 1, head_name(head), False, False)
            else:
                trait, owner = head_name(head[:split]), head_name(head[split + 1 :])
                if is_unsafe and trait in THREADS:
                    self.promises.append(Promise(self.file, owner, trait))
                self.items(brace + 1, stop - 1, owner, False, True)
        return stop


def has_unsafe(body: list[str]) -> bool:
    return any(token == "unsafe" and body[at + 1 : at + 2] in (["{"], ["impl"]) for at, token in enumerate(body))


def words_of(body: list[str]) -> set[str]:
    return {token for at, token in enumerate(body) if body[at + 1 : at + 2] in (["("], ["!"], ["::"], [","], [")"])}


def is_test_file(path: Path) -> bool:
    return any(re.search(r"(^|_)(tests?|testing|faults|loom)(_|\.|$)", part) for part in path.parts)


def module_of(path: Path) -> Path:
    """The folder that the files of a module are in, or would be."""
    return path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")


def public_names(readers: list[tuple[Path, Reader]]) -> set[str]:
    """The names of public items in public modules, and those that a `pub use` names."""
    private = {module_of(path) / name for path, reader in readers for name, is_public in reader.modules.items() if not is_public}
    globs = {module_of(path) / name for path, reader in readers for name in reader.globs}
    names = set().union(*(reader.exported_names for _, reader in readers))
    for path, reader in readers:
        module = module_of(path)
        if module not in private or module in globs:
            names |= reader.public_names
    return names


def read_crate(folders: tuple[str, ...]) -> list[tuple[Path, Reader]]:
    """The files of a crate, without tests."""
    readers = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.rs")):
            relative = path.relative_to(ROOT)
            if is_test_file(relative):
                continue
            reader = Reader(str(relative), path.read_text())
            reader.read()
            readers.append((path, reader))
    return readers


def public_safe_functions(readers: list[tuple[Path, Reader]]) -> list[Found]:
    """The public safe functions of files that contain or reach unsafe code."""
    reachable = public_names(readers)
    functions = [one for _, reader in readers for one in reader.functions]

    def is_public(one: Found) -> bool:
        return one.is_public and one.name.split("::")[0].rstrip("!") in reachable | FOREIGN

    reaching = reaching_unsafe(functions, is_public)
    return list({(one.file, one.name): one for one in functions if id(one) in reaching and one.is_safe and is_public(one)}.values())


def reaching_unsafe(functions: list[Found], is_public: Callable[[Found], bool]) -> set[int]:
    """The functions with unsafe code, and those that name a helper with it: one of the same file, or the only one of its name."""
    by_name: dict[str, list[Found]] = {}
    for one in functions:
        by_name.setdefault(one.name.split("::")[-1].rstrip("!"), []).append(one)
    reaching = {id(one) for one in functions if one.has_unsafe}

    def is_helper(other: Found, one: Found) -> bool:
        is_known = other.file == one.file or len(by_name[other.name.split("::")[-1].rstrip("!")]) == 1
        return is_known and id(other) in reaching and other.is_safe and not is_public(other)

    while True:
        added = {
            id(one)
            for one in functions
            if id(one) not in reaching and any(is_helper(other, one) for word in one.words for other in by_name.get(word, ()))
        }
        if not added:
            return reaching
        reaching |= added


# Types of Rust and of other crates, for which the library implements traits.
FOREIGN = {"Vec", "Option", "String", "str", "Box", "i64", "u8", "Self", "T", "F", "bool", "f64"}


def rows_of(page: Path) -> dict[str, list[str]]:
    """The functions of a page's rows, by file."""
    rows: dict[str, list[str]] = {}
    file = ""
    for line in page.read_text().splitlines() if page.exists() else []:
        if heading := re.match(r"#+ `(.+)`$", line):
            file = heading[1]
        elif line.startswith("| `") and file:
            rows.setdefault(file, []).extend(re.findall(r"`([^`]+)`", line.split(" | ")[0]))
    return rows


def thread_rows_of(text: str) -> list[Promise]:
    """The implementations in the tables of the page: a cell with words is a promise, one with a dash is none."""
    promises, file = [], ""
    for line in text.splitlines():
        if heading := re.match(r"#+ `(.+)`$", line):
            file = heading[1]
        elif line.startswith("| `") and file:
            name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
            promises += [
                Promise(file, name.strip("`"), trait) for trait, cell in zip(THREADS, cells, strict=False) if cell.strip(" -|")
            ]
    return promises


def thread_mistakes_of(wanted: list[Promise], noted: list[Promise]) -> list[str]:
    def named(promise: Promise) -> str:
        return f"{promise.file}: `{promise.trait}` of `{promise.type}`"

    mistakes = [f"{named(one)} has no reason" for one in sorted(set(wanted) - set(noted))]
    mistakes += [f"{named(one)} has a reason and no `unsafe impl`" for one in sorted(set(noted) - set(wanted))]
    mistakes += [f"{named(one)} has two reasons" for one in sorted(set(noted)) if noted.count(one) > wanted.count(one) > 0]
    return mistakes


def mistakes_of(wanted: list[Found], rows: dict[str, list[str]]) -> list[str]:
    found = {(one.file, one.name) for one in wanted}
    noted = [(file, name) for file, names in rows.items() for name in names]
    mistakes = [f"{file}: `{name}` has unsafe code and no row" for file, name in sorted(found - set(noted))]
    mistakes += [f"{file}: the row of `{name}` has no such function" for file, name in sorted(set(noted) - found)]
    mistakes += [f"{file}: `{name}` has two rows" for file, name in sorted({one for one in noted if noted.count(one) > 1})]
    return mistakes


def print_by_file(rows: list[tuple[str, str]]) -> None:
    file = ""
    for new_file, row in rows:
        if new_file != file:
            file = new_file
            print(f"\n### `{file}`")
        print(row)


def main() -> int:
    mistakes, total = [], 0
    promises: list[Promise] = []
    for page, folders in PAGES.items():
        readers = read_crate(folders)
        wanted = public_safe_functions(readers)
        total += len(wanted)
        promises += [promise for _, reader in readers for promise in reader.promises]
        if sys.argv[1:] == ["--list"]:
            print_by_file([(one.file, f"`{one.name}`{'' if one.has_unsafe else ' (reaches)'}") for one in wanted])
            continue
        path = f"docs/safe-functions/{page}.md"
        mistakes += [f"{path}: {mistake}" for mistake in mistakes_of(wanted, rows_of(ROOT / path))]
    if sys.argv[1:] == ["--list"]:
        print_by_file([(one.file, f"`{one.type}`: {one.trait}") for one in promises])
        return 0
    noted = thread_rows_of((ROOT / THREADS_PAGE).read_text())
    mistakes += [f"{THREADS_PAGE}: {mistake}" for mistake in thread_mistakes_of(promises, noted)]
    if mistakes:
        print("\n".join(mistakes))
        print(f"error: {len(mistakes)} mistakes: read the code, and say who upholds what it needs")
        return 1
    print(f"{total} public safe functions with unsafe code have a row, and {len(promises)} implementations of Send and Sync a reason")
    return 0


if __name__ == "__main__":
    sys.exit(main())
