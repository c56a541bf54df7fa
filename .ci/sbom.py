#!/usr/bin/env python3
"""Prints the software bill of materials of a release: a CycloneDX document of the crates in Cargo.lock that the library can have.

usage: sbom.py VERSION
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "ferrite-ffi-capi"


def metadata():
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features"]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout)


def checksums():
    """Returns the checksums of Cargo.lock by name and version."""
    text = (ROOT / "Cargo.lock").read_text()
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


def document(version):
    found = metadata()
    packages = {package["id"]: package for package in found["packages"]}
    edges = runtime_edges(found["resolve"]["nodes"])
    library = next(one for one in packages if packages[one]["name"] == LIBRARY)
    ids = sorted(reachable(library, edges), key=lambda one: reference(packages[one]))
    known = checksums()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "bom-ref": "ferrite", "name": "ferrite", "version": version},
        },
        "components": [component(packages[one], known) for one in ids],
        "dependencies": [
            {"ref": "ferrite", "dependsOn": [reference(packages[library])]},
            *(
                {"ref": reference(packages[one]), "dependsOn": sorted(reference(packages[two]) for two in edges[one])}
                for one in ids
            ),
        ],
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sbom.py VERSION")
    print(json.dumps(document(sys.argv[1]), indent=1))
