#!/usr/bin/env bash
# usage: build.sh FOLDER [VERSION...]     builds the extension for CPython VERSION (default: 3.9 to 3.14), as files in FOLDER
#
# No interpreter is needed: pyo3-ffi gets a configuration file that names the version.
# CARGO_TARGET_DIR and CARGO_BUILD_TARGET are as for cargo.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
versions=("$@")
if [ $# -eq 0 ]; then versions=(3.9 3.10 3.11 3.12 3.13 3.14); fi
target=${CARGO_TARGET_DIR:-$here/target}
machine=${CARGO_BUILD_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
mkdir -p "$target/python"

for version in "${versions[@]}"; do
  configuration=$target/python/$version.txt
  printf 'implementation=CPython\nversion=%s\nshared=true\npointer_width=64\nsuppress_build_script_link_lines=true\n' "$version" >"$configuration.new"
  # An unchanged file keeps its date, so that cargo builds nothing.
  cmp -s "$configuration.new" "$configuration" || mv "$configuration.new" "$configuration"
  PYO3_CONFIG_FILE=$configuration PYO3_BUILD_EXTENSION_MODULE=1 \
    cargo build --quiet --release --locked --manifest-path "$here/Cargo.toml" --target-dir "$target/python"
  folder=$target/python/release
  if [ -n "${CARGO_BUILD_TARGET:-}" ]; then folder=$target/python/$CARGO_BUILD_TARGET/release; fi
  cp "$folder/libferrite_python.so" "$out/ferrite_python.cpython-${version/./}-${machine%%-*}-linux-gnu.so"
done
