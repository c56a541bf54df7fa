#!/usr/bin/env python3
"""Numbers about the code: the tree, sizes of files, modules with several forms, names of types, conditional compilation, circles,
examples.

usage: count_code.py [--rustdoc] [ROOT [CRATE...]]

Counts the crates in ROOT, by default those of this repository; `git worktree add` gives another revision. Code for tests does not
count. `--rustdoc` adds the documented items and examples as rustdoc counts them, which builds the crates with nightly.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from statistics import median

import import_circles

CRATES = ["core", "alloc-ext", "capi", "capi/boundary", "capi/cxx", "capi/legacy", "capi/minimal", "targets/host",
          "targets/gpu", "targets/relax", "targets/rpc"]
ATTRIBUTE = re.compile(r"#!?\[cfg(?:_attr)?\((?:[^\[\]]|\[[^\]]*\])*\]")
TYPE = re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|type) (\w+)", re.M)
SHORT = 40  # lines
FENCE = re.compile(r"^\s*//[/!]\s*```(.*)$", re.M)


def percentile(numbers, share):
    return sorted(numbers)[min(len(numbers) - 1, int(len(numbers) * share))]


def forms(crate):
    """Yields the file names of each module that has several files, one per build."""
    for module in crate.modules.values():
        if len(module.files) > 1:
            yield frozenset(file.parent.name if file.stem == "mod" else file.stem for file in module.files)


def examples(text):
    """Returns the number of code blocks in doc comments that rustdoc compiles."""
    fences = FENCE.findall(text)[::2]
    return sum(not set(fence.replace(",", " ").split()) & {"text", "ignore", "c", "sh", "toml", "console"} for fence in fences)


def types(crate, folder):
    """Yields each name of a type with its module. Files of a module with several, one for each build, count together."""
    for file, (path, _) in crate.code.items():
        is_form = len(crate.modules[path].files) > 1 or file.stem in ("fast", "small", "std", "bare", "client")
        for name in TYPE.findall(import_circles.without_tests(file.read_text())):
            yield name, (folder, path[:-1] if is_form else path)


def static_numbers(root, crates):
    import_circles.ROOT = root
    lines, twins, features, doctests, circles = [], Counter(), Counter(), 0, 0
    short, defined = Counter(), {}
    for folder, main in import_circles.crates(root / name for name in crates):
        crate = import_circles.Crate(main)
        circles += len(crate.circles())
        for name, module in types(crate, folder):
            defined.setdefault(name, set()).add(module)
        for names in forms(crate):
            twins["fast and small" if "fast" in names and "small" in names else
                  "std and bare" if names == frozenset(("std", "bare")) else "other"] += 1
        for file in crate.code:
            text = file.read_text()
            code = import_circles.without_tests(text)
            lines.append(len(code.splitlines()))
            if lines[-1] < SHORT:
                several = len(crate.modules[crate.code[file][0]].files) > 1
                short["forms" if several else "pages of folders" if file.stem == "mod" else "other"] += 1
            doctests += examples(text)
            for attribute in ATTRIBUTE.findall(code):
                features["all"] += 1
                features["inlining"] += bool(re.search(r"\binline\b|\bcold\b", attribute))
                for feature in set(re.findall(r'feature = "([\w-]+)"', attribute)):
                    features[feature] += 1
    print(f"files: {len(lines)}, lines: median {median(lines):g}, 90th percentile {percentile(lines, 0.9)}, sum {sum(lines)}")
    print(f"files below {SHORT} lines: {sum(short.values())}:", ", ".join(f"{n} {kind}" for kind, n in short.most_common()))
    print(f"names of more than one type: {sum(len(modules) > 1 for modules in defined.values())} of {len(defined)}")
    print(f"modules with several forms: {sum(twins.values())}:", ", ".join(f"{n} {name}" for name, n in twins.most_common()))
    shown = ["all", "std", "speed", "inlining"]
    print("cfg and cfg_attr attributes:", ", ".join(f"{features[name]} {name}" for name in shown))
    print(f"circles of imports: {circles}")
    print(f"examples that run as tests: {doctests}")


def tree_numbers(root):
    """Numbers about the whole repository: what a reader meets before the code."""
    import_circles.ROOT = root
    tracked = subprocess.run(["git", "ls-files"], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rust = sum(len((root / name).read_text().splitlines()) for name in tracked if name.endswith(".rs"))
    modules = re.findall(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);", (root / "core/src/lib.rs").read_text(), re.M)
    features = {name: len(features_of(root / name / "Cargo.toml")) for name in ("core", "capi")}
    pages = {name: len((root / name).read_text().splitlines()) for name in ("README.md", "ARCHITECTURE.md")}
    print(f"tracked files: {len(tracked)}, lines of Rust: {rust}")
    print(f"modules at the root of core: {len(modules)}")
    print("features:", ", ".join(f"{count} of {name}" for name, count in features.items()))
    folders = {parent.as_posix() for name in tracked if name.endswith(".rs") for parent in Path(name).parents}
    beside = sum(name.removesuffix(".rs") in folders for name in tracked)
    print(f"modules in a mod.rs: {sum(name.endswith('/mod.rs') for name in tracked)}, beside their folder: {beside}")
    print(f"#[path] out of a package: {sum(paths_out(root, name) for name in tracked if name.endswith('.rs'))}")
    print("lines of pages:", ", ".join(f"{count} of {name}" for name, count in pages.items()))


def features_of(manifest):
    """Returns the features that a user can name: neither `default` nor internal ones."""
    table = tomllib.loads(manifest.read_text()).get("features", {})
    return [name for name in table if name != "default" and not name.startswith("__")]


def paths_out(root, name):
    """Returns how many modules of a file are sources of another package."""
    file = root / name
    package = next(folder for folder in file.parents if (folder / "Cargo.toml").is_file())
    targets = re.findall(r'^#\[path = "([^"]*)"\]', file.read_text(), re.M)
    return sum(not (file.parent / target).resolve().is_relative_to(package.resolve()) for target in targets)


def rustdoc_numbers(root, crates):
    sums = Counter()
    for name in crates:
        if not (root / name / "Cargo.toml").is_file():
            continue
        command = ["cargo", "+nightly", "rustdoc", "--quiet", "--lib", "--manifest-path", root / name / "Cargo.toml", "--target-dir",
                   root / "target/count-code", "--", "-Zunstable-options", "--show-coverage", "--output-format", "json"]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for file in found.values():
            sums.update(file)
    print(f"public items: {sums['total']}, without a comment: {sums['total'] - sums['with_docs']}, "
          f"without an example: {sums['total_examples'] - sums['with_examples']} of {sums['total_examples']} that may have one")


def main(arguments):
    options = [one for one in arguments if one.startswith("--")]
    root, *crates = [one for one in arguments if not one.startswith("--")] or [import_circles.ROOT]
    root, crates = Path(root).resolve(), crates or CRATES
    tree_numbers(root)
    static_numbers(root, [name for name in crates if (root / name / "Cargo.toml").is_file()])
    if "--rustdoc" in options:
        rustdoc_numbers(root, crates)


if __name__ == "__main__":
    main(sys.argv[1:])
