"""Declarations that `ferrite stubs` makes of the libraries, under `mypy --strict`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD

# The command is in the wheel ferrite-tvm-ffi; run.sh sets the variable.
FERRITE = os.environ.get("FERRITE_COMMAND") or shutil.which("ferrite") or "ferrite"

GOOD = """
from tvm_ffi import Tensor
import kernels_{language} as kernels

def norm(x: Tensor, weight: Tensor, out: Tensor) -> Tensor:
    kernels.rmsnorm(x, weight, 1e-5, out)
    {in_c}
    result = kernels.rmsnorm(x, weight, 1e-5, None)
    assert result is not None
    return result
"""
WRONG = """
import kernels_{language} as kernels
kernels.rmsnorm(1, 2, 3, 4)
kernels.no_such_operator()
kernels.sum_rows()
"""


def mypy(folder: Path, text: str) -> subprocess.CompletedProcess:
    (folder / "client.py").write_text(text)
    environment = {**os.environ, "MYPYPATH": str(folder)}
    command = [sys.executable, "-m", "mypy", "--strict", "--no-color-output", "--cache-dir", str(folder / "cache"), "client.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("language", ["c", "cpp", "rust"])
def test_stubs(tmp_path, language):
    stub = tmp_path / f"kernels_{language}.pyi"
    subprocess.run([FERRITE, "stubs", str(BUILD / f"kernels_{language}.so"), "--python", "-o", str(stub)], check=True)
    text = stub.read_text()
    declared = re.search(r'def layernorm2d\((.*)\) -> .*:\n    """(.*)', text)
    assert declared and re.findall(r"(\w+):", declared[1]) == ["x", "weight", "bias", "eps", "out"] and "row" in declared[2]
    assert "Any" not in text and "_0:" not in text
    in_c = "kernels.topk_softmax(x, True, weight, out)" if language == "c" else "pass"
    good, wrong = mypy(tmp_path, GOOD.format(language=language, in_c=in_c)), mypy(tmp_path, WRONG.format(language=language))
    assert good.returncode == 0, good.stdout
    assert sorted(set(re.findall(r"client.py:(\d+): error", wrong.stdout))) == ["3", "4", "5"], wrong.stdout
