"""Reads the headers of shared libraries before the dynamic loader maps them: the first access to a page that a cut file lacks ends the process.

This is the check that the library itself makes before it loads a module.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

LOAD, DYNSYM = 1, 11
SYMBOL_BYTES = 24


class Damaged(ValueError):
    """A binary is cut, or its headers contradict each other."""


def binaries_of(package: Path) -> list[Path]:
    """Return the shared libraries of the package tvm_ffi."""
    return [*package.glob("*.so"), *package.glob("lib/*.so")]


def check(path: Path) -> None:
    """Raise Damaged, a ValueError, if the file is cut; an OSError if it cannot be read."""
    with Binary(path) as binary:
        if not binary.is_elf():
            raise Damaged(f"{path} is not a 64-bit ELF file, or is truncated")
        binary.check()


class Binary:
    """A 64-bit little-endian ELF file. Reading outside of it raises Damaged."""

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, path.open("rb")
        self.size = os.fstat(self.file.fileno()).st_size

    def __enter__(self) -> Binary:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def is_elf(self) -> bool:
        return self.size >= 64 and self.part(0, 6) == b"\x7fELF\2\1"

    def check(self) -> None:
        """Raise Damaged if the file ends before one of its segments."""
        (segments_at,) = self.fields("<Q", 0x20)
        for kind, _, offset, _, _, length, _, _ in self.table("<IIQQQQQQ", segments_at, *self.fields("<HH", 0x36)):
            if kind == LOAD and offset + length > self.size:
                raise Damaged(f"{self.path} is truncated")

    def dynamic_symbols(self) -> Iterator[tuple[bytes, bytes]]:
        """Return each table of dynamic symbols, with its names."""
        (sections_at,) = self.fields("<Q", 0x28)
        sections = self.table("<IIQQQQIIQQ", sections_at, *self.fields("<HH", 0x3A))
        for _, kind, _, _, offset, length, names, _, _, _ in sections:
            if kind != DYNSYM:
                continue
            if names >= len(sections) or length % SYMBOL_BYTES:
                raise Damaged(f"{self.path} is damaged")
            yield self.part(offset, length), self.part(*sections[names][4:6])

    def table(self, form: str, at: int, size: int, count: int) -> list[tuple[int, ...]]:
        """Return the entries of a table of headers."""
        if count and size != struct.calcsize(form):
            raise Damaged(f"{self.path} is damaged")
        return list(struct.iter_unpack(form, self.part(at, size * count)))

    def fields(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack(form, self.part(offset, struct.calcsize(form)))

    def part(self, offset: int, length: int) -> bytes:
        if offset + length > self.size:
            raise Damaged(f"{self.path} is truncated")
        self.file.seek(offset)
        content = self.file.read(length)
        if len(content) != length:  # cut since it was opened
            raise Damaged(f"{self.path} is truncated")
        return content
