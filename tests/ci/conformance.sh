# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target and logs
#
# Conformance with upstream: layout, symbols, its own tests, its packages, and properties of both
# libraries.
# for: lib tests/conformance/upstream

# the C programs, plain
# needs: cc; for: lib tests/conformance/c tests/programs/backend
check_c() { ferrite_tests c_programs; }

# the headers compile without a warning in every dialect, and equal upstream's layout to the byte
# needs: gcc g++ clang python3; for: core capi include tests/conformance/layout
check_layout() { ferrite_tests layout --include-ignored; }

# the shared object shows the symbols of upstream's C ABI and nothing else; C programs use those for
# remote calls, also while the n-th allocation fails
# needs: nm python3 valgrind
# for: lib targets/rpc tests/conformance/exports tests/programs/rpc tests/robustness/alloc_fail
check_exports() {
  ferrite_tests exports --include-ignored
  ferrite_tests rpc_client --include-ignored
}

# docs/security.md has the table of how upstream's library and ours are hardened
# needs: readelf python3 g++
# for: capi targets/host docs/security.md tests/conformance/exports Cargo.toml; counts: one
check_hardening() {
  local folder
  host_library release
  folder=$(tests/conformance/upstream/wheel.sh)
  tests/conformance/exports/hardening.py "$folder/tvm_ffi/lib/libtvm_ffi.so" "$target/cxx-abi/release/libtvm_ffi.so" \
    docs/security.md
}

# the good-input half of the C programs passes with upstream's library too
# needs: python3; for: tests/conformance/c include
check_parity() {
  local folder
  folder=$(tests/conformance/upstream/wheel.sh)
  CHECK_GOOD_INPUT_ONLY=1 FERRITE_LIBRARY_DIR=$folder/tvm_ffi/lib ferrite_tests c_programs plain::
}

# generated inputs give the same results with upstream's library and ours
# needs: python3; for: lib tests/conformance/parity
check_properties() { # The same inputs each time, so that a failure comes from a change; PROPTEST_RNG_SEED=N selects others.
  PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} ferrite_tests parity --include-ignored
}

upstream() { # upstream SUITE: with the library as it is released
  host_library release
  OUT=$target/upstream/release tests/conformance/upstream/run.sh "$target/cxx-abi/release/libtvm_ffi.so" "$1"
}

# upstream's Python tests pass with our library
# needs: g++
check_upstream-python() { upstream python; }

# upstream's C++ tests
# needs: g++
check_upstream-cpp() { upstream cpp; }

# upstream's Rust tests
# needs: g++
check_upstream-rust() { upstream rust; }

# upstream's examples
# needs: g++
check_upstream-examples() { upstream examples; }

# C++ clients built with upstream's headers by two compilers
# needs: g++ clang++ python3; for: lib capi/cxx tests/conformance/cxx
check_cpp() { cpp_clients gcc:: clang:: every_program; }

# C++ clients without RTTI, with sanitizers, and under valgrind
# needs: g++ clang++ python3 valgrind; for: lib capi/cxx tests/conformance/cxx
check_cpp-checked() { cpp_clients no_rtti:: sanitized:: valgrind::; }

cpp_clients() { # cpp_clients NAME...: parts of the tests' names
  ferrite_tests cxx_client --include-ignored "$@"
}

