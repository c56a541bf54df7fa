"""Libraries that are built when a program asks for them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import ferrite_kernels
import pytest
from ferrite_kernels import cache, compilers
from ferrite_kernels.build import BuildError
from ferrite_kernels.compilers import MissingCompiler

PYTHON = Path(ferrite_kernels.__file__).parents[1]
HEADER = "#define ANSWER 42\n"
SOURCE = r"""
#include <ferrite/kernel.h>
#include "answer.h"

FERRITE_EXPORT(answer, FERRITE_PARAMS_0, FERRITE_INT, "", "Returns the answer.") {
  (void)args;
  return ferrite_return_int(result, ANSWER);
}
"""
PROGRAM = "import ferrite_kernels, sys; print(ferrite_kernels.build(sys.argv[1], sys.argv[2:]).answer())"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Return a folder with a source, an empty cache, and a compiler that counts its calls, and waits while `hold` exists."""
    monkeypatch.setenv("FERRITE_KERNELS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "answer.c").write_text(SOURCE)
    (tmp_path / "answer.h").write_text(HEADER)
    compiler = tmp_path / "counting-cc"
    real = shutil.which("cc")
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *--version) exec {real} --version;; esac\n'
        f'case " $* " in *" -c "*) echo $$ >>{tmp_path}/compiles; while [ -e {tmp_path}/hold ]; do sleep 0.05; done;; esac\nexec {real} "$@"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    return tmp_path


def compiles(work: Path) -> int:
    """Return how often the compiler ran."""
    return len((work / "compiles").read_text().splitlines()) if (work / "compiles").exists() else 0


