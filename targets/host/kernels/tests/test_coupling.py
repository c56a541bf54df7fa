"""The kernel libraries know no Python, no framework and no one libtvm_ffi: one build runs with all of them."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import ferrite_kernels
import numpy as np
import pytest
from conftest import BUILD, load
from ferrite_kernels.dlpack import _FLOAT8

HERE = Path(__file__).parent
LANGUAGES = ("c", "cpp", "rust")
# Interpreters with numpy and tvm_ffi, and a folder with the wheel ferrite-tvm-ffi: run.sh sets
# them. Without them, the tests run with this interpreter on upstream's library only.
PYTHONS = [path for path in os.environ.get("FERRITE_KERNELS_PYTHONS", sys.executable).split(":") if path]
WHEEL = os.environ.get("FERRITE_WHEEL")
LIBRARIES = ["upstream"] if WHEEL is None else ["upstream", "ferrite"]


def printed_by(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- symbols
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_symbols_of_no_python_and_no_framework(language):
    path = str(BUILD / f"kernels_{language}.so")
    wanted = printed_by("nm", "-D", "--undefined-only", path).split()
    assert not [name for name in wanted if re.match(r"_?Py[A-Z_]|.*(torch|c10|at4|pybind|nanobind|numpy|xla)", name)]
    assert [name for name in wanted if name.startswith("TVMFFI")], "it calls the ABI"
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", printed_by("readelf", "-d", path)))
    assert needed <= {f"lib{name}" for name in ("c.so.6", "m.so.6", "gomp.so.1", "stdc++.so.6", "gcc_s.so.1", "pthread.so.0", "dl.so.2")} | {
        "ld-linux-x86-64.so.2"
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_exported_symbols_are_those_of_kernels(language):
    defined = printed_by("nm", "-D", "--defined-only", "--format=posix", str(BUILD / f"kernels_{language}.so"))
    names = [line.split()[0] for line in defined.splitlines()]
    assert [name for name in names if not name.startswith("__tvm_ffi_")] == []
    assert len([name for name in names if not name.startswith("__tvm_ffi__")]) >= 3


# ---- interpreters and libraries
# ----------------------------------------------------------------------------


def digests() -> list[str]:
    return [hashlib.sha256((BUILD / f"kernels_{language}.so").read_bytes()).hexdigest() for language in LANGUAGES]


@functools.cache
def printed_with(python: str, ferrite: bool) -> dict:
    """Return what coupled.py prints in an interpreter."""
    before = digests()
    path = [str(Path(ferrite_kernels.__file__).parents[1]), *([WHEEL] if ferrite else [])]
    run = ["-m", "ferrite_tvm_ffi", "run"] if ferrite else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [python, *run, str(HERE / "coupled.py"), str(BUILD)]
    result = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert digests() == before, "the libraries are those of before"
    return json.loads(result.stdout)


@pytest.mark.parametrize("libtvm_ffi", LIBRARIES)
@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: Path(path).parent.parent.name)
def test_one_build_on_every_interpreter_and_library(python, libtvm_ffi):
    printed = printed_with(python, libtvm_ffi == "ferrite")
    assert printed["ferrite"] == (libtvm_ffi == "ferrite")
    x = np.arange(24, dtype="float64").reshape(4, 6) - 9
    for language in LANGUAGES:
        np.testing.assert_allclose(printed["results"][language][0], x.sum(-1), rtol=1e-5)
        assert printed["results"][language] == printed_with(sys.executable, False)["results"][language], "bit for bit"
    np.testing.assert_allclose(printed["in_c"][0], x @ x.T, rtol=1e-5)
    assert printed["in_c"] == printed_with(sys.executable, False)["in_c"], "bit for bit"


def test_versions_of_python():
    versions = {printed_with(python, False)["python"] for python in PYTHONS}
    assert len(versions) == len(PYTHONS)
    if "FERRITE_KERNELS_PYTHONS" in os.environ:
        assert len(versions) >= 2, "one CPython is not enough"


# ---- AITER's record
# ----------------------------------------------------------------------------------------


class Record(ctypes.Structure):
    """AITER's tensor, as its Python code makes it by ctypes."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("numel", ctypes.c_size_t),
        ("ndim", ctypes.c_int),
        ("shape", ctypes.c_int64 * 8),
        ("strides", ctypes.c_int64 * 8),
        ("dtype", ctypes.c_int),
        ("device_id", ctypes.c_int),
    )


FP32 = 4


def record_of(x: np.ndarray, dtype: int = FP32, device: int = -1) -> Record:
    strides = [stride // x.itemsize for stride in x.strides]
    eight = ctypes.c_int64 * 8
    return Record(x.ctypes.data, x.size, x.ndim, eight(*x.shape), eight(*strides), dtype, device)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FERRITE_KERNELS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return ferrite_kernels.build(HERE / "aiter_client.c", ["-Wall", "-Wextra", "-Werror"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_kernels_take_records_of_aiter(client, language):
    rng = np.random.default_rng(7)
    x, weight = rng.standard_normal((5, 64)).astype("float32"), rng.standard_normal(64).astype("float32")
    out = np.zeros_like(x)
    records = [record_of(x), record_of(weight), record_of(out)]
    kernel = load(language)["rmsnorm"]
    client.rmsnorm_of_records(kernel, ctypes.addressof(records[0]), ctypes.addressof(records[1]), 1e-6, ctypes.addressof(records[2]))
    wide = x.astype("float64")
    np.testing.assert_allclose(out, wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-6) * weight, rtol=1e-5)

    records[1] = record_of(weight[::2].copy())
    with pytest.raises(ValueError, match=r"weight.shape\[0\]"):
        client.rmsnorm_of_records(kernel, ctypes.addressof(records[0]), ctypes.addressof(records[1]), 1e-6, ctypes.addressof(records[2]))


def test_records_of_every_type_and_device(client):
    x = np.zeros((2, 3), "uint8")
    floats = {name: code for code, name in _FLOAT8.items()}
    expected = [
        (floats["e4m3fn"], 8, 1), (floats["e8m0fnu"], 8, 1), (2, 16, 1), (4, 16, 1), (2, 32, 1), (0, 4, 2), (17, 4, 2),
        (1, 32, 1), (0, 32, 1), (0, 16, 1), (0, 8, 1), (1, 8, 1), (0, 64, 1), (1, 64, 1),
    ]
    for dtype, wanted in enumerate(expected):
        for device, kind in ((-1, 1), (3, 10)):
            record = record_of(x, dtype, device)
            described = client.describe(ctypes.addressof(record), floats["e4m3fn"])
            assert tuple(described.to_bytes(4, "big")) == (*wanted, kind), dtype
    fnuz = record_of(x, 0)
    assert client.describe(ctypes.addressof(fnuz), floats["e4m3fnuz"]).to_bytes(4, "big")[0] == floats["e4m3fnuz"]
    with pytest.raises(TypeError, match="the type of an AITER tensor is unknown"):
        client.describe(ctypes.addressof(record_of(x, len(expected))), 10)
    deep = record_of(x)
    deep.ndim = 9
    with pytest.raises(ValueError, match="at most 8 axes"):
        client.describe(ctypes.addressof(deep), 10)
