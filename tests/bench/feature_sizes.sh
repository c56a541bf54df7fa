#!/usr/bin/env bash
# usage: feature_sizes.sh [--record] [KIND...]
#
# Prints the bytes of the stripped library without device kinds, with each kind alone, and with all
# of them; the kinds are those that capi has a feature for, or the named ones. With --record, the
# table goes to results/features.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}/features

command -v strip >/dev/null || {
  echo "error: strip is missing: apt-get install binutils" >&2
  exit 2
}

kinds() { # the features of capi that bring a kind of device module
  sed -n 's/^\([a-z0-9-]*\) = \[.*"ferrite-ffi-gpu\/.*/\1/p' "$root/capi/Cargo.toml"
}

bytes() { # bytes FEATURES: sets `size`
  local copy=$target/stripped
  cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p ferrite-ffi-capi --features "$1" --target-dir "$target"
  strip -o "$copy" "$target/release/libtvm_ffi.so"
  size=$(stat -c %s "$copy")
}

grouped() { sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta' <<<"$1"; }

row() { # row NAME FEATURES
  bytes "$2"
  echo "| $1 | $(grouped "$size") | $(grouped "$((size - base))") |"
}

table() {
  local kind all=backend
  bytes backend
  base=$size
  echo "# Bytes of each kind of device module"
  echo
  echo "Made by \`tests/bench/feature_sizes.sh --record\`: \`libtvm_ffi.so\` for $(rustc -vV | sed -n 's/^host: //p'), as released, stripped, with"
  echo "\`backend\` and the kind. A kind alone brings what all share: payloads, launches, modules, the functions \`runtime.*\`."
  echo
  echo "| Build | Bytes | More |"
  echo "|---|---:|---:|"
  echo "| no kind | $(grouped "$base") | |"
  for kind; do
    row "\`$kind\`" "backend,$kind"
    all+=,$kind
  done
  [ $# -lt 2 ] || row "all of these" "$all"
}

record=
if [ "${1:-}" = --record ]; then
  record=$here/results/features.md
  shift
fi
chosen=("$@")
[ $# -gt 0 ] || mapfile -t chosen < <(kinds)
mkdir -p "$target"
table "${chosen[@]}" | tee "$target/table.md"
[ -z "$record" ] || cp "$target/table.md" "$record"
