#!/usr/bin/env python3
"""Checks the book in docs/ and runs its code.

usage: book.py check          links of the book and of every README resolve; every block of the book has a use; no text names a crate or a
                              wheel of ours as if a registry had it
       book.py run [PAGE...]  runs the code of the pages (all of them) in a clean copy of the tracked files
       book.py clean [PAGE...]
                              runs the code of the pages (those with a line of needs), each on a Debian system of its own that has
                              nothing but its base packages and what the page says it needs, and prints how long each took.
                              Needs root and debootstrap

       book.py excerpt FILE   fails unless the output on standard input has the lines of the file's `text` blocks, in their order

A page reads like a session in an empty folder. A block whose first line is a comment with nothing but a file name is that file.
A `sh` block runs; a `text` block is the output of the commands before it, in which a line `...` stands for any lines of standard
output. Each line of standard error is in such a block, too, or the page fails: no warning surprises a reader. Left out is progress,
which depends on what was built before: the status lines of cargo, pip's notice of a new release, and the line of ferrite_kernels for a
build that takes long. A block below `<!-- not run: REASON -->` is only read; the reasons are printed.

A page's line of needs begins with "Needs": it names Debian's packages as `sudo apt-get install PACKAGES`, and a Rust toolchain if
it is needed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from clean_root import CleanRoot

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+) -->\n\Z")
FILE_NAME = re.compile(r"^(?://|#|/\*|<!--)\s*([\w./-]+\.\w+)\s*(?:\*/|-->)?$")
NEEDS = re.compile(r"^Needs (.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
PACKAGES = re.compile(r"`sudo apt-get install ([^`]+)`")
# A dependency by version, an installation by name, a badge or a link of a registry.
UNPUBLISHED = re.compile(
    r"""\bferrite[\w-]* = (?:"|\{ version)|(?:cargo (?:add|install)|pip install) (?:--?\w[\w-]* )*ferrite[\w-]*|"""
    r"""(?:crates\.io/crates|docs\.rs|pypi\.org/project|shields\.io/\S*)/ferrite"""
)
PROGRESS = re.compile(r"(?=.{12} ) *[A-Z][a-z]+ \S|\[notice\] .*pip|ferrite_kernels: building |$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    """Return the pages of the book, in the order of its summary."""
    return [BOOK / name for name in LINK.findall((BOOK / "SUMMARY.md").read_text())]


def blocks(page):
    """Yield (line, language, body, reason not to run it or None) of a page's code blocks."""
    source = page.read_text()
    for match in FENCE.finditer(source):
        reason = NOT_RUN.search(source, 0, match.start())
        yield source.count("\n", 0, match.start()) + 1, match[1], match[2], reason and reason[1]


def file_of(body):
    """Return the name of the file that a block is, or None."""
    match = FILE_NAME.match(body.split("\n", 1)[0])
    return match and match[1]


def faults_of_blocks(page):
    last = None
    for line, language, body, reason in blocks(page):
        if language == "text" and last is None and reason is None:
            yield f"{page.name}:{line}: output of no command"
        elif language not in ("sh", "text") and reason is None and file_of(body) is None:
            yield f"{page.name}:{line}: the block is neither a command nor a file, and has no reason not to be run"
        last = line if language == "sh" and reason is None else last


def anchor(heading):
    """Return the anchor that GitHub and mdBook give a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)", "", heading).strip().lower()).replace(" ", "-")


def anchors(path):
    text = FENCE.sub("", path.read_text())
    return {anchor(match[1]) for match in re.finditer(r"^#+ (.+)$", text, re.MULTILINE)}


def faults_of_links(page):
    text = FENCE.sub(lambda match: "\n" * match[0].count("\n"), page.read_text())
    for match in LINK.finditer(text):
        target, _, part = match[1].partition("#")
        if re.match(r"\w+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        line = text.count("\n", 0, match.start()) + 1
        where = f"{page.relative_to(ROOT)}:{line}"
        if not path.exists():
            yield f"{where}: {match[1]} does not exist"
        elif page.is_relative_to(BOOK) and not path.is_relative_to(BOOK):
            yield f"{where}: {match[1]} is outside the book"
        elif part and path.suffix == ".md" and part not in anchors(path):
            yield f"{where}: {match[1]} names no heading"


def faults_of_registries(text):
    """Yield the lines that take a crate or a wheel of this repository out of a registry, where none is published."""
    for number, line in enumerate(text.read_text().splitlines(), 1):
        if UNPUBLISHED.search(line):
            yield f"{text.relative_to(ROOT)}:{number}: no crate or wheel of the repository is in a registry: name a path"


def tracked(*patterns):
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).exists()]


def check():
    known = pages()
    faults = [f"{page.name} is not in SUMMARY.md" for page in BOOK.glob("*.md") if page not in known and page.name != "SUMMARY.md"]
    for page in known:
        faults += faults_of_blocks(page)
    texts = [ROOT / name for name in tracked("*.md")]
    for text in texts:
        faults += faults_of_links(text)
        faults += faults_of_registries(text)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    print(f"{len(known)} pages, {len(texts)} texts: {len(faults)} faults")
    return 1 if faults else 0


def copy_of_the_sources(folder):
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def build_folder():
    """Return the folder of what runs build: it stays, so that the next run builds only what changed."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "book-build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class ThisMachine:
    """The machine that runs this program, with a fresh home folder."""

    def __init__(self, work):
        self.work, user = work, Path.home()
        (work / "home").mkdir()
        inherited = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
        self.environment = inherited | {
            "FERRITE": str(work / "ferrite"),
            "HOME": str(work / "home"),
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(user / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(user / ".rustup")),
            "PIP_CONFIG_FILE": os.environ.get("PIP_CONFIG_FILE", str(user / ".config/pip/pip.conf")),
        }

    def run(self, command, folder):
        """Run a bash command in a folder of the work folder; return its exit status, output and standard error."""
        return subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", command], cwd=self.work / folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )


class Session:
    """Runs a page's blocks in a folder of its own on a system, with one shell for each block.

    A system has a folder `work`, and runs commands in folders of it, where `$FERRITE` is a clean copy of the sources."""

    def __init__(self, page, system):
        self.page, self.system, self.output, self.ran = page, system, None, 0
        self.errors, self.command_line = [], 0
        self.folder = Path(page.parent.name, page.stem)
        (system.work / self.folder).mkdir(parents=True)

    def run(self):
        """Run the blocks up to the first that fails; return its message, or None."""
        for line, language, body, reason in blocks(self.page):
            if reason:
                print(f"{self.page.name}:{line}: not run: {reason}")
                continue
            fault = self.step(line, language, body)
            self.ran += 1
            if fault:
                return fault
        return self.errors_not_shown()

    def step(self, line, language, body):
        if language == "text":
            rest = self.shown(body)
            return None if matches(rest, self.output) else f"{self.page.name}:{line}: the output is\n{self.output}"
        fault = self.errors_not_shown()
        if fault or language == "sh":
            return fault or self.command(line, body)
        path = self.system.work / self.folder / file_of(body)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body)
        return None

    def command(self, line, body):
        result = self.system.run(body, self.folder)
        self.output, self.command_line = result.stdout, line
        self.errors = [error for error in result.stderr.splitlines() if not PROGRESS.match(error)]
        if result.returncode:
            return f"{self.page.name}:{line}: exit status {result.returncode}\n{result.stdout}{result.stderr}"
        return None

    def shown(self, body):
        """Take the lines of standard error that a block of output shows, in their order; return the other lines of the block."""
        rest = []
        for line in body.splitlines(keepends=True):
            if self.errors and line.rstrip("\n") == self.errors[0]:
                self.errors.pop(0)
            else:
                rest.append(line)
        return "".join(rest)

    def errors_not_shown(self):
        """Return a message if the page does not show all lines that the last commands wrote to standard error, else None."""
        lines = "\n".join(self.errors)
        return f"{self.page.name}:{self.command_line}: the page does not show these lines of standard error:\n{lines}" if lines else None


