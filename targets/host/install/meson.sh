#!/usr/bin/env bash
# usage: meson.sh FOLDER
#
# Builds the library and puts it into FOLDER, for the build file of Meson. Copies that are up to
# date stay untouched.
set -euo pipefail
folder=$(cd "$1" && pwd)
target=${CARGO_TARGET_DIR:-$folder/cargo}
"$(dirname "${BASH_SOURCE[0]}")/../build.sh" --target-dir "$target"
for name in libtvm_ffi.so libtvm_ffi.a; do
  cmp --quiet "$target/release/$name" "$folder/$name" || cp "$target/release/$name" "$folder/$name"
done
