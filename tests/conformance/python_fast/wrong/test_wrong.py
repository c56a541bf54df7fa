"""Types, slots, files and interpreters that the extension must leave alone, each with a reason in its report.

A program tampers with `tvm_ffi.core` after its import and before the extension looks at it, uses functions, objects and
containers, and prints the report. Without the extension, the same programs show that the use itself is right.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import fast_state
import tvm_ffi  # noqa: F401 - for the report of this process

# Runs TAMPER(core) once tvm_ffi.core is imported. The package tvm_ffi is imported after that.
PROGRAM = """
import ctypes, gc, importlib.util, json, sys
sys.path[:0] = json.loads(sys.argv[1])

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "tvm_ffi.core":
            return None
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)))
        execute = spec.loader.exec_module
        def exec_module(module):
            execute(module)
            tamper(module)
        spec.loader.exec_module = exec_module
        return spec

def dict_of(cls):
    return next(one for one in gc.get_referents(cls.__dict__) if type(one) is dict)

def replace(cls, name, value):
    dict_of(cls)[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))

def word(address):
    return ctypes.c_ssize_t.from_address(address)

BASIC_SIZE, CALL = 32, 128  # offsets in PyTypeObject
seen = []

def tamper(core):
    pass

TAMPER

sys.meta_path.insert(0, Finder())
import numpy
import tvm_ffi
from tvm_ffi import testing
echo, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "apply"))
for _ in range(3):
    array = numpy.arange(3, dtype="float32")
    assert echo(1) == 1 and echo("text" * 20) == "text" * 20 and echo([1, 2])[1] == 2 and echo(b"bytes") == b"bytes"
    assert echo(array).shape == (3,) and apply(lambda value: value + 1, 4) == 5 and echo(tvm_ffi.from_dlpack(array)).shape == (3,)
    pair = testing.TestIntPair(1, 2)
    assert pair.sum() == 3 and pair.a == 1 and echo(pair).same_as(pair)
    sequence, mapping = tvm_ffi.Array([pair, 1]), tvm_ffi.Map({"a": 1})
    assert sequence[0].same_as(pair) and len(sequence) == 2 and list(sequence)[1] == 1 and mapping["a"] == 1 and "a" in mapping
    for bad in (lambda: sequence[5], lambda: mapping["b"], lambda: testing.add_one("text")):
        try:
            bad()
        except (IndexError, KeyError, TypeError):
            pass
        else:
            raise AssertionError("no error")
import fast_state
print(json.dumps({**fast_state.state(), "seen": sorted(set(seen))}))
"""
PLUGIN = str(Path(__file__).resolve().parents[1] / "plugin")


def run(tamper: str, environment=None) -> dict:
    """Run the program; return the report."""
    command = [sys.executable, "-X", "faulthandler", "-c", PROGRAM.replace("TAMPER\n", tamper + "\n", 1), json.dumps([PLUGIN])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout.strip().split("\n")[-1])


def is_left_alone(report: dict, *words: str) -> None:
    """The report names a part that is left alone, for a reason with one of the words; no part is missing from it."""
    reasons = list(report["left alone"].values())
    assert reasons, f"nothing is left alone: {report['fast']}"
    if fast_state.wanted() and has_extension():
        assert any(word in reason for reason in reasons for word in words), reasons


def has_extension() -> bool:
    import ferrite_tvm_ffi

    name = "ferrite_python" + importlib.machinery.EXTENSION_SUFFIXES[0]
    return (Path(ferrite_tvm_ffi.__file__).parent / "ferrite_tvm_ffi.libs" / name).exists()


def test_the_extension_is_used_unless_it_is_switched_off():
    report = run("")
    assert bool(report["fast"]) == (fast_state.wanted() and has_extension()), report
    assert not run("", environment={"FERRITE_TVM_FFI_FAST": "0"})["fast"]


# A layout moved by 8 bytes.


@pytest.mark.parametrize("name", ["Function", "Tensor", "CContainerBase", "Error", "CAny", "String"])
def test_instances_that_are_larger(name):
    report = run(f"def tamper(core): word(id(core.{name}) + BASIC_SIZE).value += 8")
    is_left_alone(report, name)


def test_a_handle_at_another_offset():
    # The address that the probe reads is 8 more than the word at the offset that it expects.
    report = run(
        """
