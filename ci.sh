#!/usr/bin/env bash
# usage: ci.sh [NAME...]     runs these checks, or all of them
#        ci.sh --list        names the checks, one line each
#        ci.sh setup         installs what the checks need (as root on Debian and its like)
#
# Runs what CI runs. A check that lacks a tool fails and says what to install; none is skipped in
# silence. Logs go to target/ci/NAME.log; the last line is the sum: "N passed, N failed".
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

# name: what it does (one line for --list); functions check_NAME below.
CHECKS=(
  "fmt: every Rust file is formatted"
  "clippy: no lint, in every crate and with every set of features"
  "build: the library for C alone, with C++ symbols, and the smallest one"
  "test: the README's test command: cargo test --workspace"
  "no-std: the unit tests of core and alloc-ext without std, where they have the boards' twins and one pool of memory"
  "docs: the documentation builds without a warning"
  "headers: include/ is what the Rust sources give"
  "layout: the headers compile without a warning in every dialect, and equal upstream's layout to the byte"
  "exports: the shared object shows the symbols of upstream's C ABI and nothing else"
  "sanitizers: the C programs under address and undefined-behaviour checks"
  "valgrind: the C programs under valgrind, with a leak check"
  "parity: the good-input half of the C programs passes with upstream's library too"
  "properties: generated inputs give the same results with upstream's library and ours"
  "upstream-python: upstream's Python tests pass with our library"
  "upstream-cpp: upstream's C++ tests"
  "upstream-rust: upstream's Rust tests"
  "upstream-examples: upstream's examples"
  "upstream-checked: all these with debug assertions and overflow checks in our library"
  "upstream-asan: all these with the address sanitizer in our library and in the C++ tests"
  "cpp: C++ clients built with upstream's headers: two compilers, sanitizers, valgrind"
  "wheel: upstream's Python package runs on the library of our wheel"
  "releases: earlier releases of upstream's Python package, with their own tests, on the library of our wheel"
  "tvm-client: TVM's compiler and another C++ client, from PyPI, on the library of our wheel"
  "cross: the core builds for microcontrollers and WebAssembly"
  "minimal: the profile without a heap gives the same results as the whole library, and stays small"
  "core-size: bytes of all of ring 1, and of the smallest program with it, on a Cortex-M4F"
  "full-size: bytes of rings 1 and 2, of what compiled models add, and of what a system library needs, on a Cortex-M4F; what costs most"
  "boards: C firmware with compiled models on emulated microcontrollers and in WebAssembly"
  "platform: hooks, memory at run time and links without any C library, on emulated boards"
  "guide: the commands of the guide in targets/boards lead from a TVM model to firmware"
  "msrv: the workspace builds with the oldest compiler that it names"
  "loom: every interleaving of the lock-free parts"
  "miri: the unit tests of core, alloc-ext and, where threads count, capi have no undefined behaviour; those of alloc-ext also without std"
  "miri-cores: the unit tests of core as 32-bit and as big-endian code; those with threads in six more orders"
  "tsan: threads register and look up at once without a race"
  "arm64: unit tests and C programs as 64-bit Arm, in qemu"
  "arm32: the same as 32-bit Arm: hosts whose pointers have 4 bytes"
  "asan: the library itself built with the address sanitizer, under the C programs"
  "fuzz: every fuzz target on FUZZ_RUNS inputs, 200000 unless that says otherwise (cargo-fuzz)"
  "instructions: the main operations take no more instructions than their budgets"
  "quickstart: the first command of the README"
  "size: prints the bytes of each build"
)
# Run only when named: parts of "test", and what needs tools that take long to build.
EXTRA_CHECKS=(
  "c: the C programs, plain"
  "alloc_fail: every C symbol while the n-th allocation fails, for every n"
  "aot: compiled models against numpy's outputs"
  "xgrammar: XGrammar's own tests on the library of our wheel; downloads 6 GB"
  "deny: licences, sources and advisories of the dependencies (cargo-deny)"
)

