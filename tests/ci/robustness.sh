# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target, logs, NIGHTLY and HOST_TARGET
#
# Failing allocations, sanitizers, threads, forks and fuzzing.
# for: lib tests/robustness tests/conformance/c

# every C symbol and every global function while the n-th allocation fails, for every n
# for: lib tests/robustness/alloc_fail
check_alloc_fail() { ferrite_tests alloc_fail; }

# FORKS forks, 10000 unless that says otherwise, beside every kind of work of another thread ("test"
# does 100)
# needs: cc; for: lib tests/robustness/forks
check_forks() { FORKS=${FORKS:-10000} ferrite_tests forks --test-threads=1; }

# signals at every instruction, small stacks, exits, two copies, bad files, refused resources
# ("test" has fewer exits)
# needs: cc; for: lib tests/robustness
check_faults() { EXITS=${EXITS:-400} ferrite_tests faults --test-threads=1; }

# known bugs, planted in a copy of the sources one by one: a suite finds each
# needs: python3; for: core alloc-ext tests/robustness/planted
check_planted() { tests/robustness/planted/planted.py; }

# PROGRAMS generated Python programs, 2000 unless that says otherwise, do the same with upstream's
# library and ours
# needs: g++ cc python3; for: lib tests/robustness/python
check_python-programs() {
  local library=$target/cxx-abi/release/libtvm_ffi.so run=tests/robustness/python/run.sh status=0
  host_library release
  damage_is_found 's/IndexError/IndexErroX/' && damage_is_found 's/\xb9\x79\x37\x9e/\xb8\x79\x37\x9e/g' || status=1
  $run "$library" findings || status=1
  $run "$library" --programs "${PROGRAMS:-2000}" --seconds 3600 || status=1
  return $status
}

damage_is_found() { # damage_is_found EDIT: programs differ with a library that sed changes like that: a kind of error, a constant of hashes
  local damaged=$logs/damaged/libtvm_ffi.so
  mkdir -p "${damaged%/*}" && LC_ALL=C sed "$1" "$library" >"$damaged" || return 1
  ! cmp -s "$library" "$damaged" && ! $run "$damaged" --programs 10 --seconds 60 --topic containers structural >"$logs/damaged/log" &&
    grep -q ': different$' "$logs/damaged/log" || {
    echo "error: programs do the same with a library that is damaged by $1"
    return 1
  }
}

# counts, values, strings and the name table: unit tests fail on every mutant, or it says why not
# (cargo-mutants)
# needs: cargo-mutants; for: core tests/robustness/planted
check_mutants() { tests/robustness/planted/mutants.py; }

# the C programs under address and undefined-behaviour checks
# needs: cc; for: lib tests/conformance/c tests/programs/aot tests/programs/backend
check_sanitizers() {
  ferrite_tests c_programs --ignored sanitized::
  ferrite_tests backend --ignored sanitized
  ferrite_tests aot --ignored no_model_touches
}

# the C programs under valgrind, with a leak check
# needs: valgrind; for: lib tests/conformance/c tests/programs/aot tests/programs/backend
check_valgrind() {
  ferrite_tests c_programs --ignored valgrind::
  ferrite_tests backend --ignored valgrind
  ferrite_tests aot --ignored valgrind
}

