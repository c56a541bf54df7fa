#!/usr/bin/env python3
"""Checks that each package that MANIFESTS lock has a note in .ci/reviews.toml, for its exact version.

usage: reviews.py            fails with the packages that have no note, and with notes for packages that the lock files lack
       reviews.py --facts    prints what a reviewer begins with: lines, uses of `unsafe`, build script, processes, of each package
                             that the released libraries have
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIELDS = {"name", "version", "used", "read", "unsafe", "build", "verdict"}
LIBRARY = ("-p", "ferrite-ffi-capi")
EXTENSION = "targets/python/Cargo.toml"
MANIFESTS = ("Cargo.toml", EXTENSION)  # workspaces whose code is released
RELEASES = (  # package, features and target of each kind of library that is released
    (*LIBRARY, "--features", "backend,relax,opencl,vulkan,cuda,rocm,cxx-abi", "--target", "x86_64-unknown-linux-gnu"),
    (*LIBRARY, "--features", "backend,relax", "--target", "x86_64-pc-windows-gnu"),
    (*LIBRARY, "--no-default-features", "--features", "full,microtvm,model", "--target", "thumbv7em-none-eabihf"),
    ("--manifest-path", EXTENSION, "--target", "x86_64-unknown-linux-gnu"),
)


def locked(text: str) -> set[str]:
    """The packages of a lock file that come from a registry, as "NAME VERSION"."""
    return {f"{name} {version}" for name, version in re.findall(r'name = "(.*)"\nversion = "(.*)"\nsource = ', text)}


def noted(notes: dict) -> tuple[set[str], list[str]]:
    """The packages with a note, and what is wrong with the notes."""
    packages: list[str] = []
    mistakes = []
    for review in notes.get("review", []):
        if missing := FIELDS - review.keys() | {field for field in FIELDS if not review.get(field)}:
            mistakes.append(f"the review of {review.get('name')} lacks {', '.join(sorted(missing))}")
        packages.append(f"{review.get('name')} {review.get('version')}")
    for group in notes.get("unreviewed", []):
        if not group.get("reason"):
            mistakes.append("a group of unreviewed packages has no reason")
        packages += group.get("packages", [])
    mistakes += [f"{one} has two notes" for one in sorted({one for one in packages if packages.count(one) > 1})]
    return set(packages), mistakes


def compare(lock: str, notes: dict, released: set[str]) -> list[str]:
    packages, mistakes = noted(notes)
    reviewed = {f"{review.get('name')} {review.get('version')}" for review in notes.get("review", [])}
    wanted = locked(lock)
    mistakes += [f"{one} is in Cargo.lock without a note" for one in sorted(wanted - packages)]
    mistakes += [f"{one} has a note and is not in Cargo.lock" for one in sorted(packages - wanted)]
    mistakes += [f"{one} is in a released library without a review" for one in sorted((released & wanted) - reviewed)]
    return mistakes


def released_packages() -> set[str]:
    """The packages from which the released libraries are built, build scripts included."""
    found: set[str] = set()
    for options in RELEASES:
        command = ["cargo", "tree", "--locked", *options, "-e", "normal,build", "--prefix", "none"]
        text = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        found |= {f"{name} {version}" for name, version in re.findall(r"^(\S+) v(\S+?)(?: \(.*\))?$", text, re.M)}
    return found


def described(manifest: str) -> dict[str, dict]:
    """Returns the metadata of the packages of a workspace, by "NAME VERSION"."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features", "--manifest-path", manifest]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout)
    return {f"{package['name']} {package['version']}": package for package in found["packages"]}


def facts(packages: set[str]) -> None:
    found = {name: package for manifest in MANIFESTS for name, package in described(manifest).items()}
    for name, package in sorted(found.items()):
        if name in packages and package["source"]:
            folder = Path(package["manifest_path"]).parent
            text = "\n".join(path.read_text(errors="replace") for path in (folder / "src").rglob("*.rs"))
            code = re.sub(r"//.*", "", text)
            unsafe = len(re.findall(r"\bunsafe\b", code))
            outside = len(re.findall(r"Command::new|std::net", code))
            script = folder / "build.rs"
            lines = len(script.read_text().splitlines()) if script.exists() else 0
            print(
                f"{name}: {text.count(chr(10))} lines, {unsafe} unsafe, build script of "
                f"{lines} lines, {outside} uses of processes or the network"
            )


def main() -> int:
    released = released_packages()
    if sys.argv[1:] == ["--facts"]:
        facts(released)
        return 0
    lock = "".join((ROOT / manifest).with_name("Cargo.lock").read_text() for manifest in MANIFESTS)
    notes = tomllib.loads((ROOT / ".ci/reviews.toml").read_text())
    mistakes = compare(lock, notes, released)
    print("\n".join(mistakes) or f"{len(locked(lock))} packages, {len(notes['review'])} of them reviewed: all that the released libraries have")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