need() { # need TOOL PACKAGE: fails loudly without it
  command -v "$1" >/dev/null && return 0
  echo "error: $1 is missing: $2"
  return 1
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

check_fmt() {
  local all one
  all=$(workspaces) || return 1
  for one in $all; do
    echo "== $one"
    cargo fmt --manifest-path "$one" --all --check -- --color never || return 1
  done
}

check_clippy() {
  cargo clippy --workspace --all-targets -- -D warnings &&
    cargo clippy -p ferrite-capi --features backend -- -D warnings &&
    cargo clippy -p ferrite-capi --features backend,cxx-abi -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features --features spin -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features --features client -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features --features defmt -- -D warnings &&
    cargo clippy -p ferrite-alloc-ext --no-default-features -- -D warnings &&
    clippy_board minimal && clippy_board core && clippy_board full && clippy_other_workspaces
}

clippy_board() { # clippy_board FEATURE: the library for microcontrollers
  cargo clippy -p ferrite-capi --no-default-features --features "$1" --profile mcu \
    --target thumbv7em-none-eabihf -- -D warnings
}

clippy_other_workspaces() {
  local all one
  all=$(workspaces) || return 1
  for one in $all; do
    echo "== $one"
    case $one in
      ./Cargo.toml) ;; # with all sets of features, above
      ./targets/boards/rust/Cargo.toml)
        clippy_at "$one" -p boards-decode && clippy_at "$one" -p boards-firmware --target thumbv7em-none-eabihf || return 1
        ;;
      *) clippy_at "$one" || return 1 ;;
    esac
  done
}

clippy_at() { # clippy_at MANIFEST [OPTION...]
  local manifest=$1
  shift
  cargo clippy --locked --manifest-path "$manifest" --target-dir "$target/clippy" "$@" -- -D warnings
}

check_build() {
  cargo build --release -p ferrite-capi --features backend && host_library release &&
    cargo build --profile mcu -p ferrite-core --no-default-features
}

check_test() { cargo test --workspace; }

# One test at a time: such builds have one thread of execution, with one raised error and one queue of what dies.
check_no-std() {
  cargo test -p ferrite-core --lib -- --test-threads=1 && cargo test -p ferrite-alloc-ext --lib -- --test-threads=1
}

check_docs() { RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps; }

check_headers() { cargo run --quiet --manifest-path capi/tools/headers/Cargo.toml -- --check; }

# Prints what the tests print: numbers of symbols, sizes, targets.
ferrite_tests() { # ferrite_tests TEST [ARGUMENT...]
  local test=$1
  shift
  cargo test -p ferrite-tests --test "$test" -- --show-output "$@"
}

check_layout() {
  need gcc "apt-get install gcc g++" && need clang "apt-get install clang" &&
    need python3 "apt-get install python3 python3-pip" && ferrite_tests layout --include-ignored
}

check_exports() {
  need nm "apt-get install binutils" && need python3 "apt-get install python3 python3-pip" &&
    ferrite_tests exports --include-ignored
}

check_c() { ferrite_tests c_programs; }

check_alloc_fail() { ferrite_tests alloc_fail; }

check_aot() { ferrite_tests aot; }

check_sanitizers() {
  need cc "apt-get install gcc" && ferrite_tests c_programs --ignored sanitized:: &&
    ferrite_tests backend --ignored sanitized && ferrite_tests aot --ignored no_model_touches
}

check_valgrind() {
  need valgrind "apt-get install valgrind" && ferrite_tests c_programs --ignored valgrind:: &&
    ferrite_tests backend --ignored valgrind && ferrite_tests aot --ignored valgrind
}

check_arm64() { arm aarch64 aarch64-unknown-linux-gnu aarch64-linux-gnu arm64; }
check_arm32() { arm arm armv7-unknown-linux-gnueabihf arm-linux-gnueabihf armhf; }

