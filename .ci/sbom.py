#!/usr/bin/env python3
"""Prints the software bill of materials of a release: a CycloneDX document of the crates that the library, the wheel's extension and the kernels can have.

usage: sbom.py VERSION
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Folders of workspaces, and the package of each that is released.
RELEASED = {".": "ferrite-ffi-capi", "targets/python": "ferrite-ffi-python", "targets/kernels": "ferrite-ffi-kernels"}


def metadata(folder):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features"]
    return json.loads(subprocess.run(command, cwd=ROOT / folder, capture_output=True, check=True, text=True).stdout)


def checksums():
    """Returns the checksums of the lock files by name and version."""
    text = "\n".join((ROOT / folder / "Cargo.lock").read_text() for folder in RELEASED)
    pattern = r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"'
    return {(name, version): checksum for name, version, checksum in re.findall(pattern, text)}


def runtime_edges(nodes):
    """Returns the dependencies of each package that end up in the library: neither for tests nor for build scripts."""
    return {
        node["id"]: [
            dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])
        ]
        for node in nodes
    }


def reachable(start, edges):
    found, open_ones = {start}, [start]
    while open_ones:
        for one in edges[open_ones.pop()]:
            if one not in found:
                found.add(one)
                open_ones.append(one)
    return found


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, known):
    entry = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
        "licenses": [{"expression": package["license"].replace("/", " OR ")}],
    }
    if checksum := known.get((package["name"], package["version"])):
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


def released(folder):
    """Returns the package that is released of a workspace, and what is in it: packages, and what each depends on, by reference."""
    found = metadata(folder)
    packages = {package["id"]: package for package in found["packages"]}
    edges = runtime_edges(found["resolve"]["nodes"])
    root = next(one for one in packages if packages[one]["name"] == RELEASED[folder])
    ids = reachable(root, edges)
    depends = {reference(packages[one]): {reference(packages[two]) for two in edges[one]} for one in ids}
    return reference(packages[root]), {reference(packages[one]): packages[one] for one in ids}, depends


def document(version):
    roots, packages, depends = [], {}, {}
    for folder in RELEASED:
        root, found, edges = released(folder)
        roots.append(root)
        packages |= found
        for one, others in edges.items():
            depends.setdefault(one, set()).update(others)
    known = checksums()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "bom-ref": "ferrite", "name": "ferrite", "version": version},
        },
        "components": [component(packages[one], known) for one in sorted(packages)],
        "dependencies": [
            {"ref": "ferrite", "dependsOn": roots},
            *({"ref": one, "dependsOn": sorted(depends[one])} for one in sorted(packages)),
        ],
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sbom.py VERSION")
    print(json.dumps(document(sys.argv[1]), indent=1))
