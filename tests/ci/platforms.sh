# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target
#
# Other operating systems and C libraries.

about systems "the library is type-checked for Windows and macOS"
check_systems() {
  local one
  for one in x86_64-pc-windows-gnu aarch64-apple-darwin; do
    need_target "$one" && echo "== $one" && cargo check -p ferrite-ffi-capi --features backend,relax --target "$one" || return 1
  done
}

about windows "tvm_ffi.dll: exports, import libraries, and every C program that POSIX does not define, by wine"
check_windows() {
  local of_rust=x86_64-pc-windows-gnu
  need x86_64-w64-mingw32-gcc "apt-get install gcc-mingw-w64-x86-64" && need wine "apt-get install wine wine64" &&
    need clang "apt-get install clang" && need_target $of_rust &&
    cargo clippy -p ferrite-ffi-capi --features backend,relax --target $of_rust -- -D warnings &&
    targets/host/build.sh --target $of_rust --target-dir "$target/windows" &&
    tests/conformance/windows/run.sh "$target/windows/$of_rust/release"
}

about musl "the library for musl: every C program loads it by musl's own loader, and has it inside in static programs"
check_musl() {
  local of_rust=x86_64-unknown-linux-musl one program=$target/musl/program
  local release=$target/musl/$of_rust/release
  need musl-gcc "apt-get install musl-tools" && need_target $of_rust || return 1
  targets/host/build.sh --target $of_rust --target-dir "$target/musl" || return 1
  # Debian's musl-gcc leaves out the index of unwind tables, which backtraces read.
  CC="musl-gcc -Wl,--eh-frame-hdr" FERRITE_LIBRARY_DIR=$release ferrite_tests c_programs plain:: || return 1
  musl-gcc -Iinclude tests/programs/install/program.c -L"$release" -ltvm_ffi -Wl,-rpath,"$release" -o "$program" &&
    readelf --program-headers "$program" | grep -F 'interpreter: /lib/ld-musl' && "$program" | grep -x '0.1.16: 16 bits' || return 1
  # Debian's musl-gcc has no unwinder for static programs. Rust's is for musl.
  one=$(rustc --print sysroot)/lib/rustlib/$of_rust/lib/self-contained/libunwind.a
  musl-gcc -static -Iinclude tests/programs/install/program.c "$release/libtvm_ffi.a" "$one" -o "$program" &&
    "$program" | grep -x '0.1.16: 16 bits'
}
