#!/usr/bin/env bash
# Upstream's examples that need no GPU and no PyTorch, linked and run with the library; those in C a
# second time with this library's headers.
source "$(dirname "${BASH_SOURCE[0]}")/../support/suite.sh"
# shellcheck source=support/overlay.sh
source "$support/overlay.sh"

need "${CC:-cc}" "apt-get install gcc"
need gcc "apt-get install gcc"
need g++ "apt-get install g++"
need make "apt-get install make"
need cargo "see https://rustup.rs"
start_suite examples "$@"
make_overlay
copy_tree "$work/tree"
export CARGO_TARGET_DIR=$cache/examples-cargo
start_recording 0 # most of the suite runs in CPython
run_tests run_examples --tree "$work/tree"
finish "$overlay_library"
