#!/usr/bin/env python3
"""Counts import cycles between the files of each crate.

usage: import_circles.py [--at-most N FILES] [CRATE_FOLDER...]     without a folder: every crate of the repository

A circle is a strongly connected component of more than one file: each file reaches all others by imports. An import is a
path in a file's code that ends in an item of another file. A re-export stands for the file that defines the item, so a
mod.rs that only lists its parts is in no circle. Test code does not count. All files of a module with several, one for
each build, count together. With --at-most, more circles are a failure, and so are more files in all circles together.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USE = re.compile(r"(?<![\w.])(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]+);")
MOD = re.compile(r"((?:#\[[^\n]*\]\s*)*)(?:pub(?:\s*\([^)]*\))?\s+)?mod\s+(\w+)\s*([;{])")
PATH = re.compile(r"(?<![\w:$])(?:\$?[A-Za-z_]\w*)(?:\s*::\s*\w+)+")
NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|b?'(?:\\.[^']*|[^\\'])'|b?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"", re.DOTALL)


def without_noise(text):
    """Return the code without comments, and with strings only where they are paths of modules."""

    def keep(match):
        found = match.group(0)
        is_path = found.endswith('.rs"') and "\n" not in found
        return found if is_path else " "

    return NOISE.sub(keep, text)


def block_end(text, start):
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)


def without_tests(text):
    """Return the code without items compiled for tests only."""
    cfg_test = re.compile(r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\n]*\]\s*)*")
    while match := cfg_test.search(text):
        end = re.compile(r"[;{]").search(text, match.end())
        stop = len(text) if end is None else end.end() if end.group() == ";" else block_end(text, end.start())
        text = text[: match.start()] + text[stop:]
    return text


def without_inline_modules(text):
    """Return the code with paths of inline modules as they would be in their file: its own module is their parent."""
    start = 0
    while match := re.compile(r"\bmod\s+\w+\s*\{").search(text, start):
        end = block_end(text, match.end() - 1)
        body = without_inline_modules(text[match.end() : end])
        body = re.sub(r"(?<![\w:])super\s*::\s*(super\b)?", lambda found: found[1] or "self::", body)
        text = text[: match.end()] + body + text[end:]
        start = match.end() + len(body)
    return text


class Module:
    def __init__(self, path):
        self.path = path  # names from the crate's root
        self.files = []
        self.children = set()
        self.exports = {}  # name: path of names, as written
        self.globs = []


class Crate:
    def __init__(self, root):
        self.modules, self.code = {}, {}
        self.load((), root, root.parent)

    def load(self, path, file, folder):
        """Read a module from a file; its child modules are in a folder."""
        if not file.is_file() or file in self.code:
            return
        text = without_inline_modules(without_tests(without_noise(file.read_text())))
        module = self.modules.setdefault(path, Module(path))
        module.files.append(file)
        self.code[file] = (path, text)
        for attributes, name, end in MOD.findall(text):
            module.children.add(name)
            # Every file of the module, for whichever build.
            for one in re.findall(r'path\s*=\s*"([^"]+)"', attributes) if end == ";" else []:
                named = file.parent / one
                self.load(path + (name,), named, named.parent)
            if end == ";":
                self.load(path + (name,), folder / f"{name}.rs", folder / name)
                self.load(path + (name,), folder / name / "mod.rs", folder / name)
        for public, tree in USE.findall(text):
            for names, alias in leaves(tree):
                if public and alias == "*":
                    module.globs.append(names)
                elif public:
                    module.exports[alias] = names

    def defining(self, names, seen=()):
        """Return the module that contains an item, and how many of the names lead to that module; None if there is none."""
        depth = 0
        while depth < len(names) and names[: depth + 1] in self.modules:
            depth += 1
        module = self.modules.get(names[:depth])
        if module is None or depth == len(names):
            return None
        name, key = names[depth], names[: depth + 1]
        if key in seen:
            return module
        if name in module.exports:
            target = self.absolute(module.path, module.exports[name])
            if target is not None:
                found = self.defining(target + names[depth + 1 :], seen + (key,))
                return found or (module if target not in self.modules else None)
        for glob in module.globs:
            target = self.absolute(module.path, glob)
            inner = self.modules.get(target) if target is not None else None
            if inner and any(re.search(rf"\b(?:fn|struct|enum|const|static|trait|type|macro_rules!)\s+{name}\b", self.code[file][1]) for file in inner.files):
                return self.defining(target + names[depth:], seen + (key,))
        return module

    def absolute(self, here, names, scope=None):
        """Resolve names from the crate's root; None for another crate or an unknown name."""
        first = names[0]
        if first in ("crate", "$crate"):
            return names[1:]
        if first in ("super", "self"):
            while names and names[0] in ("super", "self"):
                if names[0] == "super":
                    here = here[:-1]
                names = names[1:]
            return here + names
        if scope and first in scope:
            base = scope[first]
            return None if base is None else base + names[1:]
        module = self.modules.get(here)
        if module and (first in module.children or first in module.exports and module.exports[first][0] != first):
            return here + names
        return None

    def imports(self, file):
        here, text = self.code[file]
        scope, found = {}, []
        for public, tree in USE.findall(text):
            for names, alias in leaves(tree):
                target = self.absolute(here, names)
                scope[alias] = target
                if target is not None and not public:
                    found.append(target)
        for path in PATH.findall(USE.sub(" ", text)):
            target = self.absolute(here, tuple(re.split(r"\s*::\s*", path)), scope)
            if target is not None:
                found.append(target)
        modules = {module.path for module in map(self.defining, found) if module}
        return {other for path in modules if path != here for other in self.modules[path].files}

    def circles(self):
        graph = {file: sorted(self.imports(file)) for file in self.code}
        return sorted(sorted(one) for one in components(graph) if len(one) > 1)