def tamper(core):
    original = core.CObject.__chandle__
    replace(core.CObject, "__chandle__", lambda self: original(self) + 8)
"""
    )
    is_left_alone(report, "handle", "offset")


def test_a_flag_at_another_offset():
    report = run(
        """
def tamper(core):
    kept = {}
    replace(core.Function, "release_gil", property(lambda self: kept.get(id(self), True), lambda self, value: kept.update({id(self): value})))
"""
    )
    is_left_alone(report, "release_gil")


@pytest.mark.skipif(not os.environ.get("FAST_MOVED_CORE"), reason="run.sh compiles upstream's extension with a moved handle, in the whole run")
def test_an_extension_compiled_with_a_moved_handle():
    report = run("", environment={"PYTHONPATH": os.pathsep.join([os.environ["FAST_MOVED_CORE"], PLUGIN])})
    is_left_alone(report, "bytes", "offset")
    assert not report["fast"]


@pytest.mark.parametrize("collection", ["", "gc.collect(0)", "gc.collect(1)", "gc.collect()"])
def test_an_instance_before_the_class_is_enlarged(collection):
    """It has no place for a vectorcall. The collector's generations tell where it may be."""
    report = run(
        f"""
class Early:
    def find_spec(self, module, path=None, target=None):
        core = sys.modules.get("tvm_ffi.core")
        if core is not None and hasattr(core, "Function") and not kept:
            kept.append(core.Function.__new__(core.Function))
            {collection}
kept = []
sys.meta_path.insert(0, Early())
"""
    )
    is_left_alone(report, "Function has instances")


# A slot replaced by another tool.


TOOL = """
#include <Python.h>
ternaryfunc original;
long calls;
PyObject *tool_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
  ++calls;
  return original(self, arguments, keywords);
}
"""


def test_a_call_slot_of_another_tool(tmp_path):
    tool = compiled(tmp_path / "tool.so", TOOL)
    report = run(
        f"""
def tamper(core):
    tool, slot = ctypes.PyDLL({str(tool)!r}), word(id(core.Function) + CALL)
    ctypes.c_void_p.in_dll(tool, "original").value = slot.value
    slot.value = ctypes.cast(tool.tool_call, ctypes.c_void_p).value
    class Seen(list):
        def __iter__(self):
            return iter(["call"] * (ctypes.c_long.in_dll(tool, "calls").value > 50))
    global seen
    seen = Seen()
"""
    )
    is_left_alone(report, "tp_call")
    assert report["seen"] == ["call"]


@pytest.mark.parametrize("name", ["__getitem__", "__len__", "__iter__", "__contains__"])
@pytest.mark.parametrize("cls", ["Array", "Map"])
def test_a_method_of_containers_of_another_tool(cls, name):
    """Containers are Python classes: their module is imported after core, and patched before the extension looks at it."""
    report = run(
        f"""
class Later:
    def find_spec(self, module, path=None, target=None):
        if module != "tvm_ffi.container":
            return None
        spec = next(filter(None, (finder.find_spec(module, path, target) for finder in sys.meta_path if finder is not self)))
        execute = spec.loader.exec_module
        def exec_module(module):
            execute(module)
            cls = module.{cls}
            original = getattr(cls, "{name}")
            def patched(self, *arguments):
                seen.append("{cls}")
                return original(self, *arguments)
            setattr(cls, "{name}", patched)
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, Later())
"""
    )
    # The others are not used by the program, and may be by a probe.
    if (cls, name) not in (("Map", "__len__"), ("Map", "__iter__"), ("Array", "__contains__")):
        assert report["seen"] == [cls], report


