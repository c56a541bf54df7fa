"""A folder of built libraries, which processes share.

A build is found in two steps. The key of a request is of all that it says: names of sources, flags, compilers. `KEY.json` lists the
builds of that request, each with the digests of the files that its compiler read, headers among them; the one whose files are unchanged is
the library. So a lookup runs no compiler. A new header that the compiler would now find before another is not noticed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Iterable, Iterator

# Folder of the cache, in place of ferrite-kernels in the user's cache folder.
VARIABLE = "FERRITE_KERNELS_CACHE"
BUILDS_OF_A_REQUEST = 16


def folder() -> Path:
    """Return the folder of the cache, which need not exist."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ferrite-kernels"


def digest(*parts: bytes | str) -> str:
    """Return a key of these parts, each of which counts with its length."""
    sum_ = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sum_.update(b"%d:" % len(data) + data)
    return sum_.hexdigest()[:32]


def digest_of_file(path: str) -> str | None:
    """Return a key of a file's content; None without the file."""
    try:
        return digest(Path(path).read_bytes())
    except OSError:
        return None


class Entry:
    """The builds of one request."""

    def __init__(self, key: str) -> None:
        self.root = folder()
        self.key, self.list = key, self.root / f"{key}.json"

    def find(self) -> Path | None:
        """Return the library whose files are as they were when it was built; None without one. Writes nothing."""
        for build in self._builds():
            path = self.root / build["library"]
            if path.is_file() and all(digest_of_file(name) == sum_ for name, sum_ in build["files"].items()):
                return path
        return None

    def _builds(self) -> list[dict]:
        try:
            return json.loads(self.list.read_text())
        except (OSError, ValueError):
            return []

    def keep(self, built: Path, files: Iterable[str]) -> Path:
        """Move a library into the cache and list it. Other processes see all of it or nothing."""
        sums = {name: digest_of_file(name) for name in sorted(files)}
        path = self.root / f"{self.key}-{digest(json.dumps(sums))}.so"
        os.replace(built, path)
        others = [build for build in self._builds() if build["library"] != path.name]
        text = built.parent / "list.json"
        text.write_text(json.dumps([{"library": path.name, "files": sums}, *others[: BUILDS_OF_A_REQUEST - 1]]))
        os.replace(text, self.list)
        for old in others[BUILDS_OF_A_REQUEST - 1 :]:
            (self.root / old["library"]).unlink(missing_ok=True)
        return path

    @contextlib.contextmanager
    def building(self, waiting: contextlib.AbstractContextManager) -> Iterator[Path]:
        """Give an empty folder to one process at a time; `waiting` is entered while another one has it.

        The system takes the lock from a process that ends, however it ends; what it left is removed by the next one. At the end the
        folder and the lock's file are removed, after a failure too. OSError if the cache cannot be written.
        """
        with _locked(self.root / f"{self.key}.lock", waiting):
            work = self.root / f"{self.key}.build"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            try:
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path, waiting: contextlib.AbstractContextManager) -> Iterator[None]:
    """Hold the lock of a file, which is made, and removed at the end."""
    while True:
        file = _opened(path)
        try:
            _lock(file, waiting)
            if not _is_at(file, path):  # its holder removed it meanwhile: that lock excludes nobody who comes now
                continue
            try:
                yield
            finally:
                path.unlink()  # while it is held
            return
        finally:
            os.close(file)


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        what = f"the cache cannot be written: {VARIABLE} names another folder ({error.strerror})"
        raise OSError(error.errno, what, str(path.parent)) from None


def _lock(file: int, waiting: contextlib.AbstractContextManager) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with waiting:
            fcntl.flock(file, fcntl.LOCK_EX)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
