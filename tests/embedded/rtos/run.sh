#!/usr/bin/env bash
# usage: run.sh
#
# Builds firmware as users do: by the Makefile, by ferrite_firmware() of CMake, as a Zephyr module
# and as an ESP-IDF component. The sources of these two systems are in no package registry, so the
# functions of their build systems and kernels are stand-ins, in this folder: their schemas,
# options, compilation, linking and one program in an emulator are checked, not the systems
# themselves.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
target=${CARGO_TARGET_DIR:-$root/target}
cmake=$root/targets/boards/cmake
out=$target/rtos
rm -rf "$out"
mkdir -p "$out"
passed=0 failed=0

pass() { passed=$((passed + 1)); }
fail() { # fail WHAT [LOG]
  failed=$((failed + 1))
  echo "FAILED $1"
  if [ $# -gt 1 ]; then tail -n 15 "$2" | sed 's/^/    /'; fi
}

tools() {
  python3 -m venv "$target/rtos-tools" &&
    "$target/rtos-tools/bin/pip" install --quiet idf-component-manager==3.1.2 kconfiglib==14.1.0 PyYAML==6.0.4
}

configure() { # configure NAME SOURCE BOARD [OPTION...]
  local name=$1 source=$2 board=$3
  shift 3
  cmake -S "$source" -B "$out/$name" -DCMAKE_TOOLCHAIN_FILE="$cmake/toolchain.cmake" -DFERRITE_BOARD="$board" "$@" >"$out/$name.log" 2>&1
}

prints() { # prints NAME BOARD SOURCE LINE: the firmware of a project prints the line
  if configure "$1" "$3" "$2" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--fatal-warnings && cmake --build "$out/$1" --target cnn-run >>"$out/$1.log" 2>&1 && grep -qF "$4" "$out/$1.log"; then
    pass
  else
    fail "$1" "$out/$1.log"
  fi
}

# A configuration that is refused, with a message that says why.
refuses() { # refuses NAME MESSAGE BOARD LINE...: with these lines in CMakeLists.txt
  local name=$1 message=$2 board=$3
  shift 3
  mkdir -p "$out/$name.d"
  {
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(refused C)' "include($cmake/ferrite_firmware.cmake)"
    printf '%s\n' "$@"
  } >"$out/$name.d/CMakeLists.txt"
  if ! configure "$name" "$out/$name.d" "$board" && tr -s ' \n' ' ' <"$out/$name.log" | grep -qF "$message"; then
    pass
  else
    fail "$name" "$out/$name.log"
  fi
}

options() { "$target/rtos-tools/bin/python" "$here/kconfig.py" "$@"; }

# Firmware by the Makefile that users copy.
makefile() { # makefile NAME LINE STATUS OPTION...: `make` with these options prints a line, with this exit status
  local name=$1 line=$2 status=$3
  shift 3
  mkdir -p "$out/$name.d"
  cp "$root/targets/boards/Makefile" "$root/targets/boards/firmware/call.c" "$out/$name.d"
  local ended=0
  make -C "$out/$name.d" "$@" >"$out/$name.log" 2>&1 || ended=$?
  if [ "$ended" -eq "$status" ] && grep -qF "$line" "$out/$name.log"; then pass; else fail "$name" "$out/$name.log"; fi
}

zephyr() { # zephyr NAME BOARD SYMBOL=VALUE...: builds the application with these options, and runs it
  local name=$1 board=$2 found
  shift 2
  if found=$(options zephyr "$@") && configure "$name" "$here/zephyr" "$board" "-DOPTIONS=$found" &&
    cmake --build "$out/$name" >>"$out/$name.log" 2>&1; then
    local emulator=(qemu-system-arm -M mps2-an386)
    case $board in riscv32) emulator=(qemu-system-riscv32 -M virt -bios none) ;; esac
    "$root/tests/watchdog/watched.py" 60 "${emulator[@]}" -nographic -monitor none -serial none -semihosting-config enable=on,target=native \
      -kernel "$out/$name/app" >>"$out/$name.log" 2>&1 || true
  fi
  if grep -qx '3 + 4 = 7, with the kernel.s lock' "$out/$name.log"; then pass; else fail "$name" "$out/$name.log"; fi
}

