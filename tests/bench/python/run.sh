#!/usr/bin/env bash
# usage: run.sh [ROUNDS]
#
# Measures upstream's Python package with this library and with its own. Prints the table, and
# writes it to ../results/python.md. Needs the dependencies of upstream's Python tests
# (tests/conformance/upstream).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=../../conformance/upstream/support/cache.sh
source "$root/tests/conformance/upstream/support/cache.sh"

# Creates a copy of upstream's package with this library in it.
package() { # package NAME LIBRARY
  rm -rf "${build:?}/$1"
  mkdir -p "$build"
  cp -r "$wheel" "$build/$1"
  cp "$2" "$build/$1/tvm_ffi/lib/libtvm_ffi.so"
}

need cargo "see https://rustup.rs"
target=${CARGO_TARGET_DIR:-$root/target}
build=$target/bench/python
open_cache
ensure_wheel
ensure_environment
# Built like the wheel.
"$root/targets/host/build.sh" --quiet --target-dir "$target/cxx-abi" >&2
package ours "$target/cxx-abi/release/libtvm_ffi.so"
package theirs "$upstream_library"
python3 "$here/compare.py" --python "$base_python" --packages "$build" --rounds "${1:-9}" \
  --results "$here/../results/python.md"
