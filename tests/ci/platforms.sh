# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target
#
# Other operating systems and C libraries.
# for: lib targets/host tests/conformance/c

# the library is type-checked for Windows and macOS
# needs: x86_64-pc-windows-gnu aarch64-apple-darwin; for: lib targets/relax; counts: one
check_systems() {
  local one
  for one in x86_64-pc-windows-gnu aarch64-apple-darwin; do
    echo "== $one"
    cargo check -p ferrite-ffi-capi --features backend,relax --target "$one"
  done
}

# tvm_ffi.dll: exports, import libraries, and every C program that POSIX does not define, by wine
# needs: x86_64-w64-mingw32-gcc wine clang x86_64-pc-windows-gnu
# for: lib targets/host tests/conformance/windows
check_windows() {
  local of_rust=x86_64-pc-windows-gnu
  cargo clippy -p ferrite-ffi-capi --features backend,relax --target $of_rust -- -D warnings
  targets/host/build.sh --target $of_rust --target-dir "$target/windows"
  tests/conformance/windows/run.sh "$target/windows/$of_rust/release"
}

# the command is type-checked for Android, on which Termux builds it
# needs: aarch64-linux-android; for: lib targets/cli targets/rpc; counts: one
check_android() { cargo check -p ferrite-ffi-cli --target aarch64-linux-android; }

# the library for musl: every C program loads it by musl's own loader, and has it inside in static
# programs; a program in Rust shows its symbols to libraries
# needs: musl-gcc x86_64-unknown-linux-musl
check_musl() {
  local of_rust=x86_64-unknown-linux-musl unwinder program=$target/musl/program
  local release=$target/musl/$of_rust/release
  targets/host/build.sh --target $of_rust --target-dir "$target/musl"
  # Debian's musl-gcc leaves out the index of unwind tables, which backtraces read.
  CC="musl-gcc -Wl,--eh-frame-hdr" FERRITE_LIBRARY_DIR=$release ferrite_tests c_programs plain::
  musl-gcc -Iinclude tests/programs/install/program.c -L"$release" -ltvm_ffi -Wl,-rpath,"$release" -o "$program"
  readelf --program-headers "$program" | grep -F 'interpreter: /lib/ld-musl'
  "$program" | grep -x '0.1.16: 16 bits'
  # Debian's musl-gcc has no unwinder for static programs. Rust's is for musl.
  unwinder=$(rustc --print sysroot)/lib/rustlib/$of_rust/lib/self-contained/libunwind.a
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=$PWD/targets/host/musl.sh MUSL_UNWINDER=$unwinder \
    RUSTFLAGS=-Ctarget-feature=-crt-static cargo test -p ferrite-ffi-host --lib --target "$of_rust" \
    --target-dir "$target/musl" dynamic_lib
  musl-gcc -static -Iinclude tests/programs/install/program.c "$release/libtvm_ffi.a" "$unwinder" -o "$program"
  "$program" | grep -x '0.1.16: 16 bits'
}
