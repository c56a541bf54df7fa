#!/usr/bin/env bash
# usage: to_c.sh FILE [LIBRARY]
#
# Writes the program of a crash file of `c_symbols` in C to FILE.c, compiles it to FILE.out and runs
# it. LIBRARY is a file named libtvm_ffi.so, upstream's or ours; without it, ours is built with the
# API of TVM 0.5 to 0.20. A library without that API makes a program without the steps that call it,
# and the script says so.
set -euo pipefail
file=$(realpath "$1")
library=${2:+$(realpath "$2")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

if [ -z "$library" ]; then
  # In the folder of the tests of that API, so that the default build stays as it is.
  cargo build --quiet --release -p ferrite-ffi-capi --features legacy --target-dir "$target/legacy"
  library=$target/legacy/release/libtvm_ffi.so
fi
cargo run --quiet --manifest-path fuzz/Cargo.toml --no-default-features --target-dir "$target/differential" --bin differential -- \
  --c "$library" "$file" >"$file.c"
${CC:-cc} -std=gnu11 -g -pthread -Iinclude "$file.c" -o "$file.out" "$library" -Wl,-rpath,"$(dirname "$library")"
echo "$file.c, $file.out:"
"$file.out"
