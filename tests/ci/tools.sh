# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Shared by the checks: required tools, and libraries to build. Sourced by ci.sh.

need() { # need TOOL PACKAGE: fails loudly without it
  command -v "$1" >/dev/null && return 0
  echo "error: $1 is missing: $2"
  return 1
}

need_library() { # need_library SONAME HOW: fails loudly without it
  ldconfig -p | grep -F "$1 " >/dev/null || {
    echo "error: $1 is missing: $2"
    return 1
  }
}

need_toolchain() { # need_toolchain TOOLCHAIN [COMPONENT...]
  need rustup "see https://rustup.rs" || return 1
  local toolchain=$1 component
  shift
  rustup run "$toolchain" rustc --version >/dev/null 2>&1 || {
    echo "error: the toolchain is missing: rustup toolchain install $toolchain --profile minimal"
    return 1
  }
  for component in "$@"; do
    rustup component list --toolchain "$toolchain" --installed | grep "^$component" >/dev/null || {
      echo "error: a component is missing: rustup component add $component --toolchain $toolchain"
      return 1
    }
  done
}

need_target() {
  rustup target list --installed ${2:+--toolchain "$2"} | grep -x "$1" >/dev/null || {
    echo "error: a target is missing: rustup target add $1 ${2:+--toolchain $2}"
    return 1
  }
}

workspaces() { # the manifests of all workspaces: the main one, tools, clients and firmware
  find . \( -name target -o -name '.?*' \) -prune -o -name Cargo.toml -exec grep -l '^\[workspace\]' {} +
}

# Runs tests and prints their output: numbers of symbols, sizes, targets.
ferrite_tests() { # ferrite_tests TEST [ARGUMENT...]
  local test=$1
  shift
  cargo test -p ferrite-tests --test "$test" -- --show-output "$@"
}

# Builds the shared object that hosts install, in a folder other than that of the one with C symbols only.
host_library() { # host_library PROFILE
  need g++ "apt-get install g++" && targets/host/build.sh --profile "$1" --target-dir "$target/cxx-abi"
}

build_wheel() { # the only file of $target/wheels, with the command in it
  need g++ "apt-get install g++" && need strip "apt-get install binutils" &&
    need python3 "apt-get install python3 python3-pip python3-venv" || return 1
  rm -rf "$target/wheels"
  FERRITE_WHEEL_COMMAND=1 CARGO_TARGET_DIR=$target/cxx-abi python3 -m pip wheel --quiet --no-deps -w "$target/wheels" targets/host/python
}

asan_library=$target/asan/$HOST_TARGET/debug/libtvm_ffi.so

build_asan() { # build_asan FEATURES [FLAG...]: makes $asan_library, with these flags of rustc
  need_toolchain "$NIGHTLY" || return 1
  local features=$1
  shift
  RUSTFLAGS="-Zsanitizer=address" cargo "+$NIGHTLY" rustc -p ferrite-ffi-capi --features "$features" --lib \
    --target "$HOST_TARGET" --target-dir "$target/asan" -- "$@" || return 1
  nm -D --undefined-only "$asan_library" | grep __asan_report >/dev/null || {
    echo "error: the library has no checks in it"
    return 1
  }
}
