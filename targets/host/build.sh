#!/usr/bin/env bash
# usage: build.sh [--command|--python VERSION] [OPTION...]
#
# Builds libtvm_ffi.so and libtvm_ffi.a as released: for C++ clients, compiled kernels, whole models
# and devices; with --command the command `ferrite` instead, and on Linux libferrite_kernels.a, with
# which it links models; with --python the extension of targets/python for CPython VERSION, such as
# 3.11, which needs no interpreter, in the folder python/VERSION of CARGO_TARGET_DIR. The build is
# reproducible: no path of this machine gets into the files, and the same sources and compilers give
# the same bytes in any folder. Options go to `cargo build`. CXX names the C++ compiler.
# FERRITE_GLIBC=2.17 builds for that release of glibc and later ones, and for another processor with
# `--target`; it needs zig, which ZIG names: by default `python3 -m ziglang`, PyPI's package. With
# `--target x86_64-unknown-linux-musl` the library is for C alone and needs musl-gcc, or the
# compiler that MUSL_CC names. With MUSL_LIBC, which names a device's /lib/ld-musl-*.so.1, it needs
# no compiler, for other processors either; a program looks for that file there, or at MUSL_LOADER.
# With `--target x86_64-pc-windows-gnu` it makes tvm_ffi.dll, for C alone and without devices, with
# an import library and tvm_ffi.def, from which Microsoft's `lib` makes another one; it needs MinGW
# (x86_64-w64-mingw32-gcc).
set -euo pipefail
features=backend,relax,rpc,opencl,vulkan,cuda,rocm
what=()
command_features=
manifest=Cargo.toml
python=
case ${1:-} in
  --command)
    what=(-p ferrite-ffi-cli)
    command_features=devices
    export FERRITE_PACKAGED=1
    shift
    ;;
  --python)
    python=${2:?VERSION is missing}
    manifest=targets/python/Cargo.toml
    shift 2
    ;;
esac
profile=(--release)
case " $* " in *" --profile "*) profile=() ;; esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$root"

# Prints the value of an option, or nothing.
value_of() { # value_of NAME [OPTION...]
  local name=$1
  while shift && [ $# -gt 0 ]; do
    case $1 in
      "$name") echo "${2:-}" && return ;;
      "$name"=*) echo "${1#*=}" && return ;;
    esac
  done
}

# Prints the target: that of the options, of the environment, or this machine.
target_of() { # target_of [OPTION...]
  local target
  target=$(value_of --target "$@")
  echo "${target:-${CARGO_BUILD_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}}"
}

link_for_old_glibc() { # link_for_old_glibc TARGET
  ${ZIG:-python3 -m ziglang} version >/dev/null 2>&1 || {
    echo "error: FERRITE_GLIBC needs zig: pip install ziglang==0.17.1, or name it by ZIG" >&2
    exit 2
  }
  export CARGO_BUILD_TARGET=$1
  export FERRITE_LINK_TARGET=${1/-unknown/}.$FERRITE_GLIBC
  export "$linker_variable=$root/targets/host/old_glibc.sh"
}

# Selects the CPython that the extension is for: pyo3-ffi reads a file in place of an interpreter.
# Each has a folder, so that a build for one does not undo that for another.
configure_python() { # configure_python VERSION
  local file
  mkdir -p "${CARGO_TARGET_DIR:=target}/python/$1"
  CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR/python/$1" && pwd -P)
  file=$CARGO_TARGET_DIR/cpython.txt
  printf 'implementation=CPython\nversion=%s\nshared=true\npointer_width=64\nsuppress_build_script_link_lines=true\n' "$1" >"$file.new"
  # An unchanged file keeps its date, so that cargo builds nothing.
  cmp -s "$file.new" "$file" || mv "$file.new" "$file"
  export CARGO_TARGET_DIR PYO3_CONFIG_FILE=$file PYO3_BUILD_EXTENSION_MODULE=1
}

