"""A copy of the sources, in which tests change them."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def source_files():
    """Returns the names of the files that git tracks, or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True,
    )
    names = (name for name in listed.stdout.decode().split("\0") if name)
    return [name for name in names if (ROOT / name).is_symlink() or (ROOT / name).is_file()]


def copy_sources(tree):
    """Makes a folder equal to the working tree. Leaves files alone that are equal already, so that cargo builds less."""
    names = source_files()
    for name in names:
        source, target = ROOT / name, tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            if not target.is_symlink():
                target.symlink_to(os.readlink(source))
        elif not target.is_file() or target.read_bytes() != source.read_bytes():
            shutil.copy(source, target)
    wanted = set(names)
    for folder, _, files in os.walk(tree):
        for file in files:
            path = Path(folder, file)
            if str(path.relative_to(tree)) not in wanted:
                path.unlink()


def replace(path, old, new):
    """Replaces a string that a file has exactly once. Returns the original content."""
    original = path.read_text()
    if original.count(old) != 1:
        raise SystemExit(f"error: {path} has this text {original.count(old)} times:\n{old}")
    path.write_text(original.replace(old, new))
    return original