def matches(wanted, output):
    """Return whether the wanted lines are in the output, one after another; `...` stands for any lines."""
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$", wanted, flags=re.MULTILINE)]
    return re.search(r"(?:^|\n)" + r"\n(?:.*\n)*?".join(part for part in parts if part) + r"(?:\n|$)", output) is not None


def choose(names, known):
    """Return the known pages of these names, all without names; exit with an error where one is unknown."""
    unknown = set(names) - {page.stem for page in known}
    if unknown:
        print(f"error: no page to run: {', '.join(sorted(unknown))}", file=sys.stderr)
        sys.exit(2)
    return [page for page in known if not names or page.stem in names]


def run_page(page, system):
    """Run a page's blocks; print their number and time. Return the number of blocks and whether all passed."""
    session, begun = Session(page, system), time.monotonic()
    fault = session.run()
    print(f"{page.name}: {session.ran} blocks, {time.monotonic() - begun:.0f} s{', failed' if fault else ''}", flush=True)
    if fault:
        print(f"error: {fault}", file=sys.stderr, flush=True)
    return session.ran, fault is None


def sum_up(results):
    """Print the sum of pages' results; return the exit status."""
    ran, passed = sum(ran for ran, _ in results), sum(passed for _, passed in results)
    print(f"{ran} blocks of {len(results)} pages: {passed} passed, {len(results) - passed} failed")
    return 0 if ran and passed == len(results) else 1


