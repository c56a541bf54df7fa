"""The text that the small decoder learns: the prose of the repository's pages and doc comments, a paragraph in each line."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[4]
END = "\0"
"""Ends a page, and is the model's end token."""


def paragraphs(markdown):
    """Yields headings, paragraphs and items without code, tables, comments and links."""
    text = re.sub(r"<!--.*?-->|^ *```.*?^ *```$", "", markdown, flags=re.S | re.M)
    text = re.sub(r"^(#+ .*)$", r"\1\n", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) |#)", text):
        line = re.sub(r"^(#+|[-*]|\d+\.) +", "", " ".join(block.split()))
        if len(line) > 2 and not line.startswith(("|", "<", "[")):
            yield line


def doc_comments(source):
    """Returns the doc comments of a file in Rust as Markdown."""
    blocks = re.findall(r"(?:^ *//[/!](?: .*)?\n)+", source, re.M)
    return "\n\n".join(re.sub(r"^ *//[/!] ?", "", block, flags=re.M) for block in blocks)


def read():
    """Returns the corpus as bytes, files in the order of their names. What is not ASCII is left out."""
    command = ["git", "ls-files", "-z", "*.md", "core/*.rs", "alloc-ext/*.rs", "targets/*.rs"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    pages = []
    for name in sorted(filter(None, names.split("\0"))):
        text = (ROOT / name).read_text()
        page = list(paragraphs(text if name.endswith(".md") else doc_comments(text)))
        pages.append("\n".join(page) + "\n")
    return END.join(page for page in pages if page.strip()).encode("ascii", "ignore")
