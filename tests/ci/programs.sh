# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Compiled models and other projects on the library.

about aot "compiled models against numpy's outputs"
check_aot() { ferrite_tests aot; }

about relax "whole models from C and, with tvm_ffi alone, from Python; also as TVM compiles them to C"
check_relax() {
  need gcc "apt-get install gcc" && need valgrind "apt-get install valgrind" && build_wheel && ferrite_tests relax --include-ignored &&
    tests/programs/clients/run.sh "$target"/wheels/*.whl relax relax_c
}

about relax-tvm-tests "TVM's own tests of the Relax virtual machine, from FERRITE_TVM_GIT, on the machine of our wheel"
check_relax-tvm-tests() {
  build_wheel && tests/programs/clients/relax_tests/run.sh "$target"/wheels/*.whl
}

about rust-objects "classes and functions of a library in Rust, used from Python, C++ and C"
check_rust-objects() {
  need g++ "apt-get install g++" && build_wheel && ferrite_tests rust_objects --include-ignored &&
    tests/programs/rust_objects/run.sh "$target"/wheels/*.whl
}

about rust "projects of Rust users: a dependency line and 15 lines load kernels, with the library inside and beside it; one workspace of program, kernels and firmware; types of other crates as values; a mistake in a class or an exported function is one error"
check_rust() {
  need_target thumbv7em-none-eabihf && ferrite_tests rust_projects --include-ignored &&
    ferrite_tests rust_mistakes --include-ignored &&
    cargo test -p ferrite-ffi --features "$OTHER_CRATES" --test interop &&
    cargo test -p ferrite-ffi -p ferrite-ffi-core --features "$OTHER_CRATES" -- interop serde && rust_examples
}

rust_examples() { # the examples of the Rust crate print what they should
  local run=(cargo run --quiet -p ferrite-ffi --features "$OTHER_CRATES,ferrite-ffi/relax" --example)
  local printed=$target/ci/rust-examples.txt
  {
    "${run[@]}" program && "${run[@]}" objects && "${run[@]}" devices && "${run[@]}" crates &&
      "${run[@]}" model -- tests/programs/relax/models/cnn/bytecode.so
  } >"$printed" && diff tests/programs/rust/examples.txt "$printed"
}

about install "installed files: the command, programs on them by CMake, pkg-config and Meson, and upstream's examples with its own CMake files"
check_install() {
  host_library release && cargo build -p ferrite-ffi-cli &&
    tests/programs/install/run.sh "$target/cxx-abi/release" "$target/debug/ferrite"
}

about manylinux "the wheels of a release: for glibc 2.17 on x86-64 and AArch64 (auditwheel says so), and the first one runs"
check_manylinux() {
  need g++ "apt-get install g++" && need aarch64-linux-gnu-g++ "apt-get install g++-aarch64-linux-gnu" &&
    need_target aarch64-unknown-linux-gnu && rm -rf "$target/manylinux-wheels" &&
    targets/host/python/wheels.sh "$target/manylinux-wheels" &&
    targets/host/python/test.sh "$target"/manylinux-wheels/*x86_64.whl
}

about deb "the Debian package: made, installed, programs on it, removed"
check_deb() {
  need dpkg-shlibdeps "apt-get install dpkg-dev" && need cmake "apt-get install cmake" && need lintian "apt-get install lintian" &&
    host_library release && targets/host/build.sh --command --target-dir "$target/cxx-abi" &&
    tests/programs/install/deb.sh "$target/cxx-abi/release"
}

about cinstall "cargo cinstall: headers, both libraries, a pkg-config file, and a program on them"
check_cinstall() {
  local stage=$target/cinstall/stage program=$target/cinstall/program
  need cargo-cinstall "cargo install --locked cargo-c@0.10.24" && need pkg-config "apt-get install pkgconf" || return 1
  rm -rf "$stage" && cargo cinstall --release -p ferrite-ffi-capi --target-dir "$target/cinstall" --destdir "$stage" \
    --prefix /usr --libdir /usr/lib || return 1
  local -x PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_PATH=$stage/usr/lib/pkgconfig
  [ "$(find "$stage" -name '*.so*')" = "$stage/usr/lib/libtvm_ffi.so" ] && readelf -d "$stage/usr/lib/libtvm_ffi.so" | grep -F '[libtvm_ffi.so]' &&
    # shellcheck disable=SC2046 # options are words
    cc tests/programs/install/program.c $(pkg-config --cflags --libs tvm_ffi) -Wl,-rpath,"$stage/usr/lib" -o "$program" &&
    "$program" | grep -x '0.1.16: 16 bits'
}

about quickstart "the first command of the README, and a command that it proposes"
check_quickstart() {
  local printed=$target/ci/quickstart.txt proposed
  need cc "apt-get install gcc" && cargo run --release </dev/null | tee "$printed" && [ "${PIPESTATUS[0]}" = 0 ] &&
    head -n 1 "$printed" | grep 'about a minute' && grep -x '  cargo run --release -- gpu' "$printed" || return 1
  # The unoptimised command, which the check `install` needs, too.
  proposed=$(sed -n 's/^  cargo run --release \(-p ferrite-ffi-cli .*\)/cargo run --quiet \1/p' "$printed")
  [ "$(bash -c "$proposed")" = 11 ] || {
    echo "this does not print 11: $proposed"
    return 1
  }
}

about cli "the command ferrite: what it finds in libraries of every kind, as files, and calls of their functions"
check_cli() {
  need cc "apt-get install gcc" && need valgrind "apt-get install valgrind" && need groff "apt-get install groff-base" &&
    cargo test -p ferrite-ffi-cli -- --include-ignored
}

about inspected "the command with C++ names: its checks and calls, and what it says of the libraries of TVM, TileLang and XGrammar from PyPI, in which it finds no mistake"
check_inspected() {
  local options=(-p ferrite-ffi-cli --features cxx-abi --target-dir "$target/cli-cxx")
  need g++ "apt-get install g++" && cargo test "${options[@]}" --test check --test call &&
    cargo build "${options[@]}" && tests/programs/inspected/run.sh "$target/cli-cxx/debug/ferrite"
}

about stubs "declarations of ferrite stubs: in Python under mypy --strict, in C and in Rust, also of a Python package"
check_stubs() {
  need cc "apt-get install gcc" && need python3 "apt-get install python3 python3-pip python3-venv" && host_library release &&
    cargo build -p ferrite-ffi-cli && tests/programs/stubs/run.sh "$target/debug/ferrite" "$target/cxx-abi/release"
}

about tvm-client "TVM's compiler and another C++ client, from PyPI, on the library of our wheel"
check_tvm-client() {
  build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl tvm
}

about tilelang "TileLang 0.1.11, 0.1.12 and 0.1.15 and apache-tvm-tirx, from PyPI, generate code on the library of our wheel"
check_tilelang() {
  build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl tilelang tirx
}

about cutlass "a kernel of CUTLASS's DSL, from PyPI, compiled without a GPU, exported and loaded on the library of our wheel"
check_cutlass() {
  need cc "apt-get install gcc" && build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl cutlass
}

about jax "programs that JAX, from PyPI, compiles, also over two processes, call C++ and Python on the library of our wheel"
check_jax() {
  build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl jax
}

about processes "tensors, modules, functions and models carried by multiprocessing, joblib, dask and Ray, from PyPI; pickling under earlier releases"
check_processes() {
  need cc "apt-get install gcc" && build_wheel && tests/programs/clients/processes/run.sh "$target"/wheels/*.whl
}

about xgrammar "XGrammar's own tests on the library of our wheel; downloads 6 GB"
check_xgrammar() {
  build_wheel && tests/programs/clients/xgrammar/run.sh "$target"/wheels/*.whl
}
