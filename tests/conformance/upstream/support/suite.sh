# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # those that source this file use the variables; cache.sh sets
# some
#
# Shared by the suites. Sourced by suites/*.sh, which run.sh starts with `library`, `results` and,
# for the address sanitizer, `asan_runtime` in the environment.
source "$(dirname "${BASH_SOURCE[0]}")/cache.sh"

time_limit=3600  # seconds for one suite
test_timeout=120 # seconds for one test

# start_suite NAME [PATTERN...]: sets `suite`, `patterns`, `out` (results, kept) and `work` (removed
# at the end).
start_suite() {
  suite=$1
  shift
  patterns=("$@")
  open_cache
  ensure_environment
  ensure_wheel
  ensure_sources
  ensure_recorder
  out=$results/$suite
  # A fixed path, since cached builds refer to files in it; so only one run at a time.
  work=$cache/work/$suite
  mkdir -p "$cache/work"
  exec {work_lock}>"$work.lock"
  flock "$work_lock"
  rm -rf "$out" "$work"
  mkdir -p "$out/log" "$out/record" "$out/asan" "$work/maps" "$work/tmp"
  trap 'rm -rf "$work"' EXIT
  SECONDS=0
}

# Sets the preloaded libraries of the measured processes: the recorder of memory maps, and the
# sanitizer.
start_recording() {
  export FERRITE_MAPS_DIR=$work/maps FERRITE_PRELOAD=$maps_dump TMPDIR=$work/tmp
  if [ -n "$asan_runtime" ]; then
    FERRITE_PRELOAD=$asan_runtime:$maps_dump
    # Upstream's List keeps its deleter when C++ code passes it a block of `operator new`.
    ASAN_OPTIONS=log_path=$out/asan/report:detect_leaks=$1:fast_unwind_on_malloc=$((1 - $1))
    ASAN_OPTIONS+=:allocator_may_return_null=1:alloc_dealloc_mismatch=0
    export ASAN_OPTIONS LSAN_OPTIONS=suppressions=$support/leaks.txt:print_suppressions=0
    spare_compilers
  fi
}

# Compilers run without the sanitizer, which slows them down and breaks rustc.
spare_compilers() {
  local bin=$work/compilers tool
  mkdir "$bin"
  for tool in cc c++ gcc g++; do
    printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$(command -v "$tool")" >"$bin/$tool"
  done
  printf '#!/bin/sh\nunset LD_PRELOAD\nexec "$@"\n' >"$bin/rustc-wrapper"
  # Programs compiled by rustdoc run with the sanitizer again.
  printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@" --test-runtool env --test-runtool-arg %s\n' \
    "$(command -v rustdoc)" "LD_PRELOAD=$FERRITE_PRELOAD" >"$bin/rustdoc"
  chmod 755 "$bin"/*
  export PATH=$bin:$PATH RUSTC_WRAPPER=$bin/rustc-wrapper RUSTDOC=$bin/rustdoc
}

# run_tests PROGRAM ARGUMENT...: one of the run_*.py.
run_tests() {
  local program=$1
  shift
  "$base_python" "$support/$program.py" --out "$out" --jobs "$jobs" --time-limit "$time_limit" \
    --test-timeout "$test_timeout" "$@" -- ${patterns[@]+"${patterns[@]}"} || true
}

# finish REPLACED: checks that the measured processes had the file REPLACED mapped, and nothing like
# it, and compares the results with the lists.
finish() {
  unset FERRITE_MAPS_DIR
  local void=
  cmp -s "$1" "$library" || void="the copy that was measured is not $library any more"
  "$base_python" "$support/check_maps.py" "$work/maps" "$1" "$upstream_library" ||
    void=${void:-"not all tests ran against $library alone"}
  "$base_python" "$support/summarize.py" --suite "$suite" --lists "$upstream/baseline" \
    ${upstream_release:+--release "$upstream_release"} --out "$out" --void "$void" -- ${patterns[@]+"${patterns[@]}"}
}
