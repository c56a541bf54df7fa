#!/usr/bin/env bash
# usage: wheel.sh
#
# Prints the folder of upstream's unpacked wheel (with tvm_ffi/include and tvm_ffi/lib in it),
# downloaded from PyPI the first time, checked against its sum, and kept in the cache:
# ${FERRITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrite}.
set -euo pipefail

version=0.1.15.post2
file=apache_tvm_ffi-$version-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl
sum=8ecebe749834f6ac0f2693d5964acf9ac75d0bc26e6ba64c46eb7ab00ea50fac
cache=${FERRITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrite}
folder=$cache/wheel-$version

if [ ! -e "$folder/.complete" ]; then
  python=${PYTHON:-python3}
  for tool in "$python" sha256sum flock; do
    command -v "$tool" >/dev/null || {
      echo "error: $tool is missing (apt-get install python3 python3-pip coreutils util-linux)" >&2
      exit 2
    }
  done
  mkdir -p "$cache"
  (
    flock 9
    [ -e "$folder/.complete" ] && exit 0
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps \
      --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
      --platform manylinux_2_28_x86_64 -d "$cache" "apache-tvm-ffi==$version" >&2
    echo "$sum  $cache/$file" | sha256sum --check --quiet >&2
    rm -rf "$folder"
    "$python" -m zipfile -e "$cache/$file" "$folder"
    : >"$folder/.complete"
  ) 9>"$cache/lock"
fi
echo "$folder"
