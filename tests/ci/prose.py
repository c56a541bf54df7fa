#!/usr/bin/env python3
"""Lints the prose of the project: comments, READMEs, headers and the subjects of commits.

usage: prose.py [PATH...]

Without paths, reads every tracked file and the subjects of commits. Prints `file:line: finding` and fails if there is one.
Checks phrases, the first words of doc comments, widths and repeated lines, never single words that have a good use.
"""

import re
import subprocess
import sys
from itertools import groupby, pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Records and output of tools, and lists of phrases, such as this file.
EXCLUDED = re.compile(r"^(tests/ci/prose(_test)?\.py|tests/bench/results/.*|targets/cli/tests/golden/.*|include/dlpack/.*)$")

# The first words of a doc comment: of any, of those of functions, and of those of types.
OPENINGS = [
    (r"(What|Who|Whose|Whom|Which)\b", "begin with a verb or a noun phrase"),
    (r"(Those|That which|Of which|Its|Their)\b", "begin with the noun"),
    (r"The same(, but| as| for| with)\b", "say what it does"),
    (r"As (above|below|for|in|with)\b|As \[?`", "say what it does, then what it is like"),
    (r"How (many|much|often|long|far)\b", "begin with `Number of`, `Interval`, `Length`"),
]
FUNCTION_OPENINGS = [(r"Whether\b", "begin with `Returns true if`")]
TYPE_OPENINGS = [
    (r"(Reads|Writes|Returns|Converts|Creates|Builds|Makes|Parses|Marks|Restores|Replaces|Ends|Appends|Displays|Translates)\b",
     "begin with a noun, such as `Guard that` or `Reader of`"),
]

PHRASES = [
    (r"those that are", "name the things"),
    (r"what (it|he|they|the \w+) holds?", "name the content"),
    (r"(memory|allocation) (is|was|has been) refused|(is|are|was|were) refused memory|refus(es?|al of|als of) memory|"
     r"refused memory", "out of memory, `AllocError`, `MemoryError`"),
    (r"lent", "borrowed"),
    (r"(foreign|registered|user) code|code of users|users' code", "user callback"),
    (r"in turns", "linear search, alternately"),
    (r"short ?cuts?|short way", "fast path"),
    (r"where (size|speed) counts", "size-optimised, speed-optimised"),
    (r"(what|who) (was|is|were|are) met", "visited set"),
    (r"who waits", "waiter, join, barrier"),
    (r"(?<!in the )first place", "slot 0, inline cache"),
    (r"nesting that is left", "recursion depth"),
    (r"what is inside", "payload, content"),
    (r"walks? of the stack", "backtrace, unwinding"),
    (r"if that is nothing", "if it is null"),
    (r"vouch(es|ed|ing)?( for)?", "guarantees"),
    (r"(?<!-)(?-i:[Tt]exts)|(a|one|any|each|such) text(?! (of|file|form))", "string"),
    (r"(?-i:(Safety|Errors)\s+(As|The same))", "`Same requirements as`, `Same errors as`"),
    (r"(?<!here )(is|are) no (?!longer|more|other|less|fewer|such|matter|one\b)[a-z]+", "`is not a`"),
    (r"as far as", "declares, reports"),
    (r"so (many|much) (bytes|bits|values|elements|times)", "`that many`, or the number"),
    (r"or the like", "name the kind"),
    (r"(?-i:(?<=\. )Who) [a-z]+s\b", "callers, users, the program"),
]

# Last commit before the rules for subjects. Subjects published before the lint stay as they are.
COMMITS_SINCE = "904a530"
PUBLISHED = {"fe0132c", "b5a3b3d", "4e465e2", "7107117", "3510ee0", "dda0f1d"}

# Words of subjects, and the last commit before these rules.
SUBJECT_WORDS_SINCE = "27cb3df"
SUBJECT_WORDS = [
    (r"says? (what|which|why|where|when|who|how|that)", "`document X`, `explain X`, `state X`"),
    (r"tell(s)? (what|which|why|where|when|who|how|that)", "`report X`, `pass X`"),
    (r"mend(s|ed|ing)?", "`fix`, `correct`"),
    (r"rooms?", "`module`, `folder`, `capacity`"),
    (r"walks?", "`traversal`, `visit`, `page`"),
    (r"by (what|which|who|where|how)", "name the criterion: `by size`"),
    (r"what", "name the thing: `document the limits`, not `what is limited`"),
    (r"(?<=, )(which|who|where)|(in|of|for|to|with) which", "end the sentence; give the reason in the body"),
    (r"those (that|which|of|in|with)|(?<!each )(the )?ones? that|the others", "repeat the noun"),
    (r"of (its|their|his) own", "`separate`, `own X`: `in its own folder`"),
    (r"beside", "`next to`, `with`, `in`"),
]

