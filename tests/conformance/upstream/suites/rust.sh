#!/usr/bin/env bash
# The tests of upstream's Rust crates.
#
# The crates' build scripts get the library's folder from tvm-ffi-config, found on PATH. Here it is
# a build folder, the same in every run, in which the library is exchanged: upstream's while the
# test programs are built, this one while they run. Documentation tests are linked with this
# library.
source "$(dirname "${BASH_SOURCE[0]}")/../support/suite.sh"

use_library() { # use_library LIB FOLDER
  mkdir -p "$2"
  cp "$1" "$2/new"
  mv "$2/new" "$2/libtvm_ffi.so"
}

list_programs='
import json, sys
for message in map(json.loads, sys.stdin):
    target = message.get("target")
    # A procedural macro does not use the library.
    if message.get("executable") and target["kind"] != ["proc-macro"]:
        kind = "" if target["kind"] == ["test"] else "-" + target["kind"][0]
        print(target["name"] + kind, message["executable"], sep="\t")
'

build_tests() {
  local name path
  mkdir "$1/bin" "$1/programs"
  cp -a "$sources/rust" "$1/rust"
  cp "$pins/Cargo.lock" "$1/rust/Cargo.lock"
  use_library "$upstream_library" "$1/lib"
  cp "$wheel/tvm_ffi/lib/libtvm_ffi_testing.so" "$1/lib/"
  printf '#!/bin/sh\n[ "$*" = --libdir ] && echo "%s"\n' "$1/lib" >"$1/bin/tvm-ffi-config"
  chmod 755 "$1/bin/tvm-ffi-config"
  (cd "$1/rust" && cargo test --quiet --locked --no-run --message-format=json) |
    "$base_python" -c "$list_programs" >"$1/programs.tsv"
  while IFS=$'\t' read -r name path; do
    cp "$path" "$1/programs/$name"
    LD_LIBRARY_PATH=$1/lib "$path" --list --format terse >"$1/programs/$name.tests" 2>/dev/null
  done <"$1/programs.tsv"
  [ -s "$1/programs.tsv" ] || die "no test program was built"
}

need cargo "see https://rustup.rs"
start_suite rust "$@"
# Bound lazily, so that a missing function fails only the tests that call it.
export RUSTFLAGS='-C relro-level=partial -C link-arg=-Wl,-z,lazy'
build=$cache/rust-$(cat "$0" "$pins/Cargo.lock" "$upstream_pin" - <<<"$(rustc -vV)" | key)
export PATH=$build/bin:$PATH CARGO_TARGET_DIR=$build/target
once "$build" build_tests

use_library "$library" "$build/lib"
export LD_LIBRARY_PATH=$build/lib
start_recording 1
run_tests run_libtest --cwd "$build/rust/tvm-ffi" --programs "$build/programs" --list "$upstream/baseline/rust.txt"
unset LD_LIBRARY_PATH
finish "$build/lib/libtvm_ffi.so"
