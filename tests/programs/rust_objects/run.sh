#!/usr/bin/env bash
# usage: run.sh WHEEL
#
# Builds the library and runs client.py on it, in a new virtual environment with the wheel and
# upstream's package.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-$here/../../../target}/c-tests/rust_objects
export PIP_DISABLE_PIP_VERSION_CHECK=1

[ $# -eq 1 ] || {
  echo "usage: run.sh WHEEL" >&2
  exit 2
}
cargo build --locked --manifest-path "$here/Cargo.toml" --target-dir "$target"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet "$1"
"$work/venv/bin/python" "$here/client.py" "$target/debug/librust_objects.so"
