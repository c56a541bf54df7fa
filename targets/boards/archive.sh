#!/usr/bin/env bash
# usage: archive.sh FOLDER [BOARD...]     builds the library of every profile for these boards, or all, into FOLDER/RUST_TARGET
#
# Boards with one target of rustc share a folder: lib/PROFILE/libtvm_ffi.a, include, start-up code
# and linker scripts. The pool of the libraries has FERRITE_POOL_BYTES, or 8192 bytes; firmware adds
# memory with FerriteMemoryAdd.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
target=${CARGO_TARGET_DIR:-$root/target}
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
boards=("$@")
if [ $# -eq 0 ]; then boards=(cortex-m0 cortex-m4f cortex-m33 riscv32 riscv32imc wasm32); fi
cd "$root"

# Sets the options of cargo that choose the package of a profile.
package_of() { # package_of PROFILE
  package=(-p ferrite-ffi-capi --no-default-features --features)
  case $1 in
    minimal) package=(-p ferrite-ffi-minimal) ;;
    core) package+=(core,backend) ;;
    full) package+=(full) ;;
    modules) package+=(full,backend,modules) ;;
    relax) package+=(core,model) ;;
  esac
}

# shellcheck disable=SC2154 # the board's board.conf sets the variables
archive() { # archive BOARD
  local rust_target core profiles profile package folder link_script=targets/boards/$1/link.ld
  # shellcheck source=/dev/null
  . "targets/boards/$1/board.conf"
  folder=$out/$rust_target
  for profile in "${profiles[@]}"; do
    mkdir -p "$folder/lib/$profile"
    package_of "$profile"
    FERRITE_POOL_BYTES=${FERRITE_POOL_BYTES:-8192} cargo rustc --quiet --locked --profile mcu "${package[@]}" \
      --target "$rust_target" --crate-type staticlib
    cp "$target/$rust_target/mcu/libtvm_ffi.a" "$folder/lib/$profile/"
  done
  mkdir -p "$folder/board"
  cp -r include LICENSE "$folder/"
  if [ -f "$link_script" ]; then cp "$link_script" "$folder/board/$1.ld"; fi
  cp targets/mcu/"$core"/* targets/mcu/shared/* "$folder/board/"
}

for board in "${boards[@]}"; do
  archive "$board"
done
