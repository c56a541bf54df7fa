# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target, logs and OTHER_CRATES
#
# Compiled models, kernel libraries, and other projects on the library.
# for: lib targets/host

clients() { # clients NAME...: programs of tests/programs/clients, on the library of our wheel
  build_wheel
  tests/programs/clients/run.sh "$target"/wheels/*.whl "$@"
}

# compiled models against numpy's outputs
# for: lib tests/programs/aot
check_aot() { ferrite_tests aot; }

# whole models from C and, with tvm_ffi alone, from Python; also as TVM compiles them to C
# needs: gcc valgrind wheel; for: lib targets/relax tests/programs/relax tests/programs/clients
check_relax() {
  build_wheel
  ferrite_tests relax --include-ignored
  tests/programs/clients/run.sh "$target"/wheels/*.whl relax relax_c
}

# language models with a paged key-value cache, compared with TVM's results; the cache with kernels
# in Python, beside a model without pages and beside TVM's runtime, from PyPI
# needs: cc wheel; for: lib targets/relax tests/programs/llm tests/programs/clients/llm
check_llm() { clients llm; }

# 10,000 random operations on paged key-value caches of each kind, and calls with any arguments
# needs: cc wheel; for: lib targets/relax tests/programs/llm tests/programs/clients/llm
check_llm-operations() {
  build_wheel
  LLM_OPERATIONS=10000 LLM_SEED=$RANDOM CLIENT_SECONDS=7200 tests/programs/clients/run.sh "$target"/wheels/*.whl llm
}

# language models that `ferrite model` compiles: logits of random weights equal numpy's, the small
# decoder writes the text that numpy writes
# needs: wheel; for: targets/relax targets/model tests/programs/clients/language
check_language-models() {
  build_wheel
  tests/programs/clients/run.sh "$target"/wheels/*.whl language
}

# the small decoder writes the same text on the host, OpenCL, a Cortex-M33 and WebAssembly; a prompt
# that is too long, and one byte of memory too few, are errors
# needs: wheel arm-board thumbv8m.main-none-eabihf wasm32-unknown-unknown node libOpenCL.so.1
# for: targets/relax targets/model targets/boards targets/mcu tests/programs/clients/language_boards
check_language-boards() {
  build_wheel
  CLIENT_SECONDS=1800 tests/programs/clients/run.sh "$target"/wheels/*.whl language_boards
}

# networks in floats and in 8 bits, as ONNX Runtime quantises them, give its scores of pictures on a
# Cortex-M4F, with weights that stay bytes
# needs: wheel arm-board wasm32-unknown-unknown
# for: targets/relax targets/model targets/boards tests/programs/clients/quantised_boards
check_quantised-boards() {
  build_wheel
  CLIENT_SECONDS=1800 tests/programs/clients/run.sh "$target"/wheels/*.whl quantised_boards
}

# MiniLM embeds sentences as ONNX Runtime does; downloads 130 MB
# needs: wheel; for: targets/relax targets/model tests/programs/clients/minilm
check_minilm() {
  build_wheel
  tests/programs/clients/run.sh "$target"/wheels/*.whl minilm
}

# ONNX graphs as exporters write them, rewritten for TVM's importer: shapes, branches, recurrent and
# quantised operators give ONNX Runtime's results
# needs: wheel; for: targets/model tests/programs/clients/onnx_graphs
check_onnx-graphs() { clients onnx_graphs; }

# programs and modules of PyTorch, compiled by `ferrite model`, give PyTorch's results; downloads
# 3 GB
# needs: wheel; for: targets/model tests/programs/clients/torch_programs
check_torch-programs() {
  build_wheel
  CLIENT_SECONDS=1800 tests/programs/clients/run.sh "$target"/wheels/*.whl torch_programs
}

# networks of packages, compiled by `ferrite model`, give ONNX Runtime's results; prints both times,
# and those after a search for schedules; downloads 120 MB
# needs: wheel; for: targets/relax targets/model tests/programs/clients/models
check_networks() {
  build_wheel
  CLIENT_SECONDS=7200 tests/programs/clients/run.sh "$target"/wheels/*.whl models
}

# operators that `ferrite model` compiles for CPUs: results of schedules equal those of TVM's loops,
# loops are vectorised, polynomials are as exact as they say
# needs: wheel; for: targets/model/schedule tests/programs/clients/schedules
check_model-schedules() {
  build_wheel
  CLIENT_SECONDS=1800 tests/programs/clients/run.sh "$target"/wheels/*.whl schedules
}

# dense operators of models become calls of the kernels, whose results are those of TVM's own code
# needs: cc wheel; for: targets/model targets/kernels tests/programs/clients/kernel_calls
check_kernel-calls() { clients kernel_calls; }

# TVM's own tests of the Relax virtual machine, from FERRITE_TVM_GIT, on the machine of our wheel
# needs: wheel; for: targets/relax tests/programs/clients/relax_tests
check_relax-tvm-tests() {
  build_wheel
  tests/programs/clients/relax_tests/run.sh "$target"/wheels/*.whl
}

# TVM's JavaScript runtime, two releases from npm, on the library for web pages: models of
# tests/programs/relax, errors, callbacks, memory, and WebGPU on a device in main memory
# needs: node npm wasm32-unknown-unknown
# for: core alloc-ext capi targets/relax targets/gpu targets/web tests/programs/web
check_web() { web_programs; }

# its own tests from FERRITE_TVM_GIT, and those of `web` with asyncify; models that `ferrite model`
# compiles
# needs: node npm wasm-opt wheel wasm32-unknown-unknown
# for: targets/web targets/model tests/programs/web
check_web-suites() {
  build_wheel
  web_programs --suites "$target"/wheels/*.whl
}

# kernels and models on WebGPU in pages of Chromium; the page of targets/web/page, used as people do
# needs: chromium node npm wheel wasm32-unknown-unknown
# for: targets/web targets/model tests/programs/web
check_web-pages() {
  build_wheel
  CLIENT_SECONDS=900 web_programs --pages "$target"/wheels/*.whl
}

# the JavaScript package for web pages: in Node, Deno and Bun, in bundles, its types and its size
# needs: node npm wheel wasm32-unknown-unknown; for: targets/web targets/model tests/programs/web
check_web-package() {
  build_wheel
  build_web
  tests/programs/web/package.sh "$web" "$target"/wheels/*.whl
}

web_programs() { # web_programs [--SET WHEEL]
  build_web
  tests/programs/web/run.sh "$web" "$@"
}

build_web() { # in a folder of its own, as checks of the second lane must; sets $web to the library
  cargo rustc -p ferrite-ffi-capi --locked --no-default-features --features web,ferrite-ffi-web/testing \
    --profile mcu --target wasm32-unknown-unknown --crate-type staticlib --target-dir "$target/web"
  web=$target/web/wasm32-unknown-unknown/mcu/libtvm_ffi.a
}

# classes and functions of a library in Rust, used from Python, C++ and C
# needs: wheel; for: lib targets/rust tests/programs/rust_objects
check_rust-objects() {
  build_wheel
  ferrite_tests rust_objects --include-ignored
  tests/programs/rust_objects/run.sh "$target"/wheels/*.whl
}

# projects of Rust users: a dependency line and 15 lines load kernels, with the library inside and
# beside it; one workspace of program, kernels and firmware; types of other crates as values; a
# mistake in a class or an exported function is one error
# needs: thumbv7em-none-eabihf; for: lib targets/rust targets/relax tests/programs/rust
check_rust() {
  ferrite_tests rust_projects --include-ignored
  ferrite_tests rust_mistakes --include-ignored
  cargo test -p ferrite-ffi --features "$OTHER_CRATES" --test interop
  cargo test -p ferrite-ffi -p ferrite-ffi-core --features "$OTHER_CRATES" -- interop serde
  rust_examples
}

rust_examples() { # the examples of the Rust crate print what they should
  local run=(cargo run --quiet -p ferrite-ffi --features "$OTHER_CRATES,ferrite-ffi/relax" --example)
  local printed=$logs/rust-examples.txt one
  for one in program objects devices crates; do "${run[@]}" "$one"; done >"$printed"
  "${run[@]}" model -- tests/programs/relax/models/cnn/bytecode.so >>"$printed"
  diff tests/programs/rust/examples.txt "$printed"
}

# installed files: the command, programs on them by CMake, pkg-config and Meson, and upstream's
# examples with its own CMake files
# needs: g++; for: capi include targets/host targets/cli tests/programs/install Makefile meson.build
check_install() {
  host_library release
  cargo build -p ferrite-ffi-cli
  tests/programs/install/run.sh "$target/cxx-abi/release" "$target/debug/ferrite"
}

# the wheels of a release: for glibc 2.17 on x86-64 and AArch64 (auditwheel says so), and the first
# one runs
# needs: g++ aarch64-linux-gnu-g++ aarch64-unknown-linux-gnu
check_manylinux() {
  rm -rf "$target/manylinux-wheels"
  targets/host/python/wheels.sh "$target/manylinux-wheels"
  targets/host/python/test.sh "$target"/manylinux-wheels/*x86_64.whl
}

# the Debian package: made, installed, programs on it, removed
# needs: dpkg-shlibdeps cmake lintian g++
# for: targets/host targets/cli targets/kernels include Makefile
check_deb() {
  host_library release
  targets/host/build.sh --command --target-dir "$target/cxx-abi"
  tests/programs/install/deb.sh "$target/cxx-abi/release"
}

# cargo cinstall: headers, both libraries, a pkg-config file, and a program on them
# needs: cargo-cinstall pkg-config cc readelf; for: capi include; counts: one
check_cinstall() {
  local stage=$target/cinstall/stage program=$target/cinstall/program
  rm -rf "$stage"
  cargo cinstall --release -p ferrite-ffi-capi --target-dir "$target/cinstall" --destdir "$stage" \
    --prefix /usr --libdir /usr/lib
  local -x PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_PATH=$stage/usr/lib/pkgconfig
  [ "$(find "$stage" -name '*.so*')" = "$stage/usr/lib/libtvm_ffi.so" ]
  readelf -d "$stage/usr/lib/libtvm_ffi.so" | grep -F '[libtvm_ffi.so]'
  # shellcheck disable=SC2046 # options are words
  cc tests/programs/install/program.c $(pkg-config --cflags --libs tvm_ffi) -Wl,-rpath,"$stage/usr/lib" -o "$program"
  "$program" | grep -x '0.1.16: 16 bits'
}

# the first command of the README, and a command that it proposes
# needs: cc; for: lib targets/host/quickstart targets/cli README.md; counts: one
check_quickstart() {
  local printed=$logs/quickstart.txt proposed
  cargo run --release </dev/null | tee "$printed"
  head -n 1 "$printed" | grep 'about a minute'
  grep -x '  cargo run --release -- gpu' "$printed"
  # The unoptimised command, which the check `install` needs, too.
  proposed=$(sed -n 's/^  cargo run --release \(-p ferrite-ffi-cli .*\)/cargo run --quiet \1/p' "$printed")
  [ "$(bash -c "$proposed")" = 11 ] || {
    echo "this does not print 11: $proposed"
    return 1
  }
}

# the command ferrite: what it finds in libraries of every kind, as files, and calls of their
# functions
# needs: cc valgrind groff; for: lib targets/cli
check_cli() { cargo test -p ferrite-ffi-cli -- --include-ignored; }

# 10,000 sessions of `ferrite rpc serve`, after which the server has neither more memory nor more
# files
# needs: cc; for: targets/cli targets/rpc
check_rpc-sessions() {
  FERRITE_RPC_SESSIONS=10000 nice cargo test -p ferrite-ffi-cli --test rpc many_sessions
}

# the command with C++ names: its checks and calls, and what it says of the libraries of TVM,
# TileLang and XGrammar from PyPI, in which it finds no mistake
# needs: g++; for: targets/cli tests/programs/inspected
check_inspected() {
  local options=(-p ferrite-ffi-cli --features cxx-abi --target-dir "$target/cli-cxx")
  cargo test "${options[@]}" --test check --test call
  cargo build "${options[@]}"
  tests/programs/inspected/run.sh "$target/cli-cxx/debug/ferrite"
}

# declarations of ferrite stubs: in Python under mypy --strict, in C and in Rust, also of a Python
# package
# needs: cc g++ python3; for: lib targets/cli tests/programs/stubs; counts: one
check_stubs() {
  host_library release
  cargo build -p ferrite-ffi-cli
  tests/programs/stubs/run.sh "$target/debug/ferrite" "$target/cxx-abi/release"
}

# TVM's compiler and another C++ client, from PyPI, on the library of our wheel; the search for
# schedules of `ferrite model --tune`, with candidates that crash or hang and damaged records
# needs: cc wheel; for: lib targets/host targets/model tests/programs/clients
check_tvm-client() { clients tvm; }

# TVM's client, unmodified, and a Cortex-M4F in QEMU: digits, times, a system library, and what does
# not fit
# needs: wheel arm-board
# for: core capi include targets/boards targets/mcu tests/programs/clients/rpc_board
check_rpc-board() { clients rpc_board; }

# TVM's client, unmodified, and `ferrite rpc serve`: values, copies, files, modules, models, times,
# trackers, pipes, several clients, further servers, both clients in one process; peers that break
# the protocol; kernels that crash or do not end
# needs: cc wheel; for: lib targets/rpc targets/cli tests/programs/clients/rpc
check_rpc() { clients rpc; }

# MetaSchedule tunes products of matrices on `ferrite rpc serve`, through `ferrite rpc tracker`: no
# trial fails; also on 64-bit Arm in qemu, with glibc and with musl, and on x86-64 with musl. A
# static command does all but loading
# needs: cc wheel readelf aarch64-linux-gnu-gcc qemu-aarch64 musl-gcc
# needs: aarch64-unknown-linux-gnu aarch64-unknown-linux-musl x86_64-unknown-linux-musl
# for: lib targets/host targets/rpc targets/cli tests/programs/clients/rpc_tuning
check_rpc-tuning() {
  local -x FERRITE_MACHINES=$target/rpc-machines CLIENT_SECONDS=3600
  build_wheel
  tests/programs/clients/rpc_tuning/build.sh "$FERRITE_MACHINES"
  tests/programs/clients/run.sh "$target"/wheels/*.whl rpc_tuning
}

# TVM's own tests of remote calls, from FERRITE_TVM_GIT, with `ferrite rpc serve` as their server
# needs: cc wheel; for: targets/rpc targets/cli tests/programs/clients/rpc_tests
check_rpc-tvm-tests() {
  build_wheel
  tests/programs/clients/rpc_tests/run.sh "$target"/wheels/*.whl
}

# MetaSchedule measures candidates on the board: firmware for each, one after another
# needs: wheel arm-board
# for: core capi include targets/boards targets/mcu tests/programs/clients/rpc_board_tuning
check_rpc-board-tuning() {
  build_wheel
  CLIENT_SECONDS=1800 tests/programs/clients/run.sh "$target"/wheels/*.whl rpc_board_tuning
}

# TileLang 0.1.11, 0.1.12 and 0.1.15 and apache-tvm-tirx, from PyPI, generate code on the library of
# our wheel
# needs: wheel; for: lib targets/host tests/programs/clients
check_tilelang() { clients tilelang tirx; }

# a kernel of CUTLASS's DSL, from PyPI, compiled without a GPU, exported and loaded on the library
# of our wheel
# needs: cc wheel; for: targets/host tests/programs/clients/cutlass
check_cutlass() { clients cutlass; }

# programs that JAX, from PyPI, compiles, also over two processes, call C++ and Python on the
# library of our wheel
# needs: wheel; for: targets/host tests/programs/clients/jax
check_jax() { clients jax; }

# tensors, modules, functions and models carried by multiprocessing, joblib, dask and Ray, from
# PyPI; pickling under earlier releases
# needs: cc wheel; for: targets/host tests/programs/clients/processes; counts: one
check_processes() {
  build_wheel
  tests/programs/clients/processes/run.sh "$target"/wheels/*.whl
}

# XGrammar's own tests on the library of our wheel, and times of calls with PyTorch's tensors;
# downloads 6 GB
# needs: wheel; for: targets/host targets/python tests/programs/clients/xgrammar
check_xgrammar() {
  build_wheel
  tests/programs/clients/xgrammar/run.sh --calls "$target"/wheels/*.whl
  tests/programs/clients/xgrammar/run.sh "$target"/wheels/*.whl
}

kernel_libraries() { # builds those in C, C++ and Rust, and the wheel with the library that they run on
  build_wheel
  make --quiet -C targets/host/kernels -j "$(nproc)"
}

# the kernel libraries in C, C++ and Rust: operators against numpy, bad input, adaptors to numpy,
# JAX and by protocol, the JIT builder, one library on every CPython and both libtvm_ffi
# needs: setpriv cc make wheel; for: lib include targets/host
check_kernels() {
  kernel_libraries
  targets/host/kernels/tests/run.sh "$target"/wheels/*.whl
}

# the kernel libraries with PyTorch: operators, autograd, torch.compile; downloads 3 GB
# needs: cc make wheel; for: targets/host
check_kernels-torch() {
  kernel_libraries
  targets/host/kernels/tests/run.sh "$target"/wheels/*.whl torch
}
