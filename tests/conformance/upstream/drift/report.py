"""Compare a release of upstream with the features of this library: see drift.sh, which prepares the folders."""

import argparse
import difflib
import json
import re
import subprocess
import sys
from pathlib import Path

from classes import classes
from headers import c_headers, declared

HERE = Path(__file__).resolve().parent

# Sections of the comparison, each with the step for a feature that is new in a release.
STEPS = {
    "C symbols": "export it from capi/src, with a C program in tests/conformance/c, and add it to tests/conformance/exports/symbols.txt",
    "C++ names": "export it from capi/cxx, with a client in tests/conformance/cxx, and add it to tests/conformance/exports/cxx-symbols.txt",
    "imports": "export it: the release's own Python extension or test library does not load without it",
    "C headers": "change the declaration in capi/src or core/src/abi, write include/ again, and complete tests/conformance/layout",
    "C++ classes": "follow the layout in alloc-ext and capi/cxx: clients read and write these objects in place",
    "functions": "add it to the FUNCTIONS of the module in alloc-ext that it belongs to, with the release's signature",
    "types": "follow it in alloc-ext/src/reflection, or in core/src/names/type_table for built-in types",
    "version": "raise it in core when the rest fits: clients ask TVMFFIGetVersion what they may use",
}


class Side:
    """A library, with the headers of its own release."""

    def __init__(self, library, include, served):
        self.library, self.include, self.served = library, include, served

    def symbols(self):
        """Return the symbols that the library exports."""
        return symbols(self.library, "--defined-only")

    def facts(self, attributes):
        """Return the library's description of itself, by section."""
        lines = subprocess.run([self.served, *attributes], text=True, capture_output=True, check=True).stdout
        found = {"functions": {}, "types": {}, "version": {}}
        sections = {"global": "functions", "version": "version"}
        for line in lines.splitlines():
            name, _, value = line.partition("\t")
            kind = name.partition(" ")[0]
            found[sections.get(kind, "types")][name] = readable(value)
        return found


def symbols(binary, *options):
    """Return dynamic symbols of TVM-FFI, by name, with the letter of their kind."""
    lines = subprocess.run(["nm", "-D", *options, binary], text=True, capture_output=True, check=True).stdout
    words = [line.split() for line in lines.splitlines()]
    return {word[-1].partition("@")[0]: word[-2] for word in words if re.search("TVMFFI|TVMBackend|3tvm", word[-1])}


def readable(value):
    """Return the value with the schema in its metadata as a signature; the schema has had two JSON forms."""
    start = value.find('{"type_schema"')
    if start < 0:
        return value
    metadata = json.loads(value[start:])
    schema = json.loads(metadata.pop("type_schema"))
    rest = f", {json.dumps(metadata, sort_keys=True)}" if metadata else ""
    return value[:start] + signature(schema) + rest


def signature(schema):
    """Format a type of a schema in one line."""
    name, args, named = schema["type"], schema.get("args"), schema.get("named_args")
    if set(schema) - {"type", "args", "named_args"} or named is not None and set(named) - {"return", "params"}:
        return json.dumps(schema, sort_keys=True)  # an unknown form
    if name == "ffi.Function" and named is not None:
        (result,), params = named["return"], named["params"]
    elif name == "ffi.Function" and args:
        result, *params = args
    else:
        return name + (f"[{', '.join(map(signature, args))}]" if args else "")
    return f"({', '.join(map(signature, params))}) -> {signature(result)}"


def c_names(side):
    return {name: "exported" for name in side.symbols() if name.startswith("TVM")}


def cxx_names(side):
    """Return names that C++ clients may link: code and data, and emitted parts of upstream's classes."""
    kinds = {name: kind for name, kind in side.symbols().items() if not name.startswith("TVM")}
    return {name: "exported" for name, kind in kinds.items() if kind in "TDBRVu"}


def imports(theirs, ours, package):
    """Return names that the release's own binaries import from the library."""
    own = {path for path in package.rglob("*.so") if path.name != "libtvm_ffi.so"}
    asked = {name for path in own for name in symbols(path, "--undefined-only")} & set(theirs.symbols())
    return {name: "exported" for name in asked}, {name: "exported" for name in asked & set(ours.symbols())}


def attribute_names(*binaries):
    """Return names of attribute columns found in the binaries."""
    pattern = re.compile(rb"__[a-z]+(?:_[a-z]+)*__")
    return sorted({name.decode() for path in binaries for name in pattern.findall(path.read_bytes())})


def compare(theirs, ours, package, base_include):
    """Yield for each section the facts of the release and of this library."""
    attributes = attribute_names(theirs.library, ours.library)
    their_facts, our_facts = theirs.facts(attributes), ours.facts(attributes)
    headers = [declared(side.include, c_headers(side.include)) for side in (theirs, ours)]
    sections = {
        "C symbols": (c_names(theirs), c_names(ours)),
        "C++ names": (cxx_names(theirs), cxx_names(ours)),
        "imports": imports(theirs, ours, package),
        "C headers": tuple(headers),
        "C++ classes": (classes(theirs.include), classes(base_include)),
    }
    return sections | {name: (their_facts[name], our_facts[name]) for name in their_facts}


