# rust.sh: firmware in Rust: one that logs with defmt, one on the embassy executor; run.sh reads
# this file. shellcheck shell=bash disable=SC2154 # run.sh sets the variables

build_rust() {
  (
    cd rust &&
      export CARGO_TARGET_DIR=$target/boards/rust &&
      cargo build --quiet --locked --release -p boards-firmware -p boards-embassy --target "$rust_firmware" &&
      cargo build --quiet --locked -p boards-decode
  )
}

# Prints the log of the firmware. It leaves the board as bytes, which the decoder turns into lines.
log_rust() { # log_rust FIRMWARE
  local status
  run_program "$1" >"$out/rust.bin"
  status=$?
  "$target/boards/rust/debug/boards-decode" "$1" <"$out/rust.bin" || return 1
  return "$status"
}

# Prints the flash of the whole program: the library is a crate in it, without a size of its own.
rust_flash() { # rust_flash FIRMWARE
  local all data
  all=$(arm-none-eabi-size "$1" | awk 'NR == 2 { print $1 + $2 }')
  data=$(arm-none-eabi-nm -S -t d "$1" | awk '$3 ~ /[rR]/ && $4 ~ /boards_firmware7network/ { sum += $2 } END { print sum + 0 }')
  echo $((all - data))
}

# Runs the tasks of the embassy executor, whose last reading must be printed.
log_embassy() { # log_embassy FIRMWARE
  run_program "$1" | tee /dev/stderr | grep -xF 'mean of [3.0, 1.0, 2.0]: 2' >/dev/null && echo 'row|readings|ok|-'
}

# Runs the device of TVM on the embassy executor.
log_remote() { # log_remote FIRMWARE
  "$root/tests/watchdog/watched.py" 120 ./rpc_peer.py embassy "${emulator[@]}" -display none -monitor none -serial stdio \
    -icount shift=0 -semihosting-config enable=on,target=native -kernel "$1"
}

run_rust() {
  # shellcheck disable=SC2034 # print_rows writes it
  local profile=core built=$target/boards/rust/$rust_firmware/release
  local firmware=$built/boards-firmware embassy=$built/boards-embassy
  out=$target/boards/$board/rust
  mkdir -p "$out"
  build_rust >"$out/build.log" 2>&1 || {
    fail rust "$out/build.log"
    return
  }
  if log_rust "$firmware" >"$out/rust.log" 2>&1; then passed=$((passed + 1)); else fail rust "$out/rust.log"; fi
  print_rows rust - - - - "$(rust_flash "$firmware")"
  if log_embassy "$embassy" >"$out/embassy.log" 2>&1; then passed=$((passed + 1)); else fail embassy "$out/embassy.log"; fi
  print_rows embassy - - - - "$(rust_flash "$embassy")"
  if log_remote "$built/remote" >"$out/remote.log" 2>&1; then passed=$((passed + 1)); else fail remote "$out/remote.log"; fi
  print_rows remote - - - - "$(rust_flash "$built/remote")"
}