def start(work: Path, *flags: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen:
    """Start a process that builds the source and prints the answer."""
    variables = {**os.environ, "PYTHONPATH": str(PYTHON)}
    command = [*prefix, sys.executable, "-c", PROGRAM, str(work / "answer.c"), *flags]
    return subprocess.Popen(command, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_until(condition) -> None:
    """Wait for a number of looks, which take longer where everything does."""
    for _ in range(30_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it does not happen")


def files(work: Path) -> set[str]:
    """Return the suffixes of what the cache has."""
    return {path.suffix for path in (work / "cache").glob("*")}


# ---- languages
# -----------------------------------------------------------------------------------------


def test_c_is_built_once(work):
    first = ferrite_kernels.build(work / "answer.c")
    assert first.answer() == 42 and ferrite_kernels.build([str(work / "answer.c")]).answer() == 42
    assert compiles(work) == 1 and files(work) == {".so", ".json"}
    assert first.get_function_doc("answer") == "Returns the answer."


def test_c_and_cpp_in_one_library(work):
    (work / "more.cc").write_text(SOURCE.replace("answer,", "more,").replace("ANSWER)", "std::max<int64_t>(ANSWER, 7))").replace("#include", "#include <algorithm>\n#include", 1))
    module = ferrite_kernels.build([work / "answer.c", work / "more.cc"])
    assert (module.answer(), module.more()) == (42, 42)


CRATE = """
[package]
name = "crate"
version = "0.1.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
[workspace]
"""
RUST = """
mod part;

#[no_mangle]
pub unsafe extern "C" fn __tvm_ffi_answer(_: *mut u8, _: *const i64, _: i32, result: *mut i64) -> i32 {
    result.write(1); // an int
    result.add(1).write(part::ANSWER);
    0
}
"""


def test_rust(work):
    crate = work / "crate"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text(CRATE)
    (crate / "src/lib.rs").write_text(RUST)
    (crate / "src/part.rs").write_text("pub const ANSWER: i64 = 42;\n")
    assert ferrite_kernels.build(crate).answer() == 42
    (crate / "src/part.rs").write_text("pub const ANSWER: i64 = 43;\n")
    assert ferrite_kernels.build(crate / "Cargo.toml").answer() == 43
    (crate / "src/part.rs").write_text("pub const ANSWER: i64 =\n")
    with pytest.raises(BuildError, match="expected expression"):
        ferrite_kernels.build(crate)
    assert files(work) == {".so", ".json", ".cargo"}


@pytest.mark.parametrize("name, language, variable", [("a.cu", "CUDA", "NVCC"), ("a.hip", "HIP", "HIPCC")])
def test_compilers_that_are_missing(work, monkeypatch, name, language, variable):
    monkeypatch.setenv(variable, "no-such-compiler")
    (work / name).write_text("")
    message = f"^{language} needs no-such-compiler, which is not in PATH: install it, or name a compiler by {variable}$"
    with pytest.raises(MissingCompiler, match=message):
        ferrite_kernels.build(work / name)
    assert not (work / "cache").exists()


# Calls the C compiler with the words of nvcc that it knows.
FAKE_NVCC = """#!{python}
import os, sys
words = sys.argv[1:]
with open("{log}", "a") as log:
    print(*words, file=log)
if words == ["--version"]:
    sys.exit(0)
words = [word.replace("-Xcompiler=", "") for word in words if not word.startswith(("-std=", "-arch="))]
at = words.index("-c") + 1 if "-c" in words else len(words)
os.execvp("cc", ["cc", *words[:at], *(["-x", "c"] if "-c" in words else []), *words[at:]])
"""


def test_cuda_is_compiled_by_nvcc(work, monkeypatch):
    nvcc = work / "fake-nvcc"
    nvcc.write_text(FAKE_NVCC.format(python=sys.executable, log=work / "calls"))
    nvcc.chmod(0o755)
    monkeypatch.setenv("NVCC", str(nvcc))
    (work / "answer.c").rename(work / "answer.cu")
    assert ferrite_kernels.build(work / "answer.cu", ["-arch=sm_90"]).answer() == 42
    version, compile_, link = (work / "calls").read_text().splitlines()
    assert version == "--version" and "-Xcompiler=-fPIC" in compile_ and "-arch=sm_90" in compile_ and "answer.cu" in compile_
    assert "-shared" in link.split() and "-arch=sm_90" in link


@pytest.mark.parametrize("sources", [[], "kernel.py", ["crate/Cargo.toml", "answer.c"]])
def test_sources_that_are_refused(work, sources):
    (work / "crate").mkdir()
    (work / "crate/Cargo.toml").touch()
    (work / "kernel.py").touch()
    with pytest.raises(ValueError, match="expected"):
        ferrite_kernels.build(work / sources if isinstance(sources, str) else [work / name for name in sources])


# ---- when a build is used again
# ------------------------------------------------------------------------


def test_flags_sources_headers_and_compilers_count(work, monkeypatch):
    assert ferrite_kernels.build(work / "answer.c").answer() == 42
    assert ferrite_kernels.build(work / "answer.c", ["-DOTHER"]).answer() == 42
    assert compiles(work) == 2, "flags"
    (work / "answer.c").write_text(SOURCE.replace("ANSWER)", "ANSWER + 1)"))
    assert ferrite_kernels.build(work / "answer.c").answer() == 43
    assert compiles(work) == 3, "the source"
    (work / "answer.h").write_text(HEADER.replace("42", "1"))
    assert ferrite_kernels.build(work / "answer.c").answer() == 2
    assert compiles(work) == 4, "a header"
    (work / "answer.h").write_text(HEADER)
    assert ferrite_kernels.build(work / "answer.c").answer() == 43
    assert compiles(work) == 4, "the header as it was before"
    compiler = Path(os.environ["CC"])
    compiler.write_text(compiler.read_text().replace("--version) exec", "--version) echo newer; exec"))
    assert ferrite_kernels.build(work / "answer.c").answer() == 43
    assert compiles(work) == 5, "the compiler"


def test_headers_of_headers_with_spaces(work):
    folder = work / "a folder"
    folder.mkdir()
    (folder / "deep.h").write_text("#define DEEP 5\n")
    (work / "answer.h").write_text('#include "deep.h"\n#define ANSWER DEEP\n')
    assert ferrite_kernels.build(work / "answer.c", [f"-I{folder}"]).answer() == 5
    (folder / "deep.h").write_text("#define DEEP 6\n")
    assert ferrite_kernels.build(work / "answer.c", [f"-I{folder}"]).answer() == 6


def test_a_removed_library_is_built_again(work):
    ferrite_kernels.build(work / "answer.c")
    for path in (work / "cache").glob("*.so"):
        path.unlink()
    assert ferrite_kernels.build(work / "answer.c").answer() == 42 and compiles(work) == 2


def test_a_damaged_list_is_replaced(work):
    ferrite_kernels.build(work / "answer.c")
    for path in (work / "cache").glob("*.json"):
        path.write_text("[{")
    assert ferrite_kernels.build(work / "answer.c").answer() == 42 and compiles(work) == 2


def test_offline_from_a_filled_cache(work):
    ferrite_kernels.build(work / "answer.c")
    offline = ("unshare", "--net", "--map-root-user") if can_unshare() else ()
    builder = start(work, prefix=offline)
    assert builder.communicate() == ("42\n", "") and compiles(work) == 1


def can_unshare() -> bool:
    return subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True, check=False).returncode == 0


def test_folder_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("FERRITE_KERNELS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg/ferrite-kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache/ferrite-kernels"


# ---- processes
# -------------------------------------------------------------------------------------------


BUILDING = "ferrite_kernels: building answer.c\n"
WAITING = "ferrite_kernels: waiting for another process that builds answer.c\n"


def test_eight_processes_compile_once_and_say_what_they_wait_for(work):
    (work / "hold").touch()
    builders = [start(work) for _ in range(8)]
    lines = [builder.stderr.readline() for builder in builders]
    assert sorted(lines) == [BUILDING] + [WAITING] * 7
    (work / "hold").unlink()
    assert [builder.communicate() for builder in builders] == [("42\n", "")] * 8
    assert compiles(work) == 1 and files(work) == {".so", ".json"}


def test_a_killed_builder_leaves_no_lock(work):
    (work / "hold").touch()
    killed = start(work)
    wait_until(lambda: compiles(work) == 1)
    waiting = start(work)
    assert waiting.stderr.readline() == WAITING
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    wait_until(lambda: compiles(work) == 2)
    (work / "hold").unlink()
    assert waiting.communicate()[0] == "42\n" and compiles(work) == 2
    assert files(work) == {".so", ".json"}, "what the killed one left is removed"


def test_many_processes_that_fail(work):
    (work / "answer.h").write_text("#error broken\n")
    builders = [start(work) for _ in range(8)]
    for builder in builders:
        printed = builder.communicate()
        assert printed[0] == "" and "error broken" in printed[1]
    assert files(work) == set()


# ---- failures
# --------------------------------------------------------------------------------------------


def test_errors_have_the_compilers_text_and_leave_nothing(work):
    (work / "answer.c").write_text(SOURCE.replace("return", "retrun"))
    with pytest.raises(BuildError) as raised:
        ferrite_kernels.build(work / "answer.c", ["-DFLAG=1"])
    text = str(raised.value)
    assert "counting-cc" in text and "-DFLAG=1" in text and "retrun" in text and "error:" in text and text.endswith("exit status 1")
    assert files(work) == set()
    (work / "answer.c").write_text(SOURCE)
    assert ferrite_kernels.build(work / "answer.c", ["-DFLAG=1"]).answer() == 42


def test_a_build_without_ferrites_header_says_what_names_it(work, monkeypatch):
    monkeypatch.setenv("FERRITE", str(work))
    with pytest.raises(BuildError, match="FERRITE names the folder of a clone of Ferrite"):
        ferrite_kernels.build(work / "answer.c")


def test_errors_of_linkers(work):
    with pytest.raises(BuildError, match="no_such_library"):
        ferrite_kernels.build(work / "answer.c", ["-lno_such_library"])
    assert files(work) == set()


def test_a_source_that_is_missing(work):
    with pytest.raises(FileNotFoundError, match="absent.c"):
        ferrite_kernels.build(work / "absent.c")


def test_read_only_cache(work):
    ferrite_kernels.build(work / "answer.c")
    (work / "cache").chmod(0o555)
    # root may write everywhere, unless it gives up that right
    prefix = ("setpriv", "--bounding-set=-dac_override") if os.geteuid() == 0 else ()
    try:
        assert start(work, prefix=prefix).communicate() == ("42\n", "")
        printed = start(work, "-DOTHER", prefix=prefix).communicate()
    finally:
        (work / "cache").chmod(0o755)
    assert printed[0] == "" and "the cache cannot be written: FERRITE_KERNELS_CACHE names another folder" in printed[1]
    assert compiles(work) == 1


# ---- parts
# -------------------------------------------------------------------------------------------------


def test_rules_of_makefiles():
    assert compilers.files_in("a.o: x.c a\\ b.h \\\n  /c.h\n\n/c.h:\nd.so: e.rs\n") == ["x.c", "a b.h", "/c.h", "e.rs"]