def leaves(tree, before=()):
    """Yield each name that a use declaration imports, with its path."""
    tree = tree.strip()
    match = re.match(r"((?:\w+\s*::\s*|::)*)\{(.*)\}$", tree, re.DOTALL)
    if match:
        before += tuple(re.findall(r"\w+", match.group(1)))
        depth, part = 0, ""
        for letter in match.group(2) + ",":
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                if part.strip():
                    yield from leaves(part, before)
                part = ""
            else:
                part += letter
        return
    path, _, alias = tree.partition(" as ")
    names = before + tuple(re.findall(r"\w+|\*", path))
    if names[-1] == "self" and len(names) > 1:
        names = names[:-1]
    alias = alias.strip() or names[-1]
    yield (names[:-1], "*") if alias == "*" else (names, alias)


def components(graph):
    """Return the strongly connected components by Tarjan's algorithm, without recursion."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, edges = work[-1]
            for other in edges:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    one = []
                    while not one or one[-1] != node:
                        one.append(stack.pop())
                        on_stack.discard(one[-1])
                    found.append(one)
    return found


def crates(folders):
    for folder in folders:
        root = folder / "src" / "lib.rs"
        root = root if root.is_file() else folder / "src" / "main.rs"
        # A crate may be made of another one's sources, by a symbolic link: they count once.
        if root.is_file() and root.resolve() == root.absolute():
            yield folder, root


def main(arguments):
    limits = None
    if arguments[:1] == ["--at-most"]:
        limits, arguments = (int(arguments[1]), int(arguments[2])), arguments[3:]
    hidden = {"target", ".git", ".cache"}
    every = (manifest.parent for manifest in sorted(ROOT.rglob("Cargo.toml")) if not hidden & set(manifest.parts))
    total, files = 0, 0
    for folder, root in crates([Path(one).resolve() for one in arguments] or every):
        for circle in Crate(root).circles():
            total, files = total + 1, files + len(circle)
            print(f"{folder.relative_to(ROOT)}: {len(circle)} files")
            print(*(f"  {file.relative_to(folder / 'src')}" for file in circle), sep="\n")
    print(f"{total} circles of {files} files")
    if limits is None or total <= limits[0] and files <= limits[1]:
        return 0
    print(f"error: at most {limits[0]} circles of {limits[1]} files are allowed", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
