"""Interface of a folder of headers for C programs: functions, types with their layout, constants and macros."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

CLANG = os.environ.get("CLANG", "clang")
# Names of the library; declarations of system headers are ignored.
OURS = re.compile(r"_?k?(TVM|DL)")
NUMBER = re.compile(r"\(?-?(0x[0-9a-fA-F]+|\d+)[uUlL]*\)?")


def c_headers(folder):
    """Return the headers that compile as C, as included by programs."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.h"))
    return [name for name in names if clang(folder, f"#include <{name}>\n", "-fsyntax-only", "-w") is not None]


def clang(folder, source, *options):
    """Return clang's output for a C program; None if it fails."""
    command = [CLANG, "-x", "c", "-std=c11", *options, "-I", folder, "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def declared(folder, headers):
    """Return facts by name."""
    source = "".join(f"#include <{name}>\n" for name in headers)
    tree = json.loads(clang(folder, source, "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"))
    nodes = {node["id"]: node for node in tree["inner"] if "id" in node}
    facts = {f"header {name}": "compiles as C" for name in headers}
    numbers = {}
    for node in tree["inner"]:
        name = node.get("name", "")
        if node["kind"] == "EnumDecl":
            constants = [inner["name"] for inner in node.get("inner", []) if inner["kind"] == "EnumConstantDecl"]
            numbers.update({f"constant {constant}": constant for constant in constants if OURS.match(constant)})
        elif not OURS.match(name):
            continue
        elif node["kind"] == "FunctionDecl":
            facts[f"function {name}"] = spelled(node["type"]["qualType"])
        elif node["kind"] == "TypedefDecl":
            if "*" in node["type"]["qualType"]:
                facts[f"type {name}"] = spelled(node["type"]["qualType"])
            else:
                numbers[f"type {name}"] = f"sizeof({name})"
                numbers.update(members(name, record_of(node, nodes)))
    facts.update(macros(folder, source))
    facts.update(evaluated(folder, source, numbers))
    return facts


def spelled(text):
    """Return a type without tags, which C++ omits, and with `(void)` for no parameters."""
    return re.sub(r"\b(struct|enum|union) ", "", text).replace("()", "(void)")


def record_of(typedef, nodes):
    """Return the definition of the struct or union behind a typedef; an empty node for other typedefs."""
    owned = [node.get("ownedTagDecl") or node.get("decl") or {} for node in walk(typedef)]
    ids = {decl["id"] for decl in owned if decl.get("kind") == "RecordDecl"}
    tags = {nodes[id]["name"] for id in ids if "name" in nodes.get(id, {})}  # the typedef may precede the definition
    for node in nodes.values():
        is_wanted = node["id"] in ids or node.get("name") in tags
        if node["kind"] == "RecordDecl" and is_wanted and node.get("completeDefinition"):
            return node
    return {}


def walk(node):
    yield node
    for inner in node.get("inner", []):
        yield from walk(inner)


def members(name, record):
    """Return expressions for the offset and size of each member, including those of anonymous unions."""
    found = {}
    for node in record.get("inner", []):
        if node["kind"] in ("FieldDecl", "IndirectFieldDecl") and node.get("name"):
            member = node["name"]
            found[f"member {name}.{member}"] = f"offsetof({name}, {member}) * 1000000LL + sizeof((({name}*)0)->{member})"
    return found


def macros(folder, source):
    """Return numeric macros with their values, and the names of the others."""
    found = {}
    for line in clang(folder, source, "-E", "-dM").splitlines():
        name, _, value = line.removeprefix("#define ").partition(" ")
        if OURS.match(name) and "(" not in name and not name.endswith("_H_"):
            found[f"macro {name}"] = value if NUMBER.fullmatch(value) else "no number"
    return found


def evaluated(folder, source, numbers):
    """Return the values of expressions, with offsets and sizes separated again."""
    lines = [f'  printf("%lld\\n", (long long)({expression}));\n' for expression in numbers.values()]
    program = f"#include <stdio.h>\n#include <stddef.h>\n{source}int main(void) {{\n{''.join(lines)}  return 0;\n}}\n"
    with tempfile.TemporaryDirectory() as work:
        path = Path(work, "numbers")
        if clang(folder, program, "-w", "-o", str(path)) is None:
            raise SystemExit(f"error: what {folder} declares cannot be evaluated")
        values = subprocess.run([path], text=True, capture_output=True, check=True).stdout.split()
    return {name: layout(name, int(value)) for name, value in zip(numbers, values, strict=True)}


def layout(name, value):
    if name.startswith("member "):
        return "offset %d, size %d" % divmod(value, 1_000_000)
    return f"{value} bytes" if name.startswith("type ") else str(value)
