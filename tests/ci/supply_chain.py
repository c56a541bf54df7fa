#!/usr/bin/env python3
"""Checks what others supply to the repository: actions of workflows, locked crates, packages of Python.

usage: supply_chain.py check             workflows use actions by commit, keep no credentials, and write in jobs that build nothing;
                                         dependabot updates each folder; requirements with hashes have one for each package
       supply_chain.py manifest FOLDER   a manifest for a Cargo.lock without one, copied to FOLDER: it depends on the same crates
"""

import pathlib
import re
import subprocess
import sys

WORKFLOWS = pathlib.Path(".github/workflows")
DEPENDABOT = pathlib.Path(".github/dependabot.yml")
BUILDS = re.compile(r"ci\.sh|\.ci/(run|release)|cargo|make|pip ")


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], check=True, capture_output=True, text=True).stdout.split()


def steps(text):
    """Returns the steps of a workflow, each a string."""
    return re.findall(r"^ {6}- .*(?:\n(?: {8}.*)?)*", text, re.M)


def jobs(text):
    """Returns the jobs of a workflow, each a string."""
    return re.findall(r"^  \w+:\n(?:(?: {4}.*)?\n)+", text[text.index("\njobs:") :], re.M)


def workflow_mistakes(name, text):
    for step in steps(text):
        action = re.search(r"uses: (\S+)(.*)", step)
        if action and not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action[1]):
            yield f"{name}: {action[1]} is no action by its commit"
        if action and not re.fullmatch(r" # v[\d.]+", action[2]):
            yield f"{name}: {action[1]} has no comment with its version, which dependabot updates"
        if action and action[1].startswith("actions/checkout@") and "persist-credentials: false" not in step:
            yield f"{name}: a checkout leaves credentials to what the job runs"
    if not re.search(r"^permissions:\n  contents: read\n(?! )", text, re.M):
        yield f"{name}: permissions are not to read contents, and nothing else"
    for job in jobs(text):
        commands = "".join(re.findall(r"run: .*", job))
        if re.search(r": write\b", job) and (BUILDS.search(commands) or "actions/checkout@" in job):
            yield f"{name}: a job that may write runs code of the repository"


def folders_of(text, ecosystem):
    """Returns the folders that dependabot updates."""
    part = re.search(rf"package-ecosystem: {ecosystem}\n((?: {{4}}.*\n)+)", text)
    return set(re.findall(r"(?:directory:|^ +-) (/\S*)", part[1], re.M)) if part else set()


def dependabot_mistakes(text):
    # The crates that upstream's own workspace has locked are upstream's to choose.
    locks = {pathlib.Path(lock).parent for lock in tracked("*Cargo.lock")} - {pathlib.Path("tests/conformance/upstream/pins")}
    python = {pathlib.Path(file).parent for file in tracked("*requirements*.txt", "*pyproject.toml", "*pins/python.txt")}
    for ecosystem, folders in (("cargo", locks), ("pip", python), ("github-actions", {pathlib.Path()})):
        for folder in sorted(folders):
            name = "/" + ("" if folder == pathlib.Path() else str(folder))
            if name not in folders_of(text, ecosystem):
                yield f"{DEPENDABOT}: no updates of {ecosystem} in {name}"


def requirement_mistakes(name, text):
    """Yields packages without a hash."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if re.match(r"\w", line) and "--hash=sha256:" not in line:
            yield f"{name}: {line.split()[0]} has no hash"


def mistakes():
    for path in sorted(WORKFLOWS.glob("*.yml")):
        yield from workflow_mistakes(path, path.read_text())
    yield from dependabot_mistakes(DEPENDABOT.read_text())
    for name in tracked("*requirements*.txt", "tests/conformance/upstream/pins/*.txt", "tests/conformance/upstream/pins/releases/*.txt"):
        yield from requirement_mistakes(name, pathlib.Path(name).read_text())


def manifest(folder):
    """Writes a package that depends on each crate of the lock file at its version, without its optional features."""
    lock = (folder / "Cargo.lock").read_text()
    crates = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = ', lock)
    lines = [f'crate_{at} = {{ package = "{name}", version = "={version}", default-features = false }}' for at, (name, version) in enumerate(crates)]
    head = '[workspace]\n[package]\nname = "locked"\nversion = "0.0.0"\nedition = "2021"\npublish = false\n[lib]\npath = "lib.rs"\n[dependencies]'
    (folder / "lib.rs").write_text("")
    (folder / "Cargo.lock").unlink()
    (folder / "Cargo.toml").write_text("\n".join([head, *lines, ""]))


def main(arguments):
    match arguments:
        case ["check"]:
            found = list(mistakes())
            print("\n".join([*found, f"mistakes: {len(found)}"]))
            sys.exit(bool(found))
        case ["manifest", folder]:
            manifest(pathlib.Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
