# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target and logs
#
# Instructions and bytes.
# for: lib tests/bench

# the main operations take no more instructions than their budgets, and calls from Rust no more than
# by hand
# needs: valgrind python3; counts: one
check_instructions() {
  tests/bench/run.sh --budgets
  tests/bench/rust/run.py
}

# calls from Python take no more instructions than their limits: tests/bench/python_calls/goals.txt
# needs: valgrind g++ wheel; for: lib targets/python targets/host/python tests/bench/python_calls
# counts: one
check_python-calls() {
  build_wheel
  tests/bench/python_calls/run.sh --goals "$target"/wheels/*.whl
}

# decode steps of a language model take at most half of the instructions that they take with TVM's
# runtime, outside kernels, and no more than tests/bench/llm/limits.txt says
# needs: valgrind wheel; for: lib targets/relax tests/bench/llm tests/programs/llm; counts: one
check_llm-instructions() {
  build_wheel
  tests/bench/llm/run.sh "$target"/wheels/*.whl
}

# prints the bytes of each build
# needs: strip g++; for: lib; counts: one
check_size() {
  local copy=$logs/stripped copy_cxx=$logs/stripped-cxx
  cargo build --release -p ferrite-ffi-capi --features backend
  host_library release
  strip -o "$copy" "$target/release/libtvm_ffi.so"
  strip -o "$copy_cxx" "$target/cxx-abi/release/libtvm_ffi.so"
  echo "libtvm_ffi.so, stripped: $(stat -c %s "$copy") bytes (upstream's: 2585024)"
  size -A "$copy" | awk '$2 > 4096'
  echo "with cxx-abi: $(stat -c %s "$copy_cxx") bytes, $(($(stat -c %s "$copy_cxx") - $(stat -c %s "$copy"))) more"
  size "$copy" "$copy_cxx"
}

# prints the bytes of each kind of device module
# for: targets/gpu tests/bench/feature_sizes.sh; counts: one
check_feature-size() { tests/bench/feature_sizes.sh; }
