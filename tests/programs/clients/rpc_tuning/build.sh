#!/usr/bin/env bash
# usage: build.sh FOLDER
#
# Builds the command `ferrite` for the machines of machines.py: FOLDER/MACHINE/ferrite. Those for
# musl are linked dynamically, but for `static`. musl's loader for 64-bit Arm is that of Debian's
# package, which is unpacked into the cache and not installed.
# shellcheck source=../../../conformance/upstream/support/cache.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../../conformance/upstream/support/cache.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)

add_machine() { # add_machine NAME BUILD TRIPLE: of a finished build
  mkdir -p "$folder/$1"
  ln -sf "$folder/$2/$3/debug/ferrite" "$folder/$1/ferrite"
}

build_plain() { # build_plain NAME TRIPLE
  cargo build -p ferrite-ffi-cli --target "$2" --target-dir "$folder/plain"
  add_machine "$1" plain "$2"
}

build_for_musl() { # build_for_musl NAME TRIPLE
  "$root/targets/host/build.sh" --command --profile dev --target "$2" --target-dir "$folder/for-musl"
  add_machine "$1" for-musl "$2"
}

unpack_musl() { # unpack_musl FOLDER
  unpack_arm64_packages "$1" musl
}

[ $# -eq 1 ] || die "usage: build.sh FOLDER"
need aarch64-linux-gnu-gcc "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
need musl-gcc "apt-get install musl-tools"
need apt-get "this runs on Debian and its derivatives"
open_cache
folder=$(mkdir -p "$1" && cd "$1" && pwd -P)
musl=$cache/musl-arm64-$(dpkg-query -W -f '${Version}' musl | key)
once "$musl" unpack_musl
cd "$root"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
build_plain arm64 aarch64-unknown-linux-gnu
build_plain static x86_64-unknown-linux-musl
build_for_musl musl x86_64-unknown-linux-musl
MUSL_LIBC=$musl/root/lib/ld-musl-aarch64.so.1 build_for_musl arm64-musl aarch64-unknown-linux-musl
ln -sfn "$musl/root" "$folder/arm64-musl/root"