# upstream's Python package runs on the library of our wheel
# needs: wheel; for: lib targets/python targets/host/python tests/conformance/upstream
check_wheel() {
  build_wheel
  command_on_request
  targets/host/python/test.sh "$target"/wheels/*.whl
  OUT=$target/upstream/wheel tests/conformance/upstream/run.sh "$target"/wheels/*.whl python
}

command_on_request() { # the wheel has the command only if it is asked for
  local plain=$logs/plain-wheel
  rm -rf "$plain"
  CARGO_TARGET_DIR=$target/cxx-abi python3 -m pip wheel --quiet --no-deps -w "$plain" targets/host/python
  python3 -m zipfile -l "$(echo "$target"/wheels/*.whl)" | grep 'scripts/ferrite '
  if python3 -m zipfile -l "$(echo "$plain"/*.whl)" | grep 'scripts/ferrite '; then return 1; fi
}

FIRST_RELEASES=(0.1.9 0.1.14.post1)

# the oldest and the newest earlier releases of upstream's Python package, with their own tests, on
# the library of our wheel
# needs: wheel
check_releases() { older_releases "${FIRST_RELEASES[@]}"; }

# the same for the releases between them
# needs: wheel
check_other-releases() {
  local pin name names=()
  for pin in tests/conformance/upstream/pins/releases/*.txt; do
    name=$(basename "$pin" .txt)
    [[ " ${FIRST_RELEASES[*]} " == *" $name "* ]] || names+=("$name")
  done
  older_releases "${names[@]}"
}

# upstream's Python package does the same with our extension as without it, a short set: CPython
# 3.11
# needs: cc g++ wheel; for: lib targets/python targets/host/python tests/conformance/python_fast
check_python-fast() {
  build_wheel
  OUT=$target/python-fast/short tests/conformance/python_fast/run.sh --short "$target"/wheels/*.whl
}

# the same with every CPython from 3.9 to 3.13 that is installed, all of upstream's tests, also with
# the address sanitizer and CPython's checks, a million calls of each kind, and generated programs
# needs: cc g++ wheel clang nightly
# for: lib targets/python targets/host/python tests/conformance/python_fast
check_python-fast-all() {
  build_wheel all
  OUT=$target/python-fast/all tests/conformance/python_fast/run.sh "$target"/wheels/*.whl
}

# our tests of the Python extension as 64-bit Arm, in Debian's CPython under qemu; the wheel for Arm
# has the extension for every CPython
# needs: aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64 aarch64-unknown-linux-gnu wheel
# for: targets/python targets/host/python tests/conformance/python_fast
check_python-arm64() {
  local wheels=$target/arm64/wheels
  rm -rf "$wheels"
  FERRITE_WHEEL_PYTHON=all CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu CARGO_TARGET_DIR=$target/arm64 \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    python3 -m pip wheel --quiet --no-deps -w "$wheels" targets/host/python
  OUT=$target/python-fast/arm64 tests/conformance/python_fast/arm64.sh "$wheels"/*.whl
}

older_releases() { # older_releases RELEASE...
  local name status=0
  build_wheel
  for name; do
    echo "== $name"
    OUT=$target/upstream/releases/$name tests/conformance/upstream/run.sh --release "$name" "$target"/wheels/*.whl python ||
      status=1
  done
  return $status
}

# releases of upstream have nothing that our library lacks, and a difference is told of
# needs: clang wheel
check_drift() {
  local wheel version newest status=0
  build_wheel
  wheel=$(echo "$target"/wheels/*.whl)
  for version in 0.1.14.post1 0.1.15.post2; do
    echo "== $version"
    tests/conformance/upstream/drift.sh "$version" "$wheel" || status=1
  done
  drift_is_found "$wheel" || status=1
  newest=$(tests/conformance/upstream/drift.sh --newest) || true
  if [ -z "$newest" ]; then
    echo "the newest release on PyPI is not known: pip index failed"
  elif [ "$newest" != 0.1.15.post2 ]; then
    echo "== $newest, the newest on PyPI: for information"
    tests/conformance/upstream/drift.sh "$newest" "$wheel" | sed 's/^drift: /sum: /' || true
  fi
  return $status
}

drift_is_found() { # drift_is_found WHEEL: a symbol and a function that its library hides are reported
  local work=$logs/drift told
  rm -rf "$work" && python3 -m zipfile -e "$1" "$work" || return 1
  sed -i 's/TVMFFIEnvTensorAlloc\x00/TVMFFIEnvTensorAlloX\x00/; s/ffi\.ListReverse/ffi.ListReversX/' \
    "$work/ferrite_tvm_ffi.libs/libtvm_ffi.so"
  told=$(tests/conformance/upstream/drift.sh 0.1.15.post2 "$work/ferrite_tvm_ffi.libs/libtvm_ffi.so") && return 1
  grep '^  TVMFFIEnvTensorAlloc: new' <<<"$told" && grep '^  global ffi.ListReverse: new' <<<"$told"
}

# programs and compiled libraries of TVM 0.5 to 0.20 on the packed-function API
# needs: valgrind libOpenCL.so.1; for: alloc-ext capi tests/conformance/legacy targets/gpu
check_legacy() {
  cargo test -p ferrite-ffi-alloc --features packed packed
  cargo test -p ferrite-ffi-legacy
  ferrite_tests legacy --include-ignored
  ferrite_tests legacy_devices --include-ignored
}

# Python front ends of five releases of TVM, from FERRITE_TVM_GIT, on the packed-function API
# for: capi/legacy tests/conformance/legacy; counts: one
check_legacy-front-ends() {
  cargo build --release -p ferrite-ffi-capi --features legacy --target-dir "$target/legacy"
  tests/conformance/legacy/run.sh "$target/legacy/release/libtvm_ffi.so"
}
