#!/usr/bin/env bash
# usage: ci.sh               runs the first set: what each change must pass
#        ci.sh nightly       runs the second set: what takes long. Goes on where a run of the same sources stopped.
#                            With names, runs these of it
#        ci.sh NAME...       runs these checks
#        ci.sh --list        names the checks of both sets, one line each
#        ci.sh setup         installs what the checks need (as root on Debian and its like)
#
# A check that lacks a tool fails and says what to install; none is skipped in silence. Logs go to target/ci/NAME.log;
# the last line is the sum: "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2

CROSS_TARGETS=(thumbv6m-none-eabi thumbv7em-none-eabihf thumbv8m.main-none-eabihf
  riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf wasm32-unknown-unknown)
NIGHTLY=${FERRITE_NIGHTLY:-nightly}
HOST_TARGET=x86_64-unknown-linux-gnu
MSRV=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
target=${CARGO_TARGET_DIR:-$PWD/target}
logs=$target/ci

# name: what it does (one line for --list); functions check_NAME in tests/ci/checks.sh.
#
# The first set runs in two lanes beside each other. Checks of the second lane build in folders of their own, so that
# none overwrites a library that the other lane tests.
LANE_ONE=(
  "fmt: every Rust file is formatted"
  "clippy: no lint, in every crate and with every set of features"
  "build: the library for C alone, with C++ symbols, and the smallest one"
  "test: the README's test command: cargo test --workspace"
  "no-std: the unit tests of core and alloc-ext without std and speed, where they are small and have one pool of memory, and with one of the two"
  "docs: the documentation builds without a warning"
  "headers: include/ is what the Rust sources give"
  "layout: the headers compile without a warning in every dialect, and equal upstream's layout to the byte"
  "exports: the shared object shows the symbols of upstream's C ABI and nothing else"
  "sanitizers: the C programs under address and undefined-behaviour checks"
  "valgrind: the C programs under valgrind, with a leak check"
  "parity: the good-input half of the C programs passes with upstream's library too"
  "properties: generated inputs give the same results with upstream's library and ours"
  "cross: the core builds for microcontrollers and WebAssembly"
  "minimal: the profile without a heap gives the same results as the whole library, and stays small"
  "core-size: bytes of all of ring 1, and of the smallest program with it, on a Cortex-M4F"
  "full-size: bytes of rings 1 and 2, of what compiled models add, and of what a system library needs, on a Cortex-M4F; what costs most"
  "boards: C firmware with compiled models on emulated microcontrollers and in WebAssembly"
  "platform: hooks, memory at run time and links without any C library, on emulated boards"
  "instructions: the main operations take no more instructions than their budgets"
  "quickstart: the first command of the README"
  "size: prints the bytes of each build"
)
LANE_TWO=(
  "upstream-python: upstream's Python tests pass with our library"
  "upstream-cpp: upstream's C++ tests"
  "upstream-rust: upstream's Rust tests"
  "upstream-examples: upstream's examples"
  "cpp: C++ clients built with upstream's headers: two compilers, sanitizers, valgrind"
  "wheel: upstream's Python package runs on the library of our wheel"
  "releases: earlier releases of upstream's Python package, with their own tests, on the library of our wheel"
  "drift: releases of upstream have nothing that our library lacks, and a difference is told of"
  "tvm-client: TVM's compiler and another C++ client, from PyPI, on the library of our wheel"
  "tilelang: TileLang 0.1.11, 0.1.12 and 0.1.15 and apache-tvm-tirx, from PyPI, generate code on the library of our wheel"
  "gpu-opencl: OpenCL modules on the driver of this machine (PoCL): from Rust, from C, and compiled in process by TVM"
  "gpu-cuda: CUDA modules on a GPU if there is one, otherwise on a stand-in for its driver, which the output says; source through NVRTC"
  "gpu-rocm: ROCm modules on an AMD GPU and its driver, otherwise on a stand-in for that: from Rust and from C"
  "gpu-metal: Metal modules are type-checked and linted for aarch64-apple-darwin; on this system, what needs no framework is tested"
  "gpu-vulkan: Vulkan modules on the driver of this machine (llvmpipe): from Rust and from C, with a driver that fails at any call, under the validation layer and valgrind"
  "legacy: programs, front ends and compiled libraries of TVM 0.5 to 0.20 on the packed-function API"
  "gpu-webgpu: WebGPU modules on the Vulkan driver of this machine (llvmpipe): from Rust, from C, and compiled in process by TVM"
  "gpu-tvm-tests: TVM's own tests of device code generation and runtime modules, on the library of our wheel (PoCL)"
  "msrv: the workspace builds with the oldest compiler that it names"
  "loom: every interleaving of the lock-free parts"
  "tsan: threads register and look up at once without a race"
  "asan: the library itself built with the address sanitizer, under the C programs"
)
SECOND_SET=(
  "miri-core: the unit tests of core have no undefined behaviour"
  "miri: the unit tests of alloc-ext and, where threads count, capi have no undefined behaviour; those of alloc-ext also without std"
  "miri-cores: the unit tests of core as 32-bit and as big-endian code; those with threads in six more orders"
  "upstream-checked: upstream's suites with debug assertions and overflow checks in our library"
  "upstream-asan: upstream's suites with the address sanitizer in our library and in the C++ tests"
  "arm64: unit tests and C programs as 64-bit Arm, in qemu"
  "arm32: the same as 32-bit Arm: hosts whose pointers have 4 bytes"
  "guide: the commands of the guide in targets/boards lead from a TVM model to firmware"
  "gpu-guide: the commands of the guide in targets/gpu lead from TVM to a C program on an OpenCL device"
  "reproducible: the wheel and the library are the same bytes from another folder and cargo home, without a path of either"
  "forks: FORKS forks, 10000 unless that says otherwise, beside every kind of work of another thread (\"test\" does 100)"
  "fuzz: every fuzz target on FUZZ_RUNS inputs, 200000 unless that says otherwise (cargo-fuzz)"
  "feature-size: prints the bytes of each kind of device module"
  "gpu-checked: OpenCL, Vulkan and WebGPU with the address sanitizer in the library, also while the driver fails; OpenCL under valgrind; WebGPU linted"
  "xgrammar: XGrammar's own tests on the library of our wheel; downloads 6 GB"
  "deny: licences and sources of the dependencies (cargo-deny)"
)
# Run only when named: parts of "test", and what needs more of the network than package registries.
EXTRA_CHECKS=(
  "c: the C programs, plain"
  "alloc_fail: every C symbol while the n-th allocation fails, for every n"
  "aot: compiled models against numpy's outputs"
  "prose: comments, READMEs and subjects of commits in the words of the field"
  "advisories: known vulnerabilities of the dependencies (cargo-deny)"
)