def test_constructors_of_another_tool():
    report = run(
        """
def tamper(core):
    original = core.CObject.__init_handle_by_constructor__
    def patched(self, *arguments):
        seen.append("constructor")
        return original(self, *arguments)
    replace(core.CObject, "__init_handle_by_constructor__", patched)
"""
    )
    assert "constructor" in report["seen"] or not report["seen"]


# An extension of another release.


@pytest.mark.parametrize("name", ["_to_py_class_value", "_lookup_or_register_type_info_from_type_key", "CAny", "CContainerBase", "_set_type_cls", "_register_py_class"])
def test_a_release_without_a_name(name):
    """The name is there while tvm_ffi is imported, and gone when the extension looks for it."""
    report = run(
        f"""
import ferrite_tvm_ffi
def without(tvm_ffi, patch=ferrite_tvm_ffi.PATCHES["tvm_ffi"]):
    value = tvm_ffi.core.__dict__.pop("{name}")
    try:
        patch(tvm_ffi)
    finally:
        tvm_ffi.core.__dict__["{name}"] = value
ferrite_tvm_ffi.PATCHES["tvm_ffi"] = without
"""
    )
    is_left_alone(report, name)


def test_a_release_that_finds_classes_by_key():
    """`_type_index_to_type_info` is new in 0.1.13."""
    report = run(
        """
import ferrite_tvm_ffi
def without(tvm_ffi, patch=ferrite_tvm_ffi.PATCHES["tvm_ffi"]):
    del tvm_ffi.core.__dict__["_type_index_to_type_info"]
    patch(tvm_ffi)
ferrite_tvm_ffi.PATCHES["tvm_ffi"] = without
"""
    )
    assert not report["left alone"] or not has_extension() or not fast_state.wanted()


def test_a_release_that_keeps_the_wrapper_of_an_object():
    report = run(
        """
def tamper(core):
    original, kept = core._to_py_class_value, {}
    core._to_py_class_value = lambda value: kept.setdefault(value.type_index, original(value))
"""
    )
    is_left_alone(report, "one Python object")


EMPTY = """
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "ferrite_python", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_ferrite_python(void) { return PyModule_Create(&definition); }
"""


def package_with(folder: Path, make) -> Path:
    """Return a copy of ferrite_tvm_ffi in which `make` has written the extension's file."""
    import ferrite_tvm_ffi

    here = Path(ferrite_tvm_ffi.__file__).parent
    for file in here.glob("ferrite_tvm_ffi*.py"):
        shutil.copy(file, folder)
    libraries = folder / "ferrite_tvm_ffi.libs"
    libraries.mkdir()
    for file in (here / "ferrite_tvm_ffi.libs").iterdir():
        if not file.name.startswith("ferrite_python"):
            (libraries / file.name).symlink_to(file.resolve())
    make(libraries / ("ferrite_python" + importlib.machinery.EXTENSION_SUFFIXES[0]))
    return folder


def compiled(file: Path, text: str) -> Path:
    source = file.with_suffix(".c")
    source.write_text(text)
    include = sysconfig.get_path("include")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(file)], check=True)
    return file


FILES = {
    "of another interpreter": lambda file: file.with_name("ferrite_python.cpython-30-x86_64-linux-gnu.so").write_bytes(b""),
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(b"\x7fELF" + bytes(60)),
    "a library that is not an extension": lambda file: shutil.copy(file.parent / "libtvm_ffi.so", file),
    "an extension of another release, without its functions": lambda file: compiled(file, EMPTY),
}


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file(name, tmp_path):
    package = package_with(tmp_path, FILES[name])
    # The environment has imported its own ferrite_tvm_ffi: a new interpreter without site packages'
    # start-up files takes this one.
    report = run_with_package(package)
    assert not report["fast"] and report["left alone"], report


