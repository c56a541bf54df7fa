#!/usr/bin/env bash
# usage: build.sh [run]      builds the program; with `run`, runs it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
ferrite=${FERRITE:-@ROOT@}
target=${CARGO_TARGET_DIR:-$ferrite/target}/model

cargo build --quiet --release --manifest-path "$ferrite/Cargo.toml" --target-dir "$target" -p ferrite-ffi-capi --features @FEATURES@
firmware=$ferrite/targets/boards/firmware
# Kernels of the model call functions of libm, which libraries by export_library do not name.
"${CC:-cc}" -std=c99 -Wall -Wextra -O2 -I "$ferrite/include" -I "$firmware" main.c results.c inputs.c "$firmware/element.c" -L "$target/release" -ltvm_ffi "-Wl,-rpath,$target/release" -Wl,--no-as-needed -lm -o @NAME@

[ "${1:-}" = run ] || exit 0
./@NAME@ ./@NAME@.so
