#!/usr/bin/env bash
# usage: build.sh FOLDER [VERSION...]     builds the extension for CPython VERSION (default: 3.9 to 3.14), as files in FOLDER
#
# No interpreter is needed. CARGO_TARGET_DIR and CARGO_BUILD_TARGET are as for cargo.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
versions=("$@")
if [ $# -eq 0 ]; then versions=(3.9 3.10 3.11 3.12 3.13 3.14); fi
target=$(mkdir -p "${CARGO_TARGET_DIR:=$root/target}" && cd "$CARGO_TARGET_DIR" && pwd)
machine=${CARGO_BUILD_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}

for version in "${versions[@]}"; do
  CARGO_TARGET_DIR=$target "$root/targets/host/build.sh" --python "$version" --quiet
  folder=$target/python/$version/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}release
  cp "$folder/libferrite_python.so" "$out/ferrite_python.cpython-${version/./}-${machine%%-*}-linux-gnu.so"
done
