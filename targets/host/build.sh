#!/usr/bin/env bash
# usage: build.sh [OPTION...]
#
# Builds libtvm_ffi.so and libtvm_ffi.a as released: for C++ clients, compiled kernels, whole models and devices. The build is reproducible: no
# path of this machine gets into the libraries, and the same sources and compilers give the same bytes in any folder. Options go
# to `cargo build`. CXX names the C++ compiler.
set -euo pipefail
profile=(--release)
case " $* " in *" --profile "*) profile=() ;; esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$root"

cargo fetch --quiet --locked
cargo_home=${CARGO_HOME:-$HOME/.cargo}
sysroot=$(rustc --print sysroot)
commit=$(rustc -vV | sed -n 's/^commit-hash: //p')

# rustc applies the last mapping that matches. Where the standard library's sources are not installed, this is their name.
remapped=("$root=." "$sysroot=/rust" "$sysroot/lib/rustlib/src/rust=/rustc/$commit")
for home in "$cargo_home" "$(cd "$cargo_home" && pwd -P)"; do
  remapped+=("$home=/cargo")
  for registry in "$home"/registry/src/*; do
    remapped+=("$registry=/cargo/registry") # the folder is named after the registry, which may be a mirror
  done
done

flags=${CARGO_ENCODED_RUSTFLAGS-$(tr -s ' ' '\037' <<<"${RUSTFLAGS:-}" | tr -d '\n')}
for one in "${remapped[@]}"; do
  flags+=${flags:+$'\037'}--remap-path-prefix=$one
done
unset RUSTFLAGS
CARGO_ENCODED_RUSTFLAGS=$flags exec cargo build "${profile[@]}" -p ferrite-ffi-capi \
  --features backend,cxx-abi,relax,opencl,vulkan,cuda,rocm "$@"
