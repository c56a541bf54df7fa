"""The template outside of the clone, where a user copies it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[1]
CLONE = TEMPLATE.parents[2]


@pytest.fixture
def copy(tmp_path):
    """Return a copy of the template's sources."""
    return shutil.copytree(TEMPLATE, tmp_path / "kernels", ignore=shutil.ignore_patterns("build", "target", "__pycache__"))


def make(folder, *arguments):
    """Return the exit status of make and what it says on standard error."""
    done = subprocess.run(["make", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", [[], ["c"], ["rust"], ["FERRITE=/nowhere"]])
def test_without_ferrite_make_says_what_to_set(copy, arguments):
    status, said = make(copy, *arguments)
    assert status != 0 and "where Ferrite is not: name the folder of your clone, as in `make FERRITE=$HOME/ferrite`" in said


def test_without_the_crate_make_says_which_path_to_set(copy):
    status, said = make(copy, "rust", f"FERRITE={CLONE}")
    assert status != 0 and f"set the path of ferrite-ffi-sys to {CLONE}/targets/rust/sys" in said


def test_with_ferrite_make_builds(copy):
    for source in set((copy / "c").glob("*.c")) - {copy / "c/softmax.c"}:
        source.unlink()
    assert make(copy, "c", f"FERRITE={CLONE}", "CFLAGS=-O0") == (0, "")
    assert (copy / "build/kernels_c.so").is_file()


def test_make_clean_needs_nothing(copy):
    assert make(copy, "clean") == (0, "")
