# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Instructions and bytes.

about instructions "the main operations take no more instructions than their budgets, and calls from Rust no more than by hand"
check_instructions() {
  need valgrind "apt-get install valgrind" && need python3 "apt-get install python3" && tests/bench/run.sh --budgets &&
    tests/bench/rust/run.py
}

about size "prints the bytes of each build"
check_size() {
  need strip "apt-get install binutils" || return 1
  cargo build --release -p ferrite-ffi-capi --features backend && host_library release || return 1
  local copy=$target/ci/stripped copy_cxx=$target/ci/stripped-cxx
  strip -o "$copy" "$target/release/libtvm_ffi.so" || return 1
  strip -o "$copy_cxx" "$target/cxx-abi/release/libtvm_ffi.so" || return 1
  echo "libtvm_ffi.so, stripped: $(stat -c %s "$copy") bytes (upstream's: 2585024)"
  size -A "$copy" | awk '$2 > 4096'
  echo "with cxx-abi: $(stat -c %s "$copy_cxx") bytes, $(($(stat -c %s "$copy_cxx") - $(stat -c %s "$copy"))) more"
  size "$copy" "$copy_cxx"
}

about feature-size "prints the bytes of each kind of device module"
check_feature-size() { tests/bench/feature_sizes.sh; }