# The sample that serves remote calls, over a line that loses bytes.
sample() { # sample NAME: a build by `zephyr`
  if "$root/tests/watchdog/watched.py" 120 "$root/targets/boards/rpc_peer.py" zephyr qemu-system-arm -M mps2-an386 -display none \
    -monitor none -serial stdio -semihosting-config enable=on,target=native -kernel "$out/$1/rpc" >"$out/sample.log" 2>&1; then
    pass
  else
    fail "sample of Zephyr" "$out/sample.log"
  fi
}

esp_idf() { # esp_idf CHIP BOARD SYMBOL=VALUE...: builds the component for a chip
  local chip=$1 board=$2 found
  shift 2
  if found=$(options esp-idf "$@") && configure "$chip" "$here/esp-idf" "$board" "-DIDF_TARGET=$chip" "-DOPTIONS=$found" &&
    cmake --build "$out/$chip" >>"$out/$chip.log" 2>&1 && [ -n "$(find "$out/$chip" -name libtvm_ffi.a)" ]; then
    pass
  else
    fail "$chip" "$out/$chip.log"
  fi
}

tools || {
  echo "error: the tools are missing: pip install idf-component-manager kconfiglib PyYAML"
  exit 2
}
prints firmware cortex-m4f "$cmake/example" 'ok, 20 of 20 digits'
prints firmware-riscv riscv32imc "$cmake/example" 'ok, 20 of 20 digits'
refuses no-board "no board 'cortex-m9'; there are cortex-m0," cortex-m9 ''
refuses no-profile "no profile 'huge'; there are minimal," cortex-m4f 'ferrite_firmware(a BOARD cortex-m4f PROFILE huge SOURCES a.c)'
refuses no-sources 'unknown or missing arguments' cortex-m4f 'ferrite_firmware(a BOARD cortex-m4f)'
refuses webassembly 'WebAssembly has no start-up code' cortex-m4f 'ferrite_firmware(a BOARD wasm32 SOURCES a.c)'
makefile make "row|register, look up, call|ok" 0 "FERRITE=$root" LDFLAGS=-Wl,--fatal-warnings run
makefile make-riscv "row|register, look up, call|ok" 0 "FERRITE=$root" BOARD=riscv32imc PROFILE=core LDFLAGS=-Wl,--fatal-warnings run
makefile make-nowhere 'where Ferrite is not: name the folder of your clone' 2 FERRITE=
makefile make-no-board "no board 'cortex-m9'; boards are cortex-m0 " 2 "FERRITE=$root" BOARD=cortex-m9
makefile make-webassembly "no board 'wasm32'" 2 "FERRITE=$root" BOARD=wasm32
makefile make-no-profile "no profile 'huge'; profiles are minimal," 2 "FERRITE=$root" PROFILE=huge
zephyr zephyr-m4f cortex-m4f CPU_CORTEX_M4=y FP_HARDABI=y FERRITE=y FERRITE_RPC=y
sample zephyr-m4f
zephyr zephyr-riscv riscv32 RISCV=y RISCV_ISA_EXT_A=y FERRITE=y FERRITE_POOL_BYTES=4096
if "$target/rtos-tools/bin/compote" manifest lint "$root/targets/boards/esp-idf"; then pass; else fail idf_component.yml; fi
esp_idf esp32c3 riscv32imc FERRITE_PROFILE_CORE=y
if ! configure esp32s3 "$here/esp-idf" riscv32imc -DIDF_TARGET=esp32s3 && grep -qF 'esp32s3 is not supported' "$out/esp32s3.log"; then
  pass
else
  fail esp32s3 "$out/esp32s3.log"
fi
echo "firmware by CMake and make: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