# the library itself built with the address sanitizer, under the C programs; programs of safe Rust
# under it
# needs: clang nightly; for: lib targets/rust targets/relax tests/conformance/c
check_asan() {
  build_asan backend
  CC=clang FERRITE_LIBRARY_DIR=${asan_library%/*} ferrite_tests c_programs --ignored sanitized::
  RUSTFLAGS="-Zsanitizer=address" cargo "+$NIGHTLY" test -p ferrite-ffi --features relax --test safe --target "$HOST_TARGET" \
    --target-dir "$target/asan"
}

# upstream's suites with debug assertions and overflow checks in our library
# needs: g++; for: lib tests/conformance/upstream
check_upstream-checked() {
  host_library checked
  OUT=$target/upstream/checked tests/conformance/upstream/run.sh "$target/cxx-abi/checked/libtvm_ffi.so"
}

# upstream's suites with the address sanitizer in our library and in the C++ tests
# needs: clang nightly; for: lib tests/conformance/upstream
check_upstream-asan() {
  local runtime
  runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
  # The library names the runtime that it needs, so that programs can link it like any other.
  build_asan backend,cxx-abi -C link-arg="$runtime" -C link-arg="-Wl,-rpath,${runtime%/*}"
  OUT=$target/upstream/asan tests/conformance/upstream/run.sh --asan "$asan_library"
}

# threads register and look up at once without a race, and programs of safe Rust have none
# needs: nightly+rust-src; for: lib targets/rust targets/relax
check_tsan() {
  local tests=(cargo "+$NIGHTLY" test -Zbuild-std --target "$HOST_TARGET" --target-dir "$target/tsan")
  export RUSTFLAGS="-Zsanitizer=thread" CARGO_PROFILE_DEV_OPT_LEVEL=1
  # malloc returns null for sizes that fit no memory.
  export TSAN_OPTIONS=allocator_may_return_null=1
  # The sanitizer's heap writes the zeros of calloc.
  "${tests[@]}" -p ferrite-ffi-core --features std --lib -- --skip pages_of_a_large_block_are_not_committed
  "${tests[@]}" -p ferrite-tests --test threads
  "${tests[@]}" -p ferrite-ffi --features relax --test safe
}

# every interleaving of the lock-free parts
# for: core alloc-ext targets/host/src tests/robustness/loom
check_loom() {
  RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3} \
    cargo test -p ferrite-tests --release --test loom --target-dir "$target/loom"
}

# every fuzz target on FUZZ_RUNS inputs, 200000 unless that says otherwise, for at most
# FUZZ_SECONDS, 300 (cargo-fuzz)
# needs: cargo-fuzz nightly; for: lib fuzz targets/relax targets/rpc targets/gpu; counts: one
check_fuzz() { fuzz_targets "-runs=${FUZZ_RUNS:-200000}" "-max_total_time=${FUZZ_SECONDS:-300}"; }

# the kept inputs of every fuzz target, under the address sanitizer (cargo-fuzz)
# needs: cargo-fuzz nightly; for: lib fuzz targets/relax targets/rpc targets/gpu; counts: one
check_corpus() { fuzz_targets -runs=0; }

# CORPUS_INPUTS kept inputs, 4 unless that says otherwise, of each fuzz target that needs no C
# symbols, under Miri
# needs: nightly+miri+rust-src; for: core alloc-ext fuzz targets/relax targets/rpc targets/gpu
check_corpus-miri() {
  fuzz/corpus.py unpack
  CORPUS_INPUTS=${CORPUS_INPUTS:-4} miri --manifest-path fuzz/Cargo.toml --no-default-features --features targets --test corpus \
    -- --show-output
}

# Where `fuzz/corpus.py unpack` writes the kept inputs, by target.
KEPT_INPUTS=fuzz/target/corpus

fuzz_targets() { # fuzz_targets ARGUMENT...: of libFuzzer
  local one found
  fuzz/corpus.py unpack
  # An input may ask for any number of bytes: more than this is refused, as on a machine that has no
  # more.
  export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024
  for one in fuzz/fuzz_targets/*.rs; do
    one=$(basename "$one" .rs)
    echo "== $one"
    # New inputs go to the first folder, so that the kept ones stay as they are.
    found=$target/fuzz-corpus/$one
    rm -rf "$found"
    mkdir -p "$found" "$KEPT_INPUTS/$one"
    # The fixed seed makes a failure reproducible.
    cargo "+$NIGHTLY" fuzz run --target-dir "$target/fuzz" "$one" "$found" "$KEPT_INPUTS/$one" -- -seed=1 -timeout=60 "$@"
  done
}

# programs of C calls give the same with upstream's library and ours, except for listed differences,
# and the same in C
# needs: python3 cc; for: lib fuzz targets/relax targets/gpu
check_differential() {
  # From the kept corpus, and DIFFERENTIAL_RUNS more from a fixed seed, 3000 unless that says
  # otherwise. Upstream has no API of TVM 0.5 to 0.20: the library that is compared with it has none
  # either, but the one whose programs are written in C.
  local upstream ours=$target/release/libtvm_ffi.so legacy=$target/legacy/release/libtvm_ffi.so
  local fuzz=(--manifest-path fuzz/Cargo.toml --no-default-features --target-dir "$target/differential")
  upstream=$(tests/conformance/upstream/wheel.sh)/tvm_ffi/lib/libtvm_ffi.so
  cargo build --release -p ferrite-ffi-capi --features backend
  cargo build --release -p ferrite-ffi-capi --features legacy --target-dir "$target/legacy"
  fuzz/corpus.py unpack
  FERRITE_LIBRARY=$legacy cargo test "${fuzz[@]}" -- --include-ignored
  crash_file_becomes_c "$upstream"
  fuzz/findings/run.sh "$upstream" "$ours"
  cargo run "${fuzz[@]}" --bin differential -- "$upstream" "$ours" --runs "${DIFFERENTIAL_RUNS:-3000}" "$KEPT_INPUTS/c_symbols"
}

crash_file_becomes_c() { # crash_file_becomes_c UPSTREAM: the script writes the steps that a library has, and says which it has not
  local file=$logs/to-c/legacy-calls told
  cargo run "${fuzz[@]}" --bin seeds -- "${file%/*}"
  told=$(fuzz/to_c.sh "$file" 2>&1) && grep -q '^0 Legacy: ok ffi.Function$' <<<"$told" &&
    told=$(fuzz/to_c.sh "$file" "$1" 2>&1) && grep -q 'left out the [0-9]* steps' <<<"$told" && ! grep -q ' Legacy: ' <<<"$told" || {
    echo "$told"
    echo "error: to_c.sh writes other steps than the library has"
    return 1
  }
}

# lines, branches and functions of each crate that the kept programs of C calls reach: every C
# symbol among them, also those of TVM 0.5 to 0.20
# needs: nightly+llvm-tools python3; for: lib fuzz
check_coverage() {
  local work=$target/coverage tools library
  library=$work/$HOST_TARGET/debug/libtvm_ffi.so
  tools=$(rustc "+$NIGHTLY" --print sysroot)/lib/rustlib/$HOST_TARGET/bin
  RUSTFLAGS="-C instrument-coverage -Z coverage-options=branch" cargo "+$NIGHTLY" build -p ferrite-ffi-capi --features backend,legacy \
    --target "$HOST_TARGET" --target-dir "$work"
  cargo build --manifest-path fuzz/Cargo.toml --no-default-features --target-dir "$target/differential" --bin differential
  fuzz/corpus.py unpack
  LLVM_PROFILE_FILE=$work/programs.profraw "$target/differential/debug/differential" --run "$library" "$KEPT_INPUTS/c_symbols" 2>/dev/null
  "$tools/llvm-profdata" merge -sparse "$work/programs.profraw" -o "$work/programs.profdata"
  "$tools/llvm-cov" export --instr-profile "$work/programs.profdata" "$library" >"$work/programs.json"
  python3 fuzz/coverage.py "$work/programs.json" tests/conformance/exports/{symbols,backend-symbols,legacy-symbols}.txt
}
