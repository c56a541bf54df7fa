#!/usr/bin/env bash
# shellcheck disable=SC2154 # a board's board.conf sets most variables
# usage: run.sh [BOARD...]      builds and runs every firmware program on these boards, or on all
#        run.sh --list          names the boards
#
# Prints one table: a row per result, with the bytes of the runtime in its program. Writes programs,
# their output and the table as text to target/boards. Numbers above those in `budgets` are
# failures.
# Exit status: 0, 1 when a program or a budget failed, 2 when a tool is missing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
root=../..
target=${CARGO_TARGET_DIR:-$PWD/$root/target}
mcu=$PWD/../mcu
table=$target/boards/table.txt
. ./build.sh
. ./measure.sh
. ./rust.sh

passed=0
failed=0
fail() { # fail WHAT LOG: shows the end of the log
  failed=$((failed + 1))
  echo "FAILED $board $1: $2"
  tail -n 20 "$2" | sed 's/^/    /'
}

# Reads the configuration of a board. Its board.conf sets:
load_board() {
  link_script=$1/link.ld system_library='' relax_library='' rust_firmware='' serial=''
  # shellcheck source=/dev/null
  . "$1/board.conf"
  case $core in
    wasm) start_up=(wasm/start) ;;
    *) start_up=("$core/start" shared/memory shared/semihosting) ;;
  esac
}

# The models of tests/programs/relax, each a program.
whole_models=(chain cnn control mlp mlp_dyn mlp_i8 transformer values)

# Sets a profile of the library: its package, features of that, the programs that show it, and its
# parts: the files profile_PART.c and mistakes_MISTAKES.c.
load_profile() {
  out=$target/boards/$board/$1
  library_pool='' nested_calls='' package=ferrite-ffi-capi
  case $1 in
    minimal)
      package=ferrite-ffi-minimal features='' part=minimal mistakes=minimal pool=0
      programs=(call cnn models system_library errors cycles interrupts microtvm microtvm_hooks)
      ;;
    core)
      features=core,backend part=core mistakes=heap pool=$pool_bytes
      programs=(call cnn models errors cycles interrupts microtvm microtvm_hooks)
      if [ -n "$serial" ]; then programs+=(rpc rpc_link rpc_modules); fi
      ;;
    full)
      features=full part=core mistakes=heap pool=8192
      programs=(values interrupts)
      ;;
    modules)
      features=full,backend,modules part=modules mistakes=heap pool=$pool_bytes
      programs=(models system_library errors)
      ;;
    relax)
      # The firmware gives the memory. The model `control` calls itself nine times.
      features=core,model part=core mistakes=heap pool=0 library_pool=0 nested_calls=16
      programs=(model planned planned_less)
      if [ -n "$relax_library" ]; then programs+=("${whole_models[@]/#/vm_}"); fi
      ;;
  esac
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

run_program() { # run_program FIRMWARE
  local program
  program=$(basename "$1" .elf)
  if [[ $program = rpc* ]]; then
    "$root/tests/watchdog/watched.py" 120 ./rpc_peer.py "$program" "${emulator[@]}" -display none -monitor none -serial stdio \
      -icount shift=0 -semihosting-config enable=on,target=native -kernel "$1"
  elif [ "$core" = wasm ]; then
    "$root/tests/watchdog/watched.py" 120 "${emulator[@]}" "$1"
  else
    "$root/tests/watchdog/watched.py" 120 "${emulator[@]}" -nographic -monitor none -serial none -icount shift=0 \
      -semihosting-config enable=on,target=native -kernel "$1"
  fi
}

columns='%-11s %-8s %-15s %-26s %-44s %12s %7s %7s %6s %7s %6s %6s %9s %8s\n'

print_head() {
  # shellcheck disable=SC2059 # the format is this program's
  printf "$columns" '' '' '' '' '' '' 'runtime' 'alone,' 'bytes' '' 'most' 'used' 'whole'
  # shellcheck disable=SC2059
  printf "$columns" board profile program what result instructions text rodata data RAM stack pool workspace flash
}

# Prints the rows of a program that ran, each with the program's sizes: text, rodata, data and RAM
# of the runtime, flash of all.
print_rows() { # print_rows PROGRAM SIZE...
  local log=$out/$1.log kind what result instructions used row
  read -r -a used < <(awk -F'|' '
    function told(memory) { return memory in most ? most[memory] : "-" }
    { most[$1] = $2 }
    END { print told("stack"), told("pool"), told("workspace") }' "$log")
  while IFS='|' read -r kind what result instructions; do
    [ "$kind" = row ] || continue
    row=("$board" "$profile" "$1" "$what" "$result" "$instructions" "${@:2:4}" "${used[@]}" "$6")
    (IFS='|' && echo "${row[*]}") >>"$table"
    # shellcheck disable=SC2059
    printf "$columns" "${row[@]}"
  done <"$log"
}

run_profile() {
  local program sizes
  mkdir -p "$out"
  { build_libraries && compile_firmware; } >"$out/build.log" 2>&1 || {
    fail "$profile" "$out/build.log"
    return
  }
  for program in "${programs[@]}"; do
    if [ "$program" = system_library ] && [ -z "$system_library" ]; then continue; fi
    if [ "$program" = microtvm_hooks ] && [ "$core" = wasm ]; then continue; fi
    link_program "$program" >"$out/$program.log" 2>&1 && run_program "$out/$program.elf" >"$out/$program.log" 2>&1
    case $? in
      0) passed=$((passed + 1)) && rpc_rows "$program" >>"$out/$program.log" ;;
      *) fail "$profile $program" "$out/$program.log" && continue ;;
    esac
    read -r -a sizes < <(runtime_alone "$program")
    print_rows "$program" "${sizes[@]}"
  done
}

# Compares the table with `budgets`: prints a line for each number that is too large or missing, and
# the count of the others.
check_budgets() { # check_budgets BOARD...
  awk -F' *[|] *' -v boards=" $* " '
    { place = $1 "|" $2 "|" $3 "|" }
    FILENAME == "budgets" {
      if (/^[a-z]/ && index(boards, " " $1 " ")) most[place $4] = $5
      next
    }
    {
      value[place $4] = $6
      value[place "runtime"] = $7 + $8 + $9
      value[place "RAM"] = $10
      value[place "stack"] = $11
      value[place "pool"] = $12
      value[place "workspace"] = $13
      value[place "flash"] = $14
    }
    END {
      for (what in most) {
        if (!(what in value)) print "FAILED budget of " what ": nothing was measured"
        else if (value[what] + 0 > most[what]) print "FAILED budget of " what ": " value[what] ", at most " most[what]
        else ++kept
      }
      print "kept " kept + 0
    }' budgets "$table"
}

main() {
  local boards=() board profile line
  if [ "${1:-}" = --list ]; then
    printf '%s\n' */board.conf | sed 's|/.*||'
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
  mkdir -p "$target/boards" && : >"$table"
  print_head
  for board in "${boards[@]}"; do
    load_board "$board"
    for profile in "${profiles[@]}"; do
      load_profile "$profile"
      run_profile
    done
    if [ -n "$rust_firmware" ]; then run_rust; fi
  done
  while read -r line; do
    case $line in
      kept*) passed=$((passed + ${line#kept })) ;;
      *) failed=$((failed + 1)) && echo "$line" ;;
    esac
  done < <(check_budgets "${boards[@]}")
  printf '\nboards: %d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}

main "$@"
