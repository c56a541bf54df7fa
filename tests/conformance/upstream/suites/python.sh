#!/usr/bin/env bash
# Upstream's tests/python, with upstream's Python package around the library.
# shellcheck source=support/suite.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/suite.sh"
# shellcheck source=support/overlay.sh
source "$support/overlay.sh"

need "${CXX:-g++}" "apt-get install g++"
need cargo "see https://rustup.rs"
start_suite python "$@"
make_overlay
copy_tree "$work/tree"
# A test builds a crate; its dependencies are cached.
export CARGO_TARGET_DIR=$cache/python-cargo
start_recording 0 # CPython never frees all of its memory
run_tests run_pytest --python "$overlay_python" --tree "$work/tree" --list "$upstream/baseline/python.txt"
finish "$overlay_library"