. tests/ci/checks.sh
. tests/ci/setup.sh
. tests/ci/run.sh

names() { printf '%s\n' "$@" | sed 's/:.*//'; }

usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; }

list() {
  printf '%s\n' "${LANE_ONE[@]}" "${LANE_TWO[@]}"
  printf '%s  [nightly]\n' "${SECOND_SET[@]}"
  printf '%s  [only when named]\n' "${EXTRA_CHECKS[@]}"
}

run_first_set() {
  local one two
  mapfile -t one < <(names "${LANE_ONE[@]}")
  mapfile -t two < <(names "${LANE_TWO[@]}")
  if [ "${CI:-}" = true ]; then setup_first_set >"$logs/setup.log" 2>&1; fi
  run_lanes "${one[*]}" "${two[*]}"
}

run_second_set() { # run_second_set [NAME...]
  local all
  mapfile -t all < <(names "${SECOND_SET[@]}")
  if [ $# -gt 0 ]; then all=("$@"); fi
  resume "${all[@]}"
}

run_named() {
  local name
  for name; do
    names "${LANE_ONE[@]}" "${LANE_TWO[@]}" "${SECOND_SET[@]}" "${EXTRA_CHECKS[@]}" | grep -xF -- "$name" >/dev/null || {
      echo "error: no check of the name $name: see ./ci.sh --list" >&2
      return 2
    }
  done
  run_checks "$@"
}

main() {
  mkdir -p "$logs"
  case ${1:-} in
    --list) list ;;
    --help | -h) usage ;;
    setup)
      setup_first_set
      setup_second_set
      ;;
    '') with_sum run_first_set ;;
    nightly) with_sum run_second_set "${@:2}" ;;
    *) with_sum run_named "$@" ;;
  esac
}

{ # read to the end before it runs: the file may change meanwhile
  main "$@"
  exit
}