# Words by which a section `# Safety` states an obligation, or that there is none.
OBLIGATION = re.compile(r"\b(must|may|same requirements|no requirements|none|see the crate|the caller transfers)\b", re.I)

COMMENT = {
    ".rs": re.compile(r"^\s*(///|//!|//)(?!/) ?(.*)"),
    ".py": re.compile(r"^\s*(#)(?!!) ?(.*)"),
    ".sh": re.compile(r"^\s*(#)(?!!) ?(.*)"),
    ".toml": re.compile(r"^\s*(#)(?![a-z]) ?(.*)"),
}
# Widest line of a comment or a paragraph. Code, tables, aligned columns and lines of one word may
# be wider.
WIDTH = 100
ALIGNED = re.compile(r"^\W*\||^<|\S {3,}\S")
TYPE = re.compile(r"(pub(\([^)]*\))? )?(unsafe )?(struct|enum|union|trait) ")
FUNCTION = re.compile(r'(pub(\([^)]*\))? )?(default |const |async |unsafe |extern "[^"]*" )*fn ')


class Block:
    """A comment or a paragraph: its kind, the line numbers and texts of its lines, and the line of code under it."""

    def __init__(self, kind, lines, item=""):
        self.kind, self.lines, self.item = kind, lines, item

    def text(self):
        return " ".join(text for _, text in self.lines)

    def line_of(self, offset):
        for number, text in self.lines:
            if offset <= len(text):
                return number
            offset -= len(text) + 1
        return self.lines[-1][0]


def line_comments(source, pattern):
    """Yield the runs of comment lines of one kind, each with the first line of code below its attributes."""
    numbered = []
    for number, line in enumerate(source, 1):
        match = pattern.match(line)
        numbered.append((number, match[1] if match else None, match[2] if match else line))
    for kind, run in groupby(numbered, key=lambda entry: entry[1]):
        run = list(run)
        if kind is not None:
            yield Block(kind, without_code([(number, text) for number, _, text in run]), item_below(source, run[-1][0]))


def without_code(lines):
    """Blank the lines of fenced code."""
    fenced, left = False, []
    for number, text in lines:
        fence = text.lstrip().startswith("```")
        fenced ^= fence
        left.append((number, "" if fenced or fence else text))
    return left


def item_below(source, number):
    below = (line.strip() for line in source[number:number + 20])
    return next((line for line in below if line and not line.startswith(("#[", "//"))), "")


def c_comments(source):
    text = "\n".join(source)
    for match in re.finditer(r"/\*.*?\*/", text, re.S):
        first = text.count("\n", 0, match.start()) + 1
        lines = [re.sub(r"^\s*/?\*+!?/? ?|\s*\*/$", "", line) for line in match[0].split("\n")]
        yield Block("/*", without_code(list(enumerate(lines, first))))


def paragraphs(source):
    fenced, run = False, []
    for number, line in enumerate([*source, ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and line.strip():
            run.append((number, re.sub(r"`[^`]*`", "`", line)))
            continue
        if run:
            yield Block("md", run)
            run = []


def docstrings(source):
    text = "\n".join(source)
    for match in re.finditer(r'"""(.*?)"""', text, re.S):
        yield Block('"""', list(enumerate(match[1].split("\n"), text.count("\n", 0, match.start()) + 1)))


def blocks(path, source):
    suffix = path.suffix
    if suffix == ".md":
        yield from paragraphs(source)
    elif suffix in (".c", ".h", ".cc"):
        yield from c_comments(source)
    elif suffix in COMMENT:
        yield from line_comments(source, COMMENT[suffix])
    if suffix == ".py":
        yield from docstrings(source)


def prose_of(text):
    """Return a text with blanks in place of code."""
    return re.sub(r"`[^`]*`", lambda code: " " * len(code[0]), text)


# Pages that walk through the code.
WALKS = [ROOT / page for page in ("ARCHITECTURE.md", "alloc-ext/README.md", "capi/README.md", "targets/gpu/README.md")]


def missing_files(source):
    """Yields the files that a walk through the code names and that do not exist."""
    for number, line in enumerate(source, 1):
        for name in re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:rs|cc|c|h|sh|py))`", line):
            if not (ROOT / name).is_file():
                yield number, f"`{name}`: no such file"


def wide_lines(block, source):
    for number, text in block.lines:
        line = source[number - 1]
        code = {"/*": not line.lstrip().startswith(("*", "/*")), "md": line.startswith("    ")}
        if len(line) > WIDTH and " " in text.strip() and not ALIGNED.search(line) and not code.get(block.kind):
            yield number, f"{len(line)} characters: at most {WIDTH}"


def repeated_lines(block, source):
    for (above, text), (number, _) in pairwise(block.lines):
        if len(text.split()) > 2 and not text.startswith("|") and source[above - 1] == source[number - 1]:
            yield number, "repeats the line above"


def facts_for_obligations(block):
    """Yields sections `# Safety` that do not say what the caller must do."""
    sections = [index for index, (_, text) in enumerate(block.lines) if text.startswith("# ")]
    for begin, end in pairwise([*sections, len(block.lines)]):
        number, title = block.lines[begin]
        text = " ".join(text for _, text in block.lines[begin + 1:end])
        if title.strip() == "# Safety" and not OBLIGATION.search(text):
            yield number, "states no obligation: say what the caller must do, or `No requirements`"