target=$(target_of "$@")
linker_variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_LINKER
flags=${CARGO_ENCODED_RUSTFLAGS-$(tr -s ' ' '\037' <<<"${RUSTFLAGS:-}" | tr -d '\n')}
case $target in
  *-musl)
    # Rust's programs for musl are static, and have no shared libraries.
    flags+=${flags:+$'\037'}-Ctarget-feature=-crt-static
    if [ -n "${MUSL_LIBC:-}" ]; then flags+=$'\037'-Clinker-flavor=ld.lld$'\037'-Clink-self-contained=yes; fi
    MUSL_UNWINDER=$(rustc --print sysroot)/lib/rustlib/$target/lib/self-contained/libunwind.a
    export MUSL_UNWINDER "$linker_variable=${!linker_variable:-$root/targets/host/musl.sh}"
    ;;
  *-windows-*) features=backend,relax ;;
  *)
    features+=,cxx-abi
    command_features+=,cxx-abi
    ;;
esac
if [ -n "$python" ]; then
  what=(--manifest-path "$manifest")
  configure_python "$python"
elif [ ${#what[@]} -eq 0 ]; then
  what=(-p ferrite-ffi-capi --features "$features")
else
  what+=(--features "$command_features")
fi
if [ -n "${FERRITE_GLIBC:-}" ]; then link_for_old_glibc "$target"; fi
cargo fetch --quiet --locked --manifest-path "$manifest"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
sysroot=$(rustc --print sysroot)
commit=$(rustc -vV | sed -n 's/^commit-hash: //p')

# rustc applies the last mapping that matches. Where the standard library's sources are not
# installed, this is their name.
remapped=("$root=." "$sysroot=/rust" "$sysroot/lib/rustlib/src/rust=/rustc/$commit")
for home in "$cargo_home" "$(cd "$cargo_home" && pwd -P)"; do
  remapped+=("$home=/cargo")
  for registry in "$home"/registry/src/*; do
    remapped+=("$registry=/cargo/registry") # the folder is named after the registry, which may be a mirror
  done
done

for one in "${remapped[@]}"; do
  flags+=${flags:+$'\037'}--remap-path-prefix=$one
done
unset RUSTFLAGS
export CARGO_ENCODED_RUSTFLAGS=$flags
cargo build "${profile[@]}" "${what[@]}" "$@"

# Prints the folder of the built files.
built_folder() { # built_folder [OPTION...]
  local folder triple name
  folder=$(value_of --target-dir "$@")
  triple=$(value_of --target "$@")
  triple=${triple:-${CARGO_BUILD_TARGET:-}}
  name=$(value_of --profile "$@")
  if [ "$name" = dev ]; then name=debug; fi
  echo "${folder:-${CARGO_TARGET_DIR:-$root/target}}${triple:+/$triple}/${name:-release}"
}

# The archive has one object: cargo's also has functions of the compiler's library, which the
# kernels do not call.
build_kernels() { # build_kernels [OPTION...]
  local archive work object
  cargo fetch --quiet --locked --manifest-path targets/kernels/Cargo.toml
  RUSTC_WRAPPER=$root/targets/host/same_names.sh cargo rustc "${profile[@]}" \
    --manifest-path targets/kernels/Cargo.toml --crate-type staticlib "$@" -- -Ccodegen-units=1
  archive=$(built_folder "$@")/libferrite_kernels.a
  work=$(mktemp -d)
  object=$(ar t "$archive" | grep '^ferrite_kernels')
  ar p "$archive" "$object" >"$work/ferrite_kernels.o"
  ar rcsD "$work/libferrite_kernels.a" "$work/ferrite_kernels.o"
  # Cargo has a link to its file elsewhere.
  rm "$archive"
  install -m 644 "$work/libferrite_kernels.a" "$archive"
  rm -r "$work"
}

write_def() { # write_def FOLDER: the exports of tvm_ffi.dll as a module-definition file
  {
    printf 'LIBRARY tvm_ffi.dll\nEXPORTS\n'
    x86_64-w64-mingw32-objdump -p "$1/tvm_ffi.dll" | sed -n '/^\[Ordinal\/Name Pointer\]/,/^$/s/^\s*\[ *[0-9]*\].* \(\w*\)$/  \1/p'
  } >"$1/tvm_ffi.def"
}

case $target:${what[*]} in
  *-linux-*:*ferrite-ffi-cli*) build_kernels "$@" ;;
  *-windows-*) write_def "$(built_folder "$@")" ;;
esac
