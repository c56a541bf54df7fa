#!/usr/bin/env python3
"""Checks the book in docs/ and runs its code.

usage: book.py check          links of the book and of every README resolve; every block of the book has a use
       book.py run [PAGE...]  runs the code of the pages (all of them) in a clean copy of the tracked files

A page reads like a session in an empty folder. A block whose first line is a comment with nothing but a file name is that file.
A `sh` block runs; a `text` block is the output of the commands before it, in which a line `...` stands for any lines. A block
below `<!-- not run: REASON -->` is only read; the reasons are printed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+) -->\n\Z")
FILE_NAME = re.compile(r"^(?://|#|/\*|<!--)\s*([\w./-]+\.\w+)\s*(?:\*/|-->)?$")
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
    """Return the folder in which the clone builds: one that stays, so that the next run builds only what changed."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "book-build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Session:
    """Runs a page's blocks in a folder of its own, with one shell for each block."""

    def __init__(self, page, work, clone):
        self.page, self.folder, self.output, self.ran = page, work / page.stem, None, 0
        self.folder.mkdir()
        home = work / "home"
        home.mkdir(exist_ok=True)
        user = Path.home()
        inherited = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
        self.environment = inherited | {
            "FERRITE": str(clone),
            "HOME": str(home),
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(user / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(user / ".rustup")),
            "PIP_CONFIG_FILE": os.environ.get("PIP_CONFIG_FILE", str(user / ".config/pip/pip.conf")),
        }

    def run(self):
        """Run the blocks up to the first that fails; return its message, or None."""
        for line, language, body, reason in blocks(self.page):
            if reason:
                print(f"{self.page.name}:{line}: not run: {reason}")
                continue
            fault = self.step(language, body)
            self.ran += 1
            if fault:
                return f"{self.page.name}:{line}: {fault}"
        return None

    def step(self, language, body):
        if language == "sh":
            return self.command(body)
        if language == "text":
            return None if matches(body, self.output) else f"the output is\n{self.output}"
        path = self.folder / file_of(body)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body)
        return None

    def command(self, body):
        result = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", body], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.output = result.stdout
        return f"exit status {result.returncode}\n{result.stdout}" if result.returncode else None


def matches(wanted, output):
    """Return whether the wanted lines are in the output, one after another; `...` stands for any lines."""
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$", wanted, flags=re.MULTILINE)]
    return re.search(r"(?:^|\n)" + r"\n(?:.*\n)*?".join(part for part in parts if part) + r"(?:\n|$)", output) is not None


def run(names):
    chosen = [page for page in pages() if not names or page.stem in names]
    unknown = set(names) - {page.stem for page in chosen}
    if unknown:
        print(f"error: no page {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="ferrite-book-") as folder:
        work = Path(folder)
        clone = copy_of_the_sources(work / "ferrite")
        (clone / "target").symlink_to(build_folder())
        for page in chosen:
            session, begun = Session(page, work, clone), time.monotonic()
            fault = session.run()
            ran += session.ran
            print(f"{page.name}: {session.ran} blocks, {time.monotonic() - begun:.0f} s{', failed' if fault else ''}", flush=True)
            if fault:
                print(f"error: {fault}", file=sys.stderr, flush=True)
                failed += 1
    print(f"{ran} blocks of {len(chosen)} pages: {len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not ran else 0


def main(arguments):
    if arguments == ["check"]:
        return check()
    if arguments[:1] == ["run"]:
        return run(arguments[1:])
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