def run(names):
    chosen = choose(names, pages())
    with tempfile.TemporaryDirectory(prefix="ferrite-book-") as folder:
        system = ThisMachine(Path(folder))
        clone = copy_of_the_sources(system.work / "ferrite")
        (clone / "target").symlink_to(build_folder())
        return sum_up([run_page(page, system) for page in chosen])


def needs(page):
    """Return the Debian packages that a page needs and whether it needs a Rust toolchain, or None for a page without that line."""
    match = NEEDS.search(page.read_text())
    if not match:
        return None
    # The lines of the paragraph end anywhere, in the midst of a command, too.
    text = " ".join(match[1].split())
    packages = PACKAGES.search(text)
    return (packages[1] if packages else ""), "Rust toolchain" in text


def run_clean(names):
    chosen = choose(names, [page for page in pages() if needs(page)])
    systems = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "clean"
    return sum_up([run_page_clean(page, systems) for page in chosen])


def run_page_clean(page, systems):
    packages, rust = needs(page)
    with CleanRoot(systems, page.stem, rust) as system:
        copy_of_the_sources(system.work / "ferrite")
        begun = time.monotonic()
        installed = system.install(packages)
        print(f"{page.name}: {packages or 'no package'}, {time.monotonic() - begun:.0f} s", flush=True)
        if installed.returncode:
            print(f"error: {page.name}: {installed.stdout}", file=sys.stderr, flush=True)
            return 0, False
        return run_page(page, system)


def excerpt(file):
    """Return 0 if standard input has the lines of a file's blocks of output in their order, with any lines between them."""
    output = "\n".join(line.rstrip() for line in sys.stdin)
    for line, language, body, _ in blocks(Path(file)):
        if language == "text" and not matches("\n...\n".join(body.splitlines()), output):
            print(f"error: {file}:{line}: the output is\n{output}", file=sys.stderr)
            return 1
    return 0


def main(arguments):
    if arguments == ["check"]:
        return check()
    if arguments[:1] == ["run"]:
        return run(arguments[1:])
    if arguments[:1] == ["clean"]:
        return run_clean(arguments[1:])
    if arguments[:1] == ["excerpt"] and len(arguments) == 2:
        return excerpt(arguments[1])
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
