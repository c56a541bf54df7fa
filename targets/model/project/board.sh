#!/usr/bin/env bash
# shellcheck disable=SC2154 # board.conf sets compiler, core, defines, emulator, rust_target and
# stack_least
# usage: build.sh [run [ARGUMENT]]      builds firmware.elf; with `run`, runs it in the emulator. CFLAGS are
# flags of the compiler
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
project=$PWD
root=@ROOT@
ferrite=${FERRITE:-$root}
boards=$ferrite/targets/boards
mcu=$ferrite/targets/mcu
target=${CARGO_TARGET_DIR:-$ferrite/target}
link_script=@TARGET@/link.ld
. "$boards/@TARGET@/board.conf"

FERRITE_POOL_BYTES=0 cargo rustc --quiet --manifest-path "$ferrite/Cargo.toml" --target-dir "$target" --profile mcu \
  -p ferrite-ffi-capi --no-default-features --features @FEATURES@ --target "$rust_target" --crate-type staticlib
library=$target/$rust_target/mcu/libtvm_ffi.a

# TVM's C target writes `half` for float16.
if [ "$core" = cortex_m ]; then compiler+=(-mfp16-format=ieee -Dhalf=_Float16); fi
# The C library and Ferrite's both define nearbyint, with which TVM rounds.
defines+=(-Dnearbyint=rint -Dnearbyintf=rintf)

case $core in
  wasm) start_up=("$mcu/wasm/start.c") defines+=(-Dmain=firmware) ;;
  *) start_up=("$mcu/$core/start.c" "$mcu"/shared/{memory,semihosting}.c) ;;
esac
mkdir -p objects
objects=()
for source in main.c @NAME@.c kernels.c "$boards"/firmware/{element,ffi,print}.c "${start_up[@]}"; do
  "${compiler[@]}" -std=gnu99 -O2 -w -ffunction-sections -fdata-sections "${defines[@]}" ${CFLAGS:-} -I . -I "$ferrite/include" \
    -I "$boards/firmware" -I "$mcu/shared" -I "$mcu/$core" -c "$source" -o "objects/$(basename "$source" .c).o"
  objects+=("objects/$(basename "$source" .c).o")
done

if [ "$core" = wasm ]; then
  wasm-ld --no-entry --gc-sections --stack-first -z "stack-size=$stack_least" --allow-undefined "${objects[@]}" "$library" -o firmware.elf
else
  "${compiler[@]}" -nostartfiles -nostdlib -Wl,--gc-sections -Wl,-z,noexecstack "-Wl,--defsym=STACK_LEAST=$stack_least" -L "$mcu/$core" \
    -T "$boards/$link_script" "${objects[@]}" -lm -lc -lgcc "$library" -lm -lc -lgcc -o firmware.elf
  "${compiler[0]%gcc}size" firmware.elf
fi

[ "${1:-}" = run ] || exit 0
cd "$boards"
argument=${2:-}
if [ "$core" = wasm ]; then
  "${emulator[@]}" "$project/firmware.elf" "$argument"
else
  "${emulator[@]}" -nographic -monitor none -serial none -icount shift=0 -semihosting-config "enable=on,target=native,arg=${argument//,/,,}" \
    -kernel "$project/firmware.elf"
fi
