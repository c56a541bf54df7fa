# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Conformance with upstream: layout, symbols, its own tests, its packages, and properties of both libraries.

about c "the C programs, plain"
check_c() { ferrite_tests c_programs; }

about layout "the headers compile without a warning in every dialect, and equal upstream's layout to the byte"
check_layout() {
  need gcc "apt-get install gcc g++" && need clang "apt-get install clang" &&
    need python3 "apt-get install python3 python3-pip" && ferrite_tests layout --include-ignored
}

about exports "the shared object shows the symbols of upstream's C ABI and nothing else"
check_exports() {
  need nm "apt-get install binutils" && need python3 "apt-get install python3 python3-pip" &&
    ferrite_tests exports --include-ignored
}

about hardening "docs/security.md has the table of how upstream's library and ours are hardened"
check_hardening() {
  local folder
  need readelf "apt-get install binutils" && need python3 "apt-get install python3 python3-pip" && host_library release || return 1
  folder=$(tests/conformance/upstream/wheel.sh) || return 1
  tests/conformance/exports/hardening.py "$folder/tvm_ffi/lib/libtvm_ffi.so" "$target/cxx-abi/release/libtvm_ffi.so" docs/security.md
}

about parity "the good-input half of the C programs passes with upstream's library too"
check_parity() {
  local folder
  need python3 "apt-get install python3 python3-pip" || return 1
  folder=$(tests/conformance/upstream/wheel.sh) || return 1
  CHECK_GOOD_INPUT_ONLY=1 FERRITE_LIBRARY_DIR=$folder/tvm_ffi/lib ferrite_tests c_programs plain::
}

about properties "generated inputs give the same results with upstream's library and ours"
# Runs the same inputs each time, so that a failure comes from a change; PROPTEST_RNG_SEED=N selects others.
check_properties() {
  need python3 "apt-get install python3 python3-pip" &&
    PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} ferrite_tests parity --include-ignored
}

upstream() { # upstream SUITE: with the library as it is released
  host_library release &&
    OUT=$target/upstream/release tests/conformance/upstream/run.sh "$target/cxx-abi/release/libtvm_ffi.so" "$1"
}

about upstream-python "upstream's Python tests pass with our library"
check_upstream-python() { upstream python; }

about upstream-cpp "upstream's C++ tests"
check_upstream-cpp() { upstream cpp; }

about upstream-rust "upstream's Rust tests"
check_upstream-rust() { upstream rust; }

about upstream-examples "upstream's examples"
check_upstream-examples() { upstream examples; }

about cpp "C++ clients built with upstream's headers by two compilers"
check_cpp() { cpp_clients gcc:: clang:: every_program; }

about cpp-checked "C++ clients without RTTI, with sanitizers, and under valgrind"
check_cpp-checked() { need valgrind "apt-get install valgrind" && cpp_clients no_rtti:: sanitized:: valgrind::; }

cpp_clients() { # cpp_clients NAME...: parts of the tests' names
  need g++ "apt-get install g++" && need clang++ "apt-get install clang" &&
    need python3 "apt-get install python3 python3-pip" && ferrite_tests cxx_client --include-ignored "$@"
}

about wheel "upstream's Python package runs on the library of our wheel"
check_wheel() {
  build_wheel && command_on_request &&
    targets/host/python/test.sh "$target"/wheels/*.whl &&
    OUT=$target/upstream/wheel tests/conformance/upstream/run.sh "$target"/wheels/*.whl python
}

command_on_request() { # the wheel has the command only if it is asked for
  local plain=$target/ci/plain-wheel
  rm -rf "$plain" && CARGO_TARGET_DIR=$target/cxx-abi python3 -m pip wheel --quiet --no-deps -w "$plain" targets/host/python &&
    python3 -m zipfile -l "$(echo "$target"/wheels/*.whl)" | grep 'scripts/ferrite ' &&
    ! python3 -m zipfile -l "$(echo "$plain"/*.whl)" | grep 'scripts/ferrite '
}

FIRST_RELEASES=(0.1.9 0.1.13.post3 0.1.14.post1)

about releases "the oldest and the newest earlier releases of upstream's Python package, with their own tests, on the library of our wheel"
check_releases() { older_releases "${FIRST_RELEASES[@]}"; }

about other-releases "the same for the releases between them"
check_other-releases() {
  local pin name names=()
  for pin in tests/conformance/upstream/pins/releases/*.txt; do
    name=$(basename "$pin" .txt)
    [[ " ${FIRST_RELEASES[*]} " == *" $name "* ]] || names+=("$name")
  done
  older_releases "${names[@]}"
}

older_releases() { # older_releases RELEASE...
  local name status=0
  build_wheel || return 1
  for name; do
    echo "== $name"
    OUT=$target/upstream/releases/$name tests/conformance/upstream/run.sh --release "$name" "$target"/wheels/*.whl python ||
      status=1
  done
  return $status
}

about drift "releases of upstream have nothing that our library lacks, and a difference is told of"
check_drift() {
  local wheel version newest status=0
  need clang "apt-get install clang" && build_wheel || return 1
  wheel=$(echo "$target"/wheels/*.whl)
  for version in 0.1.14.post1 0.1.15.post2; do
    echo "== $version"
    tests/conformance/upstream/drift.sh "$version" "$wheel" || status=1
  done
  drift_is_found "$wheel" || status=1
  newest=$(tests/conformance/upstream/drift.sh --newest)
  if [ -z "$newest" ]; then
    echo "the newest release on PyPI is not known: pip index failed"
  elif [ "$newest" != 0.1.15.post2 ]; then
    echo "== $newest, the newest on PyPI: for information"
    tests/conformance/upstream/drift.sh "$newest" "$wheel" | sed 's/^drift: /sum: /'
  fi
  return $status
}

drift_is_found() { # drift_is_found WHEEL: a symbol and a function that its library hides are reported
  local work=$target/ci/drift told
  rm -rf "$work" && python3 -m zipfile -e "$1" "$work" || return 1
  sed -i 's/TVMFFIEnvTensorAlloc\x00/TVMFFIEnvTensorAlloX\x00/; s/ffi\.ListReverse/ffi.ListReversX/' \
    "$work/ferrite_tvm_ffi.libs/libtvm_ffi.so"
  told=$(tests/conformance/upstream/drift.sh 0.1.15.post2 "$work/ferrite_tvm_ffi.libs/libtvm_ffi.so") && return 1
  grep '^  TVMFFIEnvTensorAlloc: new' <<<"$told" && grep '^  global ffi.ListReverse: new' <<<"$told"
}

about legacy "programs and compiled libraries of TVM 0.5 to 0.20 on the packed-function API"
check_legacy() {
  need valgrind "apt-get install valgrind" &&
    need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    cargo test -p ferrite-ffi-alloc --features packed packed && cargo test -p ferrite-ffi-capi --features legacy legacy:: &&
    ferrite_tests legacy --include-ignored && ferrite_tests legacy_devices --include-ignored
}

about legacy-front-ends "Python front ends of five releases of TVM, from FERRITE_TVM_GIT, on the packed-function API"
check_legacy-front-ends() {
  cargo build --release -p ferrite-ffi-capi --features legacy --target-dir "$target/legacy" &&
    tests/conformance/legacy/run.sh "$target/legacy/release/libtvm_ffi.so"
}
