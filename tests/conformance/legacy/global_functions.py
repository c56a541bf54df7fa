"""Lists the global functions that the front ends of earlier releases of TVM call, and the arguments they pass.

usage: global_functions.py [--quiet] GIT_DIRECTORY [LIBRARY]

Reads `python/tvm` of each release's tag from a git directory of apache/tvm, which may be bare. Prints, for each release, the
name of each function and the arguments of each call of it. With a library, checks that it has each of these functions except
for those in NOT_OFFERED, and that a test of this folder names each. With --quiet, prints only what this check finds.

The front end is what every program uses, whatever it does: values, arrays, containers, nodes, modules, devices and data types.
The compiler, RPC, executors and profilers are other parts of those releases, and not listed.
"""

import ast
import ctypes
import os
import subprocess
import sys

RELEASES = ["0.5", "0.6.1", "0.8.0", "0.14.0", "0.18.0"]

# Files of the front ends, below python/tvm.
FILES = {
    "0.5": "_ffi/ module.py ndarray.py container.py node.py attrs.py",
    "0.6.1": "_ffi/ module.py ndarray.py container.py node.py attrs.py error.py datatype.py",
    "later": "_ffi/ runtime/__init__.py runtime/_ffi_node_api.py runtime/container.py runtime/module.py runtime/ndarray.py"
    " runtime/object.py runtime/object_generic.py runtime/packed_func.py runtime/params.py runtime/support.py"
    " ir/container.py ir/attrs.py target/datatype.py",
}
# Functions of tvm.api (0.5 and 0.6) that make values; the rest of that file belongs to the
# compiler.
API = {"convert", "const", "get_env_func", "load_json", "save_json", "min_value", "max_value", "_convert_str"}

# Modules whose functions are global functions, by the name under which a file imports them.
PREFIXES = {"_api_internal": "", "_ffi_api": "runtime.", "_ffi_node_api": "node.", "tvm.runtime._ffi_api": "runtime."}
LOOKUPS = {"get_global_func", "_get_global_func", "_get_api"}


# Functions that need the compiler.
NOT_OFFERED = {
    "_AttrsListFieldInfo": "attributes of the compiler's nodes",
    "ir.AttrsListFieldInfo": "attributes of the compiler's nodes",
    "ir.DictAttrsGetDict": "attributes of the compiler's nodes",
    "_EnvFuncCall": "functions as nodes of the compiler",
    "_EnvFuncGet": "functions as nodes of the compiler",
    "_EnvFuncGetPackedFunc": "functions as nodes of the compiler",
    "node.LargeUIntImm": "a constant that is a call of an intrinsic",
    "module._PackImportsToC": "writes C code",
    "runtime.ModulePackImportsToC": "writes C code",
    "runtime.ModulePackImportsToLLVM": "writes LLVM code",
    "runtime.ModuleLoadStaticLibrary": "is only an input of `export_library`",
}


def git(directory, *arguments):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", directory, *arguments], check=True, stdout=subprocess.PIPE).stdout.decode()


def sources(directory, release):
    """Yields the path and the text of each file of a front end."""
    tag = "refs/tags/v" + release
    wanted = FILES.get(release, FILES["later"]).split()
    if release in FILES:
        wanted.append("api.py")
    for path in git(directory, "ls-tree", "-r", "--name-only", tag, "python/tvm").split():
        short = path[len("python/tvm/"):]
        if short.endswith(".py") and any(short == name or name.endswith("/") and short.startswith(name) for name in wanted):
            yield short, git(directory, "show", "%s:%s" % (tag, path))


def dotted(node):
    """Returns a name such as `tvm.runtime._ffi_api.Array`, or None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and before + "." + node.attr
    return None


def namespace(tree):
    """Returns the prefix of the functions that a file loads into itself, such as `module.`, or None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (dotted(node.func) or "").endswith("_init_api") and node.args:
            name = ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else ""
            return name[len("tvm."):] + "." if name.startswith("tvm.") else name + "."
    return None


class Calls(ast.NodeVisitor):
    """Collects the calls of global functions in a file."""

    def __init__(self, path, tree):
        self.found, self.path, self.functions = [], path, []
        self.own = namespace(tree)
        self.known = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.imported = {
            name.asname or name.name
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in node.names
        }
        self.prefixes = dict(PREFIXES)
        for node in ast.walk(tree):  # `from . import _ffi_api` is the API of the package
            if isinstance(node, ast.ImportFrom) and node.level == 1 and path.startswith("ir/"):
                if any(name.name == "_ffi_api" for name in node.names):
                    self.prefixes["_ffi_api"] = "ir."
        self.visit(tree)

    def visit_FunctionDef(self, node):
        if self.path == "api.py" and not self.functions and node.name not in API:
            return
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    def visit_Call(self, node):
        self.generic_visit(node)
        name = dotted(node.func)
        arguments = ", ".join([ast.unparse(a) for a in node.args] + [ast.unparse(a) for a in node.keywords])
        if name is None:
            return
        module, _, last = name.rpartition(".")
        for passed in node.args:  # such as getitem_helper(self, _ffi_api.ArrayGetItem, ...)
            function = dotted(passed) or ""
            if function.rpartition(".")[0] in self.prefixes:
                self.found.append((self.prefixes[function.rpartition(".")[0]] + passed.attr, "by %s(%s)" % (name, arguments)))
        if module in self.prefixes:
            self.found.append((self.prefixes[module] + last, arguments))
        elif last in LOOKUPS and node.args and isinstance(node.args[0], ast.Constant):
            self.found.append((node.args[0].value, "looked up"))
        elif not module and self.own and last.startswith("_") and last not in self.known | self.imported:
            self.found.append((self.own + last, arguments))


def check(names, library):
    """Returns a line for each function that is missing, or that no test names."""
    lib, here = ctypes.CDLL(library), os.path.dirname(os.path.abspath(__file__))
    files = ["front_end.py", "front_end_values.py", "releases/calls.py", "releases/client.py", "releases/more_calls.py"]
    tests = "".join(open(os.path.join(here, file)).read() for file in files)
    for name in sorted(names):
        out = ctypes.c_void_p()
        lib.TVMFuncGetGlobal(name.encode(), ctypes.byref(out))
        if bool(out.value) == (name in NOT_OFFERED):
            yield "%s: %s" % (name, "is listed in NOT_OFFERED, but there" if out.value else "is missing")
        short = name[len("runtime."):] if name.startswith("runtime.") else name
        short = short.replace("_datatype_", "")
        if out.value and not any('"%s"' % text in tests for text in (name, short, short.lstrip("_"))):
            yield "%s: no test names it" % name


def main():
    is_quiet = sys.argv[1] == "--quiet"
    (directory, *library), names = sys.argv[1 + is_quiet:], set()
    say = (lambda line: None) if is_quiet else print
    for release in RELEASES:
        say("== " + release)
        found = set()
        for path, text in sources(directory, release):
            found.update(Calls(path, ast.parse(text)).found)
        for name, arguments in sorted(found):
            names.add(name)
            say("%s(%s)" % (name, arguments))
    faults = list(check(names, *library)) if library else []
    print("\n".join(faults) or "%d functions, each named by a test or not offered" % len(names))
    sys.exit(bool(faults))


main()
