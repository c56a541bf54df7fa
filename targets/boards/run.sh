#!/usr/bin/env bash
# usage: run.sh [BOARD...]      builds and runs every firmware program on these boards, or on all
#        run.sh --list          names the boards
#
# Prints one row per result, then how large the runtime is in each program. Everything that was built, and the output
# of every run, goes to target/boards/BOARD. Exit status: 0, 1 when a program failed, 2 when a tool is missing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
root=../..
target=${CARGO_TARGET_DIR:-$PWD/$root/target}
mcu=$PWD/../mcu

passed=0
failed=0
fail() { # fail PROGRAM LOG: shows the end of the log
  failed=$((failed + 1))
  echo "FAILED $board $1: $2"
  tail -n 20 "$2" | sed 's/^/    /'
}

# One board, in a shell of its own. Its board.conf says:
#   description        what stands above its rows
#   rust_target        what the library is built for
#   core               the folder of targets/mcu with its start-up code
#   compiler defines   the C compiler with its options, and numbers that start-up and firmware need
#   pool_bytes         memory of the library for objects, names and workspaces
#   stack_least        what the linker must leave for the stack
#   without_modules    why modules are left out, where they do not fit
#   system_library     models compiled to an object by LLVM, if there are any for it
#   emulator           the command that runs a program
load_board() {
  without_modules= system_library=
  # shellcheck source=/dev/null
  . "$1/board.conf"
  out=$target/boards/$1
  programs=(models errors cycles interrupts)
  if [ -n "$system_library" ]; then programs+=(system_library); fi
}

missing=0
need() { # need TOOL PACKAGE
  command -v "$1" >/dev/null && return
  echo "error: $1 is missing: apt-get install $2"
  missing=1
}

check_tools() {
  case $core in
    cortex_m)
      need arm-none-eabi-gcc "gcc-arm-none-eabi libnewlib-arm-none-eabi"
      need qemu-system-arm qemu-system-arm
      ;;
    riscv)
      need riscv64-unknown-elf-gcc "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"
      need qemu-system-riscv32 qemu-system-misc
      ;;
    wasm)
      need clang clang
      need wasm-ld lld
      need node nodejs
      ;;
  esac
  rustup target list --installed | grep -qx "$rust_target" || {
    echo "error: a target is missing: rustup target add $rust_target"
    missing=1
  }
}

build_library() { # build_library NAME FEATURES
  FERRITE_POOL_BYTES=$pool_bytes cargo rustc --quiet --profile mcu -p ferrite-capi --no-default-features \
    --features "$2" --target "$rust_target" --crate-type staticlib &&
    cp "$target/$rust_target/mcu/libtvm_ffi.a" "$out/libtvm_ffi-$1.a"
}

# Without the global functions `ffi.*` what a program does not name costs nothing. Modules are reached through them.
build_libraries() {
  build_library calls panic-handler,alloc,backend || return 1
  if [ -z "$without_modules" ]; then build_library modules panic-handler,alloc,backend,builtins; fi
}

library_of() { # library_of PROGRAM
  case $1 in
    models | system_library) [ -n "$without_modules" ] || { echo "$out/libtvm_ffi-modules.a" && return; } ;;
  esac
  echo "$out/libtvm_ffi-calls.a"
}

flags=(-std=c99 -Os -ffunction-sections -fdata-sections -I "$root/include" -I "$root/tests/aot" -I firmware)

compile() { # compile SOURCE OBJECT [FLAG...]
  local source=$1 object=$2
  shift 2
  "${compiler[@]}" "${flags[@]}" "${defines[@]}" "$@" -c "$source" -o "$object"
}

# What all programs share. The code that TVM generated is compiled without warnings: nobody may edit it.
compile_shared() {
  local name
  if [ -n "$without_modules" ]; then defines+=("-DWITHOUT_MODULES=\"$without_modules\""); fi
  if [ "$core" = wasm ]; then defines+=(-Dmain=firmware -I "$mcu/wasm"); fi
  compile "$mcu/$core/start.c" "$out/start.o" -Wall -Wextra -Werror &&
    compile "$root/tests/aot/models.c" "$out/compiled_models.o" -w || return 1
  for name in print ffi fixture models errors cycles interrupts; do
    compile "firmware/$name.c" "$out/$name.o" -Wall -Wextra -Werror || return 1
  done
  for name in fixture models; do
    compile "firmware/$name.c" "$out/$name-system.o" -Wall -Wextra -Werror -DFROM_SYSTEM_LIBRARY || return 1
  done
}

