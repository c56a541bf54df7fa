#!/usr/bin/env bash
# usage: wheels.sh FOLDER [RUST_TARGET...]     builds the wheels of a release, for glibc 2.17 and later: x86-64 and AArch64
#
# They contain the command `ferrite` and the extensions of every CPython.
#
# Needs a cross compiler for AArch64 (g++-aarch64-linux-gnu) and rustc's target. Zig, which links,
# and auditwheel, which says whether a wheel keeps what its tag promises, come from PyPI, into
# target/wheel-tools, with the build backend: requirements-release.txt has their hashes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../../target}
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
targets=("$@")
if [ $# -eq 0 ]; then targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu); fi
tools=$(mkdir -p "$target" && cd "$target" && pwd)/wheel-tools
"${PYTHON:-python3}" -m venv "$tools"
"$tools/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes -r "$here/requirements-release.txt"

zig=$("$tools/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name("zig"))')

for one in "${targets[@]}"; do
  work=$(mktemp -d)
  FERRITE_WHEEL_COMMAND=1 FERRITE_WHEEL_PYTHON=all ZIG=$zig FERRITE_GLIBC=2.17 CARGO_BUILD_TARGET=$one CARGO_TARGET_DIR=$target/manylinux \
    "$tools/bin/pip" wheel --quiet --no-deps --no-build-isolation -w "$work" "$here"
  mv "$work"/*.whl "$out/"
  rmdir "$work"
done

for wheel in "$out"/*.whl; do
  tag=${wheel%.whl}
  tag=${tag##*-}
  PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$wheel" | tee "$target/auditwheel.txt"
  tr '\n' ' ' <"$target/auditwheel.txt" | grep -qF "is consistent with the following platform tag: \"$tag\"" || {
    echo "error: auditwheel does not confirm the tag $tag" >&2
    exit 1
  }
done