def run_with_package(package: Path) -> dict:
    paths = [str(package), *(path for path in sys.path if "site-packages" in path), PLUGIN]
    tamper = "import ferrite_tvm_ffi\nassert ferrite_tvm_ffi.__file__.startswith(sys.path[0]), ferrite_tvm_ffi.__file__"
    program = PROGRAM.replace("TAMPER\n", tamper + "\n", 1)
    command = [sys.executable, "-S", "-X", "faulthandler", "-c", program, json.dumps(paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout.strip().split("\n")[-1])


# What an earlier release may leave alone, and what a program observes of its values.
LEFT_ALONE = {"0.1.9": {"fast calls"}, "0.1.10": {"fast containers", "fast constructors", "fast fields"}}
OBSERVED = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import ferrite_tvm_ffi, numpy, tvm_ffi
from tvm_ffi import core, testing
echo, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "apply"))
array = tvm_ffi.Array([1, [2, "three"], {"a": None}])
values = [None, True, 5, 2**63, 2.5, "a", "long text" * 3, b"a", b"bytes" * 9, numpy.zeros((2, 3), "int8"), tvm_ffi.from_dlpack(numpy.zeros(2))]
values += [core.DataType("int32"), tvm_ffi.dtype("float32"), tvm_ffi.device("cpu", 0), core.Device, array, tvm_ffi.Map({"a": 1}), echo, len]
values += [lambda: 0, Exception("text"), object(), 1j, {1, 2}, [1, "a"], (1,), {"a": [1]}, tvm_ffi.Shape((1, 2)), core.String("text"), range(3)]
def kind(value):
    return type(value).__name__ + (repr(value) if isinstance(value, (type(None), bool, int, float, str, bytes, tuple)) else "")
def outcome(function, *arguments):
    try:
        return kind(function(*arguments))
    except Exception as error:
        return type(error).__name__
seen = []
for value in values:
    seen += [outcome(echo, value), outcome(echo, [value]), outcome(lambda one: echo([one])[0], value), outcome(apply, lambda *all: value)]
    seen += [outcome(apply, kind, value), outcome(testing.add_one, value), outcome(tvm_ffi.convert, value)]
seen += [kind(one) for one in array] + [kind(array[-1]["a"]), outcome(array.__getitem__, 3), kind(array[1:]), len(array)]
import fast_state
print(json.dumps({**fast_state.state(), "seen": seen}))
"""


@pytest.mark.skipif(not os.environ.get("FAST_RELEASES"), reason="run.sh names folders of earlier releases, with CPython 3.11")
@pytest.mark.parametrize("release", os.environ.get("FAST_RELEASES", "none").split(os.pathsep), ids=os.path.basename)
def test_earlier_releases_are_fast_where_their_layout_allows(release):
    environment = {"PYTHONPATH": os.pathsep.join([release, PLUGIN])}
    report = run("import ferrite_tvm_ffi\nassert ferrite_tvm_ffi.installed() != '0.1.15.post2'", environment=environment)
    if fast_state.wanted() and has_extension():
        assert report["left alone"].keys() == LEFT_ALONE.get(Path(release).name.split("-")[1], set()), report["left alone"]
    command = [sys.executable, "-c", OBSERVED, json.dumps([PLUGIN])]
    reports = []
    for fast in ("0", "1"):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment, "FERRITE_TVM_FFI_FAST": fast}
        )
        assert done.returncode == 0, done.stderr[-2000:]
        reports.append(json.loads(done.stdout.strip().split("\n")[-1]))
    assert reports[0]["seen"] == reports[1]["seen"]


# A free-threaded build, as a probe would see it.


@pytest.mark.parametrize(
    "sign",
    ["sys._is_gil_enabled = lambda: False", "sys.abiflags += 't'"],
)
def test_a_free_threaded_build(sign):
    report = run(sign)
    assert not report["fast"]
    is_left_alone(report, "free-threaded")