arm() { # arm EMULATED TARGET GNU DEBIAN: the names of a machine for qemu, Rust, gcc and Debian
  local target_name=$2 gcc=$3-gcc qemu="qemu-$1 -L /usr/$3" of_cargo=CARGO_TARGET_${2^^}
  need "$gcc" "apt-get install gcc-$3 libc6-dev-$4-cross" &&
    need "qemu-$1" "apt-get install qemu-user" && need_target "$target_name" || return 1
  local -x "${of_cargo//-/_}_LINKER=$gcc" "${of_cargo//-/_}_RUNNER=$qemu"
  # The one left out forks, and qemu 7.2 fails an assertion of its own when the child starts threads.
  cargo test --target "$target_name" -p ferrite-core -p ferrite-alloc-ext -p ferrite-host -p ferrite-capi \
    --features ferrite-core/std,ferrite-alloc-ext/std -- --skip a_child_makes_threads_of_its_own &&
    cargo build --release --target "$target_name" -p ferrite-capi --features backend &&
    # For backtraces: as 32-bit Arm, C has no tables to unwind by unless asked.
    CC="$gcc -funwind-tables" FERRITE_RUNNER=$qemu FERRITE_LIBRARY_DIR=$target/$target_name/release \
      ferrite_tests c_programs plain::
}

check_parity() {
  local folder
  need python3 "apt-get install python3 python3-pip" || return 1
  folder=$(tests/upstream/wheel.sh) || return 1
  CHECK_GOOD_INPUT_ONLY=1 FERRITE_LIBRARY_DIR=$folder/tvm_ffi/lib ferrite_tests c_programs plain::
}

# The same inputs each time, so that a failure comes from what changed; PROPTEST_RNG_SEED=N takes others.
check_properties() {
  need python3 "apt-get install python3 python3-pip" &&
    PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} ferrite_tests parity --include-ignored
}

# The shared object that hosts install, in a folder of its own beside the one that is C alone.
host_library() { # host_library PROFILE
  need g++ "apt-get install g++" &&
    cargo build --profile "$1" -p ferrite-capi --features backend,cxx-abi --target-dir "$target/cxx-abi"
}

upstream() { # upstream SUITE: with the library as it is released
  host_library release &&
    OUT=$target/upstream/release tests/upstream/run.sh "$target/cxx-abi/release/libtvm_ffi.so" "$1"
}

check_upstream-python() { upstream python; }
check_upstream-cpp() { upstream cpp; }
check_upstream-rust() { upstream rust; }
check_upstream-examples() { upstream examples; }

check_upstream-checked() {
  host_library checked &&
    OUT=$target/upstream/checked tests/upstream/run.sh "$target/cxx-abi/checked/libtvm_ffi.so"
}

check_upstream-asan() {
  local runtime
  need clang "apt-get install clang" || return 1
  runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
  # The library names the runtime that it needs, so that it can be linked as any other.
  build_asan backend,cxx-abi -C link-arg="$runtime" -C link-arg="-Wl,-rpath,${runtime%/*}" &&
    OUT=$target/upstream/asan tests/upstream/run.sh --asan "$asan_library"
}

check_cpp() {
  need g++ "apt-get install g++" && need clang++ "apt-get install clang" &&
    need valgrind "apt-get install valgrind" && need python3 "apt-get install python3 python3-pip" || return 1
  ferrite_tests cxx_client --include-ignored
}

build_wheel() { # the only file of $target/wheels
  need g++ "apt-get install g++" && need strip "apt-get install binutils" &&
    need python3 "apt-get install python3 python3-pip python3-venv" || return 1
  rm -rf "$target/wheels"
  CARGO_TARGET_DIR=$target/cxx-abi python3 -m pip wheel --quiet --no-deps -w "$target/wheels" targets/host/python
}

