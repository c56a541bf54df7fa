#!/usr/bin/env bash
# usage: build.sh [run]      builds the program; with `run`, runs it
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
# A clone of Ferrite, from which the library is built; without one, the folder of an installed
# libtvm_ffi.so of Ferrite.
root=@ROOT@ installed=@LIBRARY@
ferrite=${FERRITE:-$root}
library=${FERRITE_LIBRARY:-$installed}

if [ -n "$ferrite" ]; then
  target=${CARGO_TARGET_DIR:-$ferrite/target}/model
  cargo build --quiet --release --manifest-path "$ferrite/Cargo.toml" --target-dir "$target" -p ferrite-ffi-capi --features @FEATURES@
  library=$target/release
elif [ ! -e "$library/libtvm_ffi.so" ]; then
  echo "error: there is no libtvm_ffi.so in '$library': name the folder of Ferrite's by FERRITE_LIBRARY, or a clone by FERRITE" >&2
  exit 1
fi
# Kernels of the model call functions of libm, which libraries by export_library do not name.
"${CC:-cc}" -std=c99 -Wall -Wextra -O2 -I include main.c results.c inputs.c element.c \
  -L "$library" -ltvm_ffi -Xlinker -rpath -Xlinker "$library" -Wl,--no-as-needed -lm -o @NAME@

[ "${1:-}" = run ] || exit 0
./@NAME@ ./@NAME@.so
