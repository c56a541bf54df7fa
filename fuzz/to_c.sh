#!/usr/bin/env bash
# usage: to_c.sh FILE [LIBRARY]
#
# Writes the program of a crash file of `c_symbols` in C to FILE.c, compiles it to FILE.out and runs it. LIBRARY is a file named
# libtvm_ffi.so, upstream's or ours; without it, ours is built.
set -euo pipefail
file=$(realpath "$1")
library=${2:+$(realpath "$2")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

if [ -z "$library" ]; then
  cargo build --quiet --release -p ferrite-ffi-capi --features backend
  library=$target/release/libtvm_ffi.so
fi
cargo run --quiet --manifest-path fuzz/Cargo.toml --no-default-features --target-dir "$target/differential" --bin differential -- \
  --c "$library" "$file" >"$file.c"
${CC:-cc} -std=gnu11 -g -pthread -Iinclude "$file.c" -o "$file.out" "$library" -Wl,-rpath,"$(dirname "$library")"
echo "$file.c, $file.out:"
"$file.out"