def findings(path, source):
    if path in WALKS:
        yield from missing_files(source)
    for index, block in enumerate(blocks(path, source)):
        if block.kind != '"""':
            yield from wide_lines(block, source)
        yield from repeated_lines(block, source)
        if block.kind == "///":
            yield from facts_for_obligations(block)
        text = block.text()
        header = index == 0 and path.suffix != ".md"
        if block.kind in ("///", "//!", '"""') or header:
            rules = OPENINGS + (FUNCTION_OPENINGS if FUNCTION.match(block.item) else [])
            rules += TYPE_OPENINGS if TYPE.match(block.item) else []
            for pattern, advice in rules:
                if match := re.match(rf"\s*({pattern})", text):
                    yield block.lines[0][0], f"opens with `{match[1]}`: {advice}"
        for pattern, advice in PHRASES:
            for match in re.finditer(rf"\b({pattern})\b", prose_of(text), re.I):
                yield block.line_of(match.start()), f"`{match[0]}`: {advice}"


def files(paths):
    listed = subprocess.run(["git", "ls-files", "-z", "--", *paths], cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in {*COMMENT, ".md", ".c", ".h", ".cc"} and path.is_file() and not EXCLUDED.match(name):
            yield name, path


def subject_findings(subject):
    if len(subject) > 72:
        yield f"{len(subject)} characters: at most 72"
    if subject.endswith("."):
        yield "ends with a period"
    if re.match(r"(wip|fixup!|squash!)", subject, re.I):
        yield "is not a finished commit"
    if re.match(r"\S+:", subject) and not re.match(r"[a-z0-9_/.+-]+: [a-z]+ \S", subject):
        yield "is not `area: verb object`"


def subject_word_findings(subject):
    for pattern, advice in SUBJECT_WORDS:
        if match := re.search(rf"\b({pattern})\b", subject, re.I):
            yield f"`{match[0]}`: {advice}"


def subjects_since(base, root=ROOT):
    """Return the hashes and subjects of the commits after a base, and whether the history has the base."""
    known = subprocess.run(["git", "cat-file", "-e", base], cwd=root, capture_output=True).returncode == 0
    command = ["git", "log", "--no-merges", "--abbrev=7", "--format=%h %s", f"{base}..HEAD" if known else "HEAD"]
    log = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True)
    return [line.split(" ", 1) for line in log.stdout.splitlines()], known


def check_subjects():
    subjects, known = subjects_since(COMMITS_SINCE)
    print(f"read {len(subjects)} subjects of commits" + ("" if known else ": the history is cut short"))
    for commit, subject in subjects:
        if commit[:7] not in PUBLISHED:
            for finding in subject_findings(subject):
                yield f"commit {commit}: {finding}: {subject}"
    for commit, subject in subjects_since(SUBJECT_WORDS_SINCE)[0]:
        for finding in subject_word_findings(subject):
            yield f"commit {commit}: {finding}: {subject}"


def main(paths):
    found, read = [], 0
    for name, path in files([str(Path(path).resolve()) for path in paths]):
        read += 1
        found += [f"{name}:{line}: {text}" for line, text in findings(path, path.read_text().splitlines())]
    print(f"read {read} files")
    if not paths:
        found += check_subjects()
    print(*found, f"findings: {len(found)}", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
