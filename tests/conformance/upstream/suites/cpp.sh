#!/usr/bin/env bash
# Upstream's tests/cpp, built once with upstream's library and lazy binding: a symbol missing from
# this library fails only the tests that call it.
source "$(dirname "${BASH_SOURCE[0]}")/../support/suite.sh"

# With the sanitizer, inline C++ code that accesses this library's objects is checked, too.
cxx=${CXX:-g++}
flags="-std=c++17 -O1 -w -fPIC -fplt -pthread"
if [ -n "$asan_runtime" ]; then
  cxx=clang++
  flags+=" -g1 -fsanitize=address -shared-libasan"
fi

gtest_works() {
  printf '#include <gtest/gtest.h>\nint main() {}\n' |
    "$cxx" -x c++ -std=c++17 -o "$work/gtest" - -lgtest -lpthread 2>/dev/null
}

write_build_file() {
  local dir=$1 source objects=main.o
  echo "rule compile"
  echo "  command = $cxx $flags -I$wheel/tvm_ffi/include -I$sources/src -c \$in -o \$out"
  echo "rule link"
  echo "  command = $cxx $flags -o \$out \$in -L$wheel/tvm_ffi/lib -ltvm_ffi_testing -ltvm_ffi -lgtest -ldl -Wl,-z,lazy"
  echo "build main.o: compile $support/gtest_main.cc"
  while read -r source; do
    echo "build ${source//\//.}.o: compile $sources/tests/cpp/$source"
    objects+=" ${source//\//.}.o"
  done < <(cd "$sources/tests/cpp" && find . -name 'test*.cc' -printf '%P\n' | sort)
  echo "build tests: link $objects"
}

build_tests() {
  write_build_file "$1" >"$1/build.ninja"
  "$base/bin/ninja" --quiet -C "$1" -j "$jobs" tests >&2
  ! readelf -dW "$1/tests" | grep -E 'BIND_NOW|Flags:.*NOW' || die "the tests are not bound lazily"
  # Listed with upstream's library, so that the list does not depend on this one.
  LD_LIBRARY_PATH=$wheel/tvm_ffi/lib LD_PRELOAD=$asan_runtime ASAN_OPTIONS=detect_leaks=0 \
    "$1/tests" --gtest_list_tests | sed 's/ *#.*//' |
    awk '/^[^ ]/ { suite = $1; next } (suite $1) !~ /DISABLED_/ && suite { print suite $1 }' |
    grep '\..' | sort -u >"$1/list"
  rm "$1"/*.o
}

need "$cxx" "apt-get install g++ clang"
need readelf "apt-get install binutils"
start_suite cpp "$@"
gtest_works || die "googletest is missing: apt-get install libgtest-dev"
build=$cache/cpp-$(cat "$support/gtest_main.cc" "$0" "$pins/upstream.txt" - <<<"$("$cxx" --version) $flags" | key)
once "$build" build_tests

mkdir "$work/lib" "$work/cwd"
cp "$library" "$work/lib/libtvm_ffi.so"
cp "$wheel/tvm_ffi/lib/libtvm_ffi_testing.so" "$work/lib/"
export LD_LIBRARY_PATH=$work/lib
start_recording 1
run_tests run_gtest --cwd "$work/cwd" --program "$build/tests" --list "$build/list"
unset LD_LIBRARY_PATH
finish "$work/lib/libtvm_ffi.so"
