"""How each binding is built: alone, and as a library of many copies."""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[3]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
WITH_TORCH = "pybind11_torch"
COPY = re.compile(r"[^\n]*begin copy[^\n]*\n(.*?)[^\n]*end copy[^\n]*\n", re.DOTALL)

# Name of a binding, and its source.
BINDINGS = {
    "C": "ferrite.c",
    "C++": "ferrite.cc",
    "Rust": "ferrite.rs",
    "upstream C++": "upstream.cc",
    "pybind11": "pybind11.cc",
    "nanobind": "nanobind.cc",
    "ctypes": "ctypes.c",
}


def generated(source, copies, differ):
    """Return the source with the marked lines as often as wanted. Copies differ by a constant, or are the same."""

    def repeat(match):
        texts = (match[1].replace("layernorm2d", f"layernorm2d_{number}") if copies > 1 else match[1] for number in range(copies))
        return "".join(text.replace("COPY", str(number if differ else 0)) for number, text in enumerate(texts))

    return COPY.sub(repeat, source)


def folder_of(name, work, copies, differ):
    return work / f"{name.replace(' ', '_').replace('+', 'x')}_{copies}{'_different' if differ else ''}"


def built(name, work):
    """Return the built library with 70 different exports."""
    folder = folder_of(name, work, 70, True)
    if BINDINGS[name].endswith(".rs"):
        return work / f"cargo/release/lib{folder.name.lower()}.so"
    return folder / (f"bench_{name}{SUFFIX}" if name in ("pybind11", "nanobind") else "bench.so")


def prepare(name, work, copies, differ):
    """Write the source of a binding, and return how it is built."""
    folder = folder_of(name, work, copies, differ)
    folder.mkdir(parents=True, exist_ok=True)
    source = FOLDER / "bindings" / BINDINGS[name]
    file = folder / source.name
    file.write_text(generated(source.read_text(), copies, differ))
    return Cargo(folder, file, work) if source.suffix == ".rs" else Compiler(name, folder, file, work)


def prepare_with_torch(work):
    """Return how the binding of PyTorch's headers and pybind11 is built."""
    work.mkdir(parents=True, exist_ok=True)
    return Compiler(WITH_TORCH, work, FOLDER / f"bindings/{WITH_TORCH}.cc", work)


class Compiler:
    """A source that cc or c++ compiles and links at once."""

    def __init__(self, name, folder, file, work):
        is_module = name in ("pybind11", "nanobind", WITH_TORCH)
        self.library = folder / (f"bench_{name}{SUFFIX}" if is_module else "bench.so")
        standard = "20" if name == WITH_TORCH else "17"
        command = ["cc"] if file.suffix == ".c" else ["c++", f"-std=c++{standard}"]
        command += ["-O2", "-fPIC", "-shared", "-DNDEBUG", f"-I{FOLDER / 'bindings'}", str(file), "-o", str(self.library)]
        if file.name != "ctypes.c":
            command += ["-fvisibility=hidden", "-Wl,--gc-sections", "-ffunction-sections"]
        self.command = [*command, f"-DMODULE=bench_{name}", *options(name, work), "-lm"]

    def build(self):
        subprocess.run(self.command, check=True)

    def stripped_size(self):
        return stripped_size(self.library)


def options(name, work):
    """Return the options that a binding needs, after building what it links."""
    if name in ("C", "C++"):
        return [f"-I{ROOT / 'include'}"]
    if name == "upstream C++":
        import tvm_ffi.libinfo as info

        library = Path(info.find_libtvm_ffi()).parent
        return [f"-I{info.find_include_path()}", f"-I{info.find_dlpack_include_path()}", f"-L{library}", "-ltvm_ffi"]
    python = f"-I{sysconfig.get_path('include')}"
    if name == "pybind11":
        import pybind11

        return [python, f"-I{pybind11.get_include()}", f"-I{ROOT / 'include'}"]
    if name == WITH_TORCH:
        from torch.utils import cpp_extension

        library = cpp_extension.library_paths()[0]
        includes = [f"-I{folder}" for folder in cpp_extension.include_paths()]
        names = [f"-l{one}" for one in ("c10", "torch_cpu", "torch", "torch_python")]
        return [python, *includes, f"-DTORCH_EXTENSION_NAME=bench_{name}", f"-L{library}", f"-Wl,-rpath,{library}", *names]
    if name == "nanobind":
        import nanobind

        library = work / "nanobind.o"
        includes = [python, f"-I{nanobind.include_dir()}", f"-I{Path(nanobind.source_dir()).parent / 'ext/robin_map/include'}"]
        if not library.exists():
            source = Path(nanobind.source_dir()) / "nb_combined.cpp"
            flags = ["-std=c++17", "-Os", "-fPIC", "-DNDEBUG", "-fvisibility=hidden", "-ffunction-sections", "-fno-strict-aliasing"]
            subprocess.run(["c++", *flags, *includes, "-c", str(source), "-o", str(library)], check=True)
        return [*includes, str(library)]
    return []


class Cargo:
    """A crate, whose dependencies are built before and shared."""

    def __init__(self, folder, file, work):
        self.folder, self.file, self.target = folder, file, work / "cargo"
        self.name = folder.name.lower()
        self.library = self.target / f"release/lib{self.name}.so"
        (folder / "Cargo.toml").write_text(MANIFEST.format(name=self.name, root=ROOT))
        lock = FOLDER / "Cargo.lock"
        if lock.exists():
            shutil.copy(lock, folder)
        self.build()

    def build(self):
        os.utime(self.file)
        command = ["cargo", "build", "--quiet", "--release", "--manifest-path", str(self.folder / "Cargo.toml"), "--target-dir", str(self.target)]
        subprocess.run(command, check=True)

    def stripped_size(self):
        return stripped_size(self.library)


MANIFEST = """[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[workspace]

[lib]
crate-type = ["cdylib"]
path = "ferrite.rs"

[dependencies]
ferrite-ffi-sys = {{ path = "{root}/targets/rust/sys", default-features = false, features = ["alloc", "macros"] }}
libm = {{ version = "0.2.16", default-features = false, features = ["arch"] }}

[profile.release]
opt-level = 3
lto = "fat"
codegen-units = 1
panic = "abort"
"""


def stripped_size(library):
    stripped = library.with_suffix(".stripped")
    subprocess.run(["strip", "-o", str(stripped), str(library)], check=True)
    return stripped.stat().st_size


def read_marks(folder):
    """Return the instructions of one call of each binding, from the dumps of callgrind, which name what was measured."""
    counted = {}
    for file in folder.iterdir():
        text = file.read_text(errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (.+)\|(.+)\|(\d+)$", text, re.MULTILINE)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if name and total:
            counted.setdefault(name[1], {})[f"{name[2]}_instructions"] = round(int(total[1]) / int(name[3]))
    return counted
