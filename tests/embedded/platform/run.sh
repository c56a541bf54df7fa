#!/usr/bin/env bash
# shellcheck disable=SC2154 # a board's board.conf sets most variables
# usage: run.sh [BOARD...]      builds and runs the programs of this folder on emulated boards
#
# Tests the platform header: hooks that the firmware defines, memory that it adds at run time, and
# links without any other library.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
root=../../..
target=${CARGO_TARGET_DIR:-$PWD/$root/target}
mcu=$root/targets/mcu
firmware=$root/targets/boards/firmware

need() { # need TOOL PACKAGE
  command -v "$1" >/dev/null && return
  echo "error: $1 is missing: apt-get install $2"
  exit 2
}

load_board() {
  link_script=
  # shellcheck source=/dev/null
  . "$root/targets/boards/$1/board.conf"
  out=$target/platform/$1
  mkdir -p "$out"
  case $core in
    cortex_m) need arm-none-eabi-gcc gcc-arm-none-eabi && need qemu-system-arm qemu-system-arm ;;
    riscv) need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf && need qemu-system-riscv32 qemu-system-misc ;;
  esac
}

# Builds the library without memory; programs add some.
build_library() {
  rm -f "$out/libtvm_ffi.a"
  FERRITE_POOL_BYTES=0 cargo rustc --quiet --profile mcu -p ferrite-ffi-capi --no-default-features \
    --features core,backend,libm --target "$rust_target" --crate-type staticlib \
    --target-dir "$target/platform/cargo" &&
    cp "$target/platform/cargo/$rust_target/mcu/libtvm_ffi.a" "$out/libtvm_ffi.a"
}

compile() { # compile SOURCE FLAG...: the object lies in $out
  local source=$1 object
  object=$out/$(basename "$source" .c).o
  shift
  "${compiler[@]}" -std=c11 -Os -ffunction-sections -fdata-sections -fno-builtin "${defines[@]}" -I . -I "$root/include" \
    -I "$firmware" -I "$mcu/shared" "$@" -c "$source" -o "$object"
}

# Compiles the shared sources, and the model, whose generated code is compiled without warnings.
compile_shared() {
  local source
  objects=()
  for source in check.c "$firmware/print.c" "$firmware/ffi.c" "$mcu/$core/start.c" "$mcu"/shared/*.c; do
    compile "$source" -Wall -Wextra -Werror || return 1
    objects+=("$out/$(basename "$source" .c).o")
  done
  compile "$root/tests/programs/aot/softmax_f32/softmax_f32.c" -w
}

# Links without the C library and the compiler's library.
build_program() { # build_program PROGRAM [OBJECT...]
  local program=$1
  shift
  compile "$program.c" -Wall -Wextra -Werror -Wno-unused-variable &&
    "${compiler[@]}" -nostartfiles -nostdlib -Wl,--gc-sections -Wl,-z,noexecstack -Wl,--fatal-warnings "-Wl,--defsym=STACK_LEAST=$stack_least" \
      -L "$mcu/$core" -T "$root/targets/boards/${link_script:-$board/link.ld}" "$out/$program.o" "${objects[@]}" "$@" \
      "$out/libtvm_ffi.a" -o "$out/$program.elf"
}

run_program() { # run_program PROGRAM
  "$root/tests/watchdog/watched.py" 60 "${emulator[@]}" -nographic -monitor none -serial none -icount shift=0 \
    -semihosting-config enable=on,target=native -kernel "$out/$1.elf"
}

# Checks that the default of a defined hook is not linked.
pool_is_not_linked() {
  ! nm "$out/hooks.elf" | grep -E 'memory4pool|8defaults' | grep -v 5abort
}

passed=0
failed=0
count() { # count WHAT COMMAND...: runs the command; its output is shown when it fails
  local what=$1
  shift
  if "$@" >"$out/$what.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $board $what"
    tail -n 20 "$out/$what.log" | sed 's/^/    /'
  fi
}

build_and_run() { # build_and_run PROGRAM [OBJECT...]
  build_program "$@" && run_program "$1"
}

for board in "${@:-cortex-m4f}"; do
  load_board "$board"
  count library build_library
  count shared compile_shared
  count pool build_and_run pool
  count hooks build_and_run hooks
  count no_pool pool_is_not_linked
  count bytes build_and_run bytes
  count math build_and_run math "$out/softmax_f32.o"
done
echo "platform: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
