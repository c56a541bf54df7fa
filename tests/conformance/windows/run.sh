#!/usr/bin/env bash
# usage: run.sh FOLDER [TEST...]
#
# Tests the tvm_ffi.dll of a folder: its exports, its import libraries, and the C programs of ../c,
# compiled by MinGW and run by wine. With names, runs these tests. The last line is the sum.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
library=$1
shift
work=${CARGO_TARGET_DIR:-$PWD/target}/windows-programs
gcc=x86_64-w64-mingw32-gcc
watched=$PWD/tests/watchdog/watched.py
strict=(-std=c89 -pedantic -Wall -Wextra -Werror -O1 -Iinclude)
exports=tests/conformance/exports
# These two are about POSIX: memory pages without access, and signal handlers.
posix=(no_overread signals)

programs() {
  find tests/conformance/c -name '*.c' -printf '%f\n' | sort | sed 's/\.c$//' | grep -vxF kernels |
    grep -vxF "$(printf '%s\n' "${posix[@]}")"
}

compile() { # compile OUTPUT SOURCE [OPTION...]
  local output=$1 source=$2
  shift 2
  "$gcc" "${strict[@]}" "$@" "tests/conformance/c/$source.c" -L"$work" -l:libtvm_ffi.dll.a -o "$work/$output"
}

run() { # run PROGRAM.EXE: with an end for one that hangs
  (cd "$work" && "$watched" 300 wine "./$1")
}

kernel_libraries() {
  compile kernels.dll kernels -shared && compile kernels_bin.dll kernels -shared -DWITH_LIBRARY_BIN &&
    # A library that only needs another one, which is in its folder, and not in that of the program.
    mkdir -p "$work/beside" && compile beside/needed.dll kernels -shared &&
    echo 'int __tvm_ffi_add_one(void); int (*needed)(void) = __tvm_ffi_add_one;' |
    "$gcc" -shared -o "$work/beside/needs_kernels.dll" -x c - -L"$work/beside" -l:needed.dll
}

# The DLL needs none of MinGW's, such as its unwinder and its threads.
test_imports() {
  ! x86_64-w64-mingw32-objdump -p "$library/tvm_ffi.dll" | grep -i 'DLL Name: lib'
}

# The DLL and its module-definition file have the symbols of the lists, no others.
test_exports() {
  local wanted
  wanted=$(sort "$exports"/{symbols,backend-symbols,relax-symbols}.txt)
  diff <(echo "$wanted") <(sed '1,2d; s/ //g' "$library/tvm_ffi.def" | sort) && diff <(echo "$wanted") <(
    x86_64-w64-mingw32-nm --defined-only "$library/libtvm_ffi.dll.a" | sed -n 's/.* T //p' | sort
  )
}

# A program runs with an import library made of the module-definition file, as Microsoft's tools
# make one.
test_definition_file() {
  x86_64-w64-mingw32-dlltool -d "$library/tvm_ffi.def" -l "$work/tvm_ffi.lib" &&
    "$gcc" -Iinclude tests/programs/install/program.c "$work/tvm_ffi.lib" -o "$work/program.exe" &&
    run program.exe | tr -d '\r' | grep -x '0.1.16: 16 bits'
}

# As for Microsoft's compiler, the header imports what the DLL exports, and exports it where that is
# built.
test_microsoft_header() {
  local clang=(clang --target=x86_64-pc-windows-msvc -ffreestanding -Iinclude -Wall -Werror -x c - -S -emit-llvm -o -)
  local source='#include <tvm/ffi/c_api.h>
int f(void* object); int f(void* object) { return TVMFFIObjectIncRef(object); }'
  "${clang[@]}" <<<"$source" | grep 'declare dllimport .*@TVMFFIObjectIncRef' &&
    "${clang[@]}" -DTVM_FFI_EXPORTS <<<"$source" | grep 'declare .*@TVMFFIObjectIncRef'
}

test_program() { # test_program NAME
  compile "$1.exe" "$1" -pthread && run "$1.exe"
}

if [ $# -eq 0 ]; then mapfile -t tests < <(programs) && set -- imports exports definition_file microsoft_header "${tests[@]}"; fi
mkdir -p "$work" && cp "$library"/tvm_ffi.dll "$library"/libtvm_ffi.dll.a "$exports/symbols.txt" "$work" &&
  cp "$("$gcc" -print-file-name=libwinpthread-1.dll)" "$work" && kernel_libraries || exit 2
export WINEPREFIX=$work/prefix WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
export CHECK_KERNELS=kernels.dll CHECK_KERNELS_BIN=kernels_bin.dll CHECK_NEEDS_KERNELS=beside/needs_kernels.dll CHECK_SCRATCH=.
export CHECK_SYMBOLS=symbols.txt
passed=0
failed=0
for name; do
  one=(test_program "$name")
  if declare -F "test_$name" >/dev/null; then one=("test_$name"); fi
  if output=$("${one[@]}" 2>&1); then
    passed=$((passed + 1))
    echo "ok $name: $(tail -n 1 <<<"$output")"
  else
    failed=$((failed + 1))
    printf 'FAILED %s\n%s\n' "$name" "$(tail -n 40 <<<"$output")"
  fi
done
echo "windows: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
