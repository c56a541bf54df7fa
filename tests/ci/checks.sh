#!/usr/bin/env bash
# usage: checks.sh NAME     runs the commands of one check: cargo xtask calls this, counts and logs
#
# Each check is a function check_NAME in a file of this folder; a command that fails ends it. Its
# comment says what it checks, and has these words for cargo xtask:
#   needs:         commands, libraries, targets and toolchains: tools.txt says how to install them
#   for:           paths whose changes can break it; by default those of the file's first comment
#   counts: one    it passes or fails as a whole: no runner of tests prints a sum
# sets.txt has the sets, in the order in which they run.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

NIGHTLY=${FERRITE_NIGHTLY:-nightly}
# Features of the Rust crates for types of other crates.
OTHER_CRATES=ferrite-ffi/half,ferrite-ffi/bytes,ferrite-ffi/ndarray,ferrite-ffi/num-bigint,ferrite-ffi/serde
DEVICE_KINDS=opencl,vulkan,cuda,rocm,metal
HOST_TARGET=x86_64-unknown-linux-gnu
MSRV=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
# Backtraces need the tables of lines; descriptions of variables would double the space of a build.
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-line-tables-only}
target=${CARGO_TARGET_DIR:-$PWD/target}
logs=$target/ci
mkdir -p "$logs"

# Checks run as from a shell: without the libraries and the toolchain that `cargo xtask` has from
# cargo.
if [ "${CARGO_PKG_NAME:-}" = xtask ]; then
  LD_LIBRARY_PATH=$(tr : '\n' <<<"${LD_LIBRARY_PATH:-}" |
    sed "\\#^$target/#d; \\#/rustlib/#d; \\#^${RUSTUP_HOME:-none}/toolchains/#d; /^\$/d" | paste -sd:)
  [ -n "$LD_LIBRARY_PATH" ] || unset LD_LIBRARY_PATH
  unset "${!CARGO_PKG_@}" CARGO CARGO_BIN_NAME CARGO_CRATE_NAME CARGO_MANIFEST_DIR CARGO_MANIFEST_PATH \
    RUSTUP_TOOLCHAIN RUSTUP_TOOLCHAIN_SOURCE RUST_RECURSION_COUNT
fi

workspaces() { # the manifests of all workspaces: the main one, tools, clients and firmware
  manifests_with '^\[workspace\]'
}

packages() { manifests_with '^\[package\]'; }

manifests_with() { # manifests_with PATTERN
  find . \( -name target -o -name '.?*' \) -prune -o -name Cargo.toml -exec grep -l "$1" {} +
}

# Runs tests and prints their output: numbers of symbols, sizes, targets.
ferrite_tests() { # ferrite_tests TEST [ARGUMENT...]
  cargo test -p ferrite-tests --test "$1" -- --show-output "${@:2}"
}

# Builds the shared object that hosts install, in a folder other than that of the one with C symbols
# only.
host_library() { # host_library PROFILE
  targets/host/build.sh --profile "$1" --target-dir "$target/cxx-abi"
}

# The only file of $target/wheels, with the command in it, and the extension for the running Python
# or, with `all`, for each.
build_wheel() { # build_wheel [all]
  rm -rf "$target/wheels"
  FERRITE_WHEEL_COMMAND=1 FERRITE_WHEEL_PYTHON=${1:-} CARGO_TARGET_DIR=$target/cxx-abi \
    python3 -m pip wheel --quiet --no-deps -w "$target/wheels" targets/host/python
}

asan_library=$target/asan/$HOST_TARGET/debug/libtvm_ffi.so

build_asan() { # build_asan FEATURES [FLAG...]: makes $asan_library, with these flags of rustc
  RUSTFLAGS="-Zsanitizer=address" cargo "+$NIGHTLY" rustc -p ferrite-ffi-capi --features "$1" --lib \
    --target "$HOST_TARGET" --target-dir "$target/asan" -- "${@:2}"
  nm -D --undefined-only "$asan_library" | grep __asan_report >/dev/null || {
    echo "error: the library has no checks in it"
    return 1
  }
}

for group in build unit platforms conformance programs devices embedded robustness bench; do
  # shellcheck source=/dev/null
  . "tests/ci/$group.sh"
done

"check_$1"
