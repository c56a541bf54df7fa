#!/usr/bin/env bash
# usage: run.sh LIB [ARGUMENT...]
#
# Runs generated Python programs on upstream's library and on LIB, each in upstream's Python
# package, and compares them: programs.py, whose ARGUMENTs these are. With "findings" as the first,
# runs findings.py instead. The two packages go to $OUT (default target/python-programs).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../conformance/upstream/support/cache.sh
source "$here/../../conformance/upstream/support/cache.sh"

[ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh LIB [ARGUMENT...]"
library=$(realpath "$1")
shift
out=${OUT:-$here/../../../target/python-programs}

package() { # package FOLDER LIBRARY: upstream's Python package with LIBRARY in it
  rm -rf "$1"
  mkdir -p "$1"
  cp -r "$wheel"/tvm_ffi "$wheel"/*.dist-info "$1"
  cp --remove-destination "$2" "$1/tvm_ffi/lib/libtvm_ffi.so"
  "$base_python" -m compileall -q "$1" # programs start interpreters that write no bytecode
}

open_cache
ensure_environment
ensure_wheel
package "$out/upstream" "$upstream_library"
package "$out/ours" "$library"
program=programs
if [ "${1:-}" = findings ]; then
  program=findings
  shift
fi
PYTHONDONTWRITEBYTECODE=1 exec "$base_python" "$here/$program.py" "$out/upstream" "$out/ours" "$@"