def differences(theirs, ours):
    """Return features of the release that are missing or different here: reasons by name."""
    missing = {name: f"new: {value}" for name, value in theirs.items() if name not in ours}
    others = {name for name, value in theirs.items() if ours.get(name, value) != value}
    changed = {name: f"changed: {theirs[name]}\n      ours: {ours[name]}" for name in others}
    return missing | changed


def explanations(version):
    """Return the reasons by section and name, from explained/VERSION.txt."""
    path = HERE / "explained" / f"{version}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    split = [line.split(": ", 2) for line in lines if line and not line.startswith("#")]
    return {(section, name): reason for section, name, reason in split}


def changed_files(base, release):
    """Return the lines added and removed in each source file, the most changed first."""
    found = []
    for top in ("include", "src", "python", "3rdparty"):
        files = {path.relative_to(root) for root in (base, release) for path in (root / top).rglob("*") if path.is_file()}
        found += filter(None, (changed_file(base / file, release / file, file) for file in files))
    return sorted(found, reverse=True)


def changed_file(old, new, name):
    try:
        before, after = (path.read_text().splitlines() if path.exists() else [] for path in (old, new))
    except UnicodeDecodeError:
        return None
    if before == after:
        return None
    lines = list(difflib.unified_diff(before, after, n=0))[2:]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return (added + removed, f"+{added} -{removed}", str(name))


def next_steps(options, drifted):
    """Return the steps to take, in order."""
    steps = [f"{section}: {STEPS[section]}" for section in drifted]
    if drifted:
        steps.append(f"give a reason for what stays different, in drift/explained/{options.version}.txt")
    if not is_pinned(options):
        steps += [
            f"pin it, in pins/releases/{options.version}.txt:\n{pins(options)}",
            f"run its own tests: tests/conformance/upstream/run.sh --release {options.version} WHEEL python, and ./ci.sh properties",
            "name it among TESTED in targets/host/python/ferrite_tvm_ffi.py, which probes it until then",
            "run this again; when nothing is new, name the release in check_drift of tests/ci/conformance.sh",
        ]
    if not steps:
        return ["Next steps: none"]
    steps = [f"  {number}. {step}" for number, step in enumerate(steps, 1)]
    return [*where_to_look(options), "Next steps", *steps]


def where_to_look(options):
    """Return the source files that changed most since the release that this library matches."""
    changed = changed_files(options.base_sources, options.sources)
    if not changed:
        return []
    head = f"{len(changed)} files of the sources differ from those of {options.base_version}; most of all:"
    return [head, *(f"  {lines:>12}  {name}" for _, lines, name in changed[:15])]


def is_pinned(options):
    pins = HERE.parent / "pins" / "releases" / f"{options.version}.txt"
    return options.version == options.base_version or pins.exists()


def pins(options):
    """Return requirement lines that pin exactly the compared wheel and sources."""
    hashes = [f"    --hash=sha256:{digest}" for digest in options.hashes]
    return " \\\n".join([f"    apache-tvm-ffi=={options.version}", *hashes])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--base-version", required=True)
    for name in ("package", "sources", "base-package", "base-sources", "library", "include", "served", "our-served"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--hashes", nargs="*", default=[])
    options = parser.parse_args()
    theirs = Side(options.package / "lib/libtvm_ffi.so", options.package / "include", options.served)
    ours = Side(options.library, options.include, options.our_served)
    own_reasons = explanations(options.version)
    # Explained differences from the matching release also apply to other releases, until they have
    # a list.
    reasons = own_reasons or explanations(options.base_version)
    print(f"apache-tvm-ffi {options.version} and {options.library.name}")
    drifted, passed = [], 0
    for section, (wanted, served) in compare(theirs, ours, options.package, options.base_package / "include").items():
        if not wanted:
            raise SystemExit(f"error: nothing to compare of {section}")
        found = differences(wanted, served)
        explained = {name: reasons[section, name] for name in found if (section, name) in reasons}
        unexplained = {name: found[name] for name in found if name not in explained}
        counts = f"{len(wanted)} compared, {len(unexplained)} new or changed, {len(explained)} explained"
        print(f"{section}: {counts}; {len(served.keys() - wanted.keys())} in ours alone")
        for name, text in sorted(unexplained.items()):
            print(f"  {name}: {text}")
        for name, reason in sorted(explained.items()):
            print(f"  (explained) {name}: {reason}")
            own_reasons.pop((section, name), None)
        drifted += [section] if unexplained else []
        passed += not unexplained
    for section, name in own_reasons:
        print(f"there is no such difference: {section}: {name}, in drift/explained/{options.version}.txt")
    print(*next_steps(options, drifted), sep="\n")
    print(f"drift: {passed} passed, {len(drifted) + len(own_reasons)} failed")
    return bool(drifted or own_reasons)


if __name__ == "__main__":
    sys.exit(main())