link_program() { # link_program PROGRAM
  local objects=(start print ffi) models=$out/compiled_models.o
  if [ "$1" = system_library ]; then
    objects+=(fixture-system models-system)
    models=$root/tests/aot/llvm/$system_library
  else
    objects+=(fixture "$1")
  fi
  objects=("${objects[@]/#/$out/}")
  objects=("${objects[@]/%/.o}" "$models")
  if [ "$core" = wasm ]; then
    wasm-ld --no-entry --gc-sections --stack-first -z "stack-size=$stack_least" --allow-undefined -Map="$out/$1.map" \
      "${objects[@]}" "$(library_of "$1")" -o "$out/$1.elf"
  else
    "${compiler[@]}" -nostartfiles -Wl,--gc-sections "-Wl,-Map=$out/$1.map" "-Wl,--defsym=STACK_LEAST=$stack_least" \
      -L "$mcu/$core" -T "$board/link.ld" "${objects[@]}" "$(library_of "$1")" -lm -lc -lgcc -o "$out/$1.elf"
  fi
}

run_program() { # run_program PROGRAM
  if [ "$core" = wasm ]; then
    timeout 120 "${emulator[@]}" "$out/$1.elf"
  else
    timeout 120 "${emulator[@]}" -nographic -monitor none -serial none -icount shift=0 \
      -semihosting-config enable=on,target=native -kernel "$out/$1.elf"
  fi
}

# Bytes that the members of libtvm_ffi.a take, from the linker's map: "flash ram".
runtime_bytes() { # runtime_bytes MAP
  awk '
    function hex(text, i, value) {
      for (i = 3; i <= length(text); ++i) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
      return value
    }
    function count(size, file) { if (file ~ /libtvm_ffi-[a-z]*\.a/) bytes[section] += hex(size) }
    # wasm-ld: address, offset, size in hexadecimal digits, then a section or the place that a piece came from.
    FNR == 1 { wasm = $1 == "Addr" }
    wasm && $4 ~ /^\.(rodata|data|bss)$/ { section = $4 }
    wasm && $1 == "-" { section = ".text" }
    wasm && $4 ~ /^\// { count("0x" $3, $4) }
    wasm { next }
    /^Linker script and memory map/ { placed = 1 }
    !placed { next }
    /^\.[a-z]/ { section = $1; split_line = 0; next }
    /^ [^ ]+$/ { split_line = 1; next }
    /^ [^ ]+ +0x/ { count($3, $4) }
    split_line && /^ +0x/ { count($2, $3) }
    { split_line = 0 }
    END { print bytes[".text"] + bytes[".rodata"] + bytes[".data"], bytes[".data"] + bytes[".bss"] }' "$1"
}

run_board() {
  local program log stack flash ram
  mkdir -p "$out"
  printf '\n%s, pool of %d bytes\n' "$description" "$pool_bytes"
  build_libraries >"$out/build.log" 2>&1 && compile_shared >>"$out/build.log" 2>&1 || {
    fail build "$out/build.log"
    return
  }
  sizes=()
  for program in "${programs[@]}"; do
    log=$out/$program.log
    if ! link_program "$program" >"$log" 2>&1; then
      fail "$program" "$log"
    elif run_program "$program" >"$log" 2>&1; then
      passed=$((passed + 1))
    else
      fail "$program" "$log"
    fi
    awk -F'|' -v program="$program" \
      '$1 == "row" { printf "  %-15s %-26s %-44s %12s\n", program, $2, $3, $4 }' "$log"
    stack=$(awk -F'|' '$1 == "stack" { print $2 }' "$log")
    read -r flash ram < <(runtime_bytes "$out/$program.map")
    sizes+=("$(printf '  %-15s flash %7d   RAM %6d beside the pool   stack %6s' "$program" "${flash:-0}" \
      $((${ram:-0} - pool_bytes)) "${stack:--}")")
  done
  echo "  the runtime alone, in bytes, and the most stack in use (all of the program):"
  printf '%s\n' "${sizes[@]}"
}

main() {
  local boards=() board
  if [ "${1:-}" = --list ]; then
    ls -- */board.conf | sed 's|/.*||'
    return
  fi
  if [ $# -gt 0 ]; then boards=("$@"); else mapfile -t boards < <(main --list); fi
  for board in "${boards[@]}"; do
    [ -f "$board/board.conf" ] || {
      echo "error: no board of the name $board: see run.sh --list"
      return 2
    }
    load_board "$board"
    check_tools
  done
  [ "$missing" -eq 0 ] || return 2
  printf '  %-15s %-26s %-44s %12s\n' program what result instructions
  for board in "${boards[@]}"; do
    load_board "$board"
    run_board
  done
  printf '\nboards: %d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}

main "$@"