check_wheel() {
  build_wheel &&
    targets/host/python/test.sh "$target"/wheels/*.whl &&
    OUT=$target/upstream/wheel tests/upstream/run.sh "$target"/wheels/*.whl python
}

check_releases() {
  local pin name status=0
  build_wheel || return 1
  for pin in tests/upstream/pins/releases/*.txt; do
    name=$(basename "$pin" .txt)
    echo "== $name"
    OUT=$target/upstream/releases/$name tests/upstream/run.sh --release "$name" "$target"/wheels/*.whl python ||
      status=1
  done
  return $status
}

check_tvm-client() {
  build_wheel && tests/clients/run.sh "$target"/wheels/*.whl
}

check_xgrammar() {
  build_wheel && tests/clients/xgrammar/run.sh "$target"/wheels/*.whl
}

check_cross() {
  local one
  for one in "${CROSS_TARGETS[@]}"; do
    need_target "$one" || return 1
    echo "== $one"
    cargo build --release -p ferrite-core --target "$one" --no-default-features || return 1
    cargo build --release -p ferrite-alloc-ext --target "$one" --no-default-features || return 1
  done
}

check_minimal() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need_target thumbv7em-none-eabihf && ferrite_tests minimal --include-ignored
}

check_core-size() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need_target thumbv7em-none-eabihf && ferrite_tests core_size --include-ignored
}

check_full-size() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need_target thumbv7em-none-eabihf && ferrite_tests full_size --include-ignored
}

check_platform() {
  need_target thumbv7em-none-eabihf && need_target riscv32imac-unknown-none-elf && tests/platform/run.sh cortex-m4f riscv32
}

check_boards() { targets/boards/run.sh; }

check_guide() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need python3 "apt-get install python3 python3-pip python3-venv" &&
    need_target thumbv7em-none-eabihf && targets/boards/guide.sh
}

check_msrv() {
  need_toolchain "$MSRV" || return 1
  cargo "+$MSRV" check --workspace --all-targets --target-dir "$target/msrv"
}

check_loom() {
  RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3} \
    cargo test -p ferrite-tests --release --test loom --target-dir "$target/loom"
}

# Boards' JSON is left out: it is safe code, and its long numbers take half an hour.
check_miri() {
  need_toolchain "$NIGHTLY" miri rust-src || return 1
  local -x MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation"
  cargo "+$NIGHTLY" miri test -p ferrite-core -p ferrite-alloc-ext --features ferrite-core/std,ferrite-alloc-ext/std \
    --lib --target-dir "$target/miri" &&
    cargo "+$NIGHTLY" miri test -p ferrite-alloc-ext --lib --target-dir "$target/miri" -- --test-threads=1 --skip json:: &&
    cargo "+$NIGHTLY" miri test -p ferrite-capi --no-default-features --features std,functions --lib \
      --target-dir "$target/miri" -- while_others_count
}

check_miri-cores() {
  need_toolchain "$NIGHTLY" miri rust-src || return 1
  local one
  for one in i686-unknown-linux-gnu s390x-unknown-linux-gnu powerpc-unknown-linux-gnu; do
    echo "== $one"
    MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation" \
      cargo "+$NIGHTLY" miri test -p ferrite-core --features std --lib --target "$one" \
      --target-dir "$target/miri" || return 1
  done
  local seed
  for seed in {1..6}; do
    echo "== threads, in order $seed"
    MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation -Zmiri-seed=$seed" \
      cargo "+$NIGHTLY" miri test -p ferrite-core --features std --lib --target i686-unknown-linux-gnu \
      --target-dir "$target/miri" -- thread twin waits of_many || return 1
  done
}

check_tsan() {
  need_toolchain "$NIGHTLY" rust-src || return 1
  local tests=(cargo "+$NIGHTLY" test -Zbuild-std --target "$HOST_TARGET" --target-dir "$target/tsan")
  local -x RUSTFLAGS="-Zsanitizer=thread" CARGO_PROFILE_DEV_OPT_LEVEL=1
  # Null for what fits no memory, as malloc gives it.
  local -x TSAN_OPTIONS=allocator_may_return_null=1
  "${tests[@]}" -p ferrite-core --features std --lib && "${tests[@]}" -p ferrite-tests --test threads
}

asan_library=$target/asan/$HOST_TARGET/debug/libtvm_ffi.so

build_asan() { # build_asan FEATURES [FLAG...]: makes $asan_library, with these flags of rustc
  need_toolchain "$NIGHTLY" || return 1
  local features=$1
  shift
  RUSTFLAGS="-Zsanitizer=address" cargo "+$NIGHTLY" rustc -p ferrite-capi --features "$features" --lib \
    --target "$HOST_TARGET" --target-dir "$target/asan" -- "$@" || return 1
  nm -D --undefined-only "$asan_library" | grep __asan_report >/dev/null || {
    echo "error: the library has no checks in it"
    return 1
  }
}

check_asan() {
  need clang "apt-get install clang" && build_asan backend || return 1
  CC=clang FERRITE_LIBRARY_DIR=${asan_library%/*} ferrite_tests c_programs --ignored sanitized::
}

check_instructions() {
  need valgrind "apt-get install valgrind" && need python3 "apt-get install python3" && tests/bench/run.sh --budgets
}

check_quickstart() { need cc "apt-get install gcc" && cargo run --release </dev/null; }

check_size() {
  need strip "apt-get install binutils" || return 1
  cargo build --release -p ferrite-capi --features backend && host_library release || return 1
  local copy=$target/ci/stripped copy_cxx=$target/ci/stripped-cxx
  strip -o "$copy" "$target/release/libtvm_ffi.so" || return 1
  strip -o "$copy_cxx" "$target/cxx-abi/release/libtvm_ffi.so" || return 1
  echo "libtvm_ffi.so, stripped: $(stat -c %s "$copy") bytes (upstream's: 2585024)"
  size -A "$copy" | awk '$2 > 4096'
  echo "with cxx-abi: $(stat -c %s "$copy_cxx") bytes, $(($(stat -c %s "$copy_cxx") - $(stat -c %s "$copy"))) more"
  size "$copy" "$copy_cxx"
}

check_deny() {
  need cargo-deny "cargo install --locked cargo-deny" && cargo deny --all-features check
}

check_fuzz() {
  need cargo-fuzz "cargo install --locked cargo-fuzz" && need_toolchain "$NIGHTLY" || return 1
  local one
  for one in fuzz/fuzz_targets/*.rs; do
    one=$(basename "$one" .rs)
    echo "== $one"
    # The seed makes a failure come again.
    cargo "+$NIGHTLY" fuzz run --target-dir "$target/fuzz" "$one" -- -seed=1 -runs="${FUZZ_RUNS:-200000}" -timeout=60 ||
      return 1
  done
}

setup() {
  local packages=(gcc g++ make clang libclang-rt-dev valgrind binutils python3 python3-pip python3-venv util-linux
    libgtest-dev qemu-system-arm qemu-system-misc gcc-arm-none-eabi libnewlib-arm-none-eabi
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf lld nodejs
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user)
  local missing=() package
  if command -v dpkg >/dev/null; then
    for package in "${packages[@]}"; do
      dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ]; then
      apt-get update -qq
      # One by one: a package that cannot be installed takes only its own checks with it.
      for package in "${missing[@]}"; do
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package"
      done
    else
      echo "missing: sudo apt-get install ${missing[*]}"
    fi
  fi
  if ! command -v rustup >/dev/null; then
    echo "rustup is missing: see https://rustup.rs"
    return
  fi
  rustup toolchain install --no-self-update >/dev/null 2>&1 # what rust-toolchain.toml names
  rustup target add "${CROSS_TARGETS[@]}" aarch64-unknown-linux-gnu armv7-unknown-linux-gnueabihf
  rustup run "$NIGHTLY" rustc --version >/dev/null 2>&1 ||
    rustup toolchain install "$NIGHTLY" --profile minimal --no-self-update
  rustup component add --toolchain "$NIGHTLY" miri rust-src
  command -v cargo-fuzz >/dev/null || cargo install --quiet --locked cargo-fuzz
  rustup run "$MSRV" rustc --version >/dev/null 2>&1 ||
    rustup toolchain install "$MSRV" --profile minimal --no-self-update
}

# Tests that a log tells of: "passed failed"; nothing when it tells of none.
counted() {
  awk '/^test result: / { p += $4; f += $6; seen = 1 }
       /^(upstream|wheel|boards|platform|clients): [0-9]+ passed, [0-9]+ failed$/ { p += $2; f += $4; seen = 1 }
       END { if (seen) print p, f }' "$1"
}

# What a log tells of a failure: what failed tests print, without what good ones do.
told() {
  awk '/^successes:$/ { hidden = 1 } /^(failures:|test result: )/ { hidden = 0 } !hidden' "$1" |
    grep -vE '^(test .* \.\.\. ok|   Compiling|  Downloaded|$)'
}

passed=0
failed=0
run_check() {
  local name=$1 log=$logs/$1.log start=$SECONDS status=0 good bad
  "check_$name" >"$log" 2>&1 </dev/null || status=$?
  read -r good bad < <(counted "$log") || { good= && bad=; }
  if [ "$status" -eq 0 ]; then
    : "${good:=1}" "${bad:=0}"
    printf 'ok      %-17s %5d s  %s passed\n' "$name" $((SECONDS - start)) "$good"
  else
    : "${good:=0}"
    if [ "${bad:-0}" -eq 0 ]; then bad=1; fi
    printf 'FAILED  %-17s %5d s  %s passed, %s failed: %s\n' "$name" $((SECONDS - start)) "$good" \
      "$bad" "$log"
    told "$log" | tail -n 60 | sed 's/^/        /'
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
}

# These take one processor, and as long as all others together: a run of all checks has them beside the others.
BESIDE=(miri miri-cores)

begin_beside() {
  CI='' setsid "$PWD/ci.sh" "${BESIDE[@]}" >"$logs/beside.log" 2>&1 </dev/null &
  beside=$!
  trap 'kill -- "-$beside" 2>/dev/null' EXIT
}

end_beside() { # adds the lines and the sum of what `begin_beside` began
  local good bad
  wait "$beside"
  trap - EXIT
  read -r good bad < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$logs/beside.log") || { good=0 && bad=1; }
  sed -E '$s/^[0-9]+ passed, [0-9]+ failed$//; ${/^$/d}' "$logs/beside.log"
  passed=$((passed + good))
  failed=$((failed + bad))
}

names() { printf '%s\n' "$@" | sed 's/:.*//'; }

main() {
  local name selected
  case ${1:-} in
    --list)
      printf '%s\n' "${CHECKS[@]}"
      printf '%s  [only when named]\n' "${EXTRA_CHECKS[@]}"
      return
      ;;
    --help | -h)
      sed -n '2,7s/^# \{0,1\}//p' "$0"
      return
      ;;
    setup)
      setup
      return
      ;;
  esac
  if [ $# -gt 0 ]; then
    selected=("$@")
  else
    mapfile -t selected < <(names "${CHECKS[@]}" | grep -vxF "$(printf '%s\n' "${BESIDE[@]}")")
  fi
  for name in "${selected[@]}"; do
    names "${CHECKS[@]}" "${EXTRA_CHECKS[@]}" | grep -xF -- "$name" >/dev/null || {
      echo "error: no check of the name $name: see ./ci.sh --list" >&2
      return 2
    }
  done
  mkdir -p "$logs"
  local before
  if [ "${CI:-}" = true ]; then setup >"$logs/setup.log" 2>&1; fi
  before=$(git diff 2>/dev/null | sha256sum)
  if [ $# -eq 0 ]; then begin_beside; fi
  for name in "${selected[@]}"; do run_check "$name"; done
  if [ $# -eq 0 ]; then end_beside; fi
  if [ "${CI:-}" = true ] && [ "$(git diff 2>/dev/null | sha256sum)" != "$before" ]; then
    echo "FAILED  the checks changed tracked files:"
    git diff --stat | sed 's/^/        /'
    failed=$((failed + 1))
  fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

{ # read to the end before it runs: the file may change meanwhile
  main "$@"
  exit
}
