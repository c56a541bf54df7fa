# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target and NIGHTLY
#
# Unit tests: with and without std, under Miri, and for other processors.
# for: core alloc-ext

# the README's test command: cargo test --workspace
# for: lib targets tests Cargo.toml Cargo.lock
check_test() { cargo test --workspace; }

# the unit tests of core, alloc-ext and minimal without std and speed, where they are small and have
# one pool of memory, and with one of the two; relax and rpc compile without std, with and without
# their other features
# for: core alloc-ext capi/minimal targets/relax targets/rpc
check_no-std() {
  # One test at a time: builds without std have one thread of execution, with one raised error and
  # one queue of dying objects.
  ring_tests "" --test-threads=1
  ring_tests speed,ferrite-ffi-core/defaults --test-threads=1
  ring_tests std
  cargo test -p ferrite-ffi-minimal --lib -- --test-threads=1
  local features
  for features in "" devices all-builtins speed,devices,all-builtins; do
    echo "== ferrite-ffi-relax, features: ${features:-none}"
    cargo clippy -p ferrite-ffi-relax --lib --no-default-features --features "$features" -- -D warnings
  done
  for features in "" alloc devices speed,alloc,devices; do
    echo "== ferrite-ffi-rpc, features: ${features:-none}"
    cargo clippy -p ferrite-ffi-rpc --lib --no-default-features --features "$features" -- -D warnings
  done
}

ring_tests() { # ring_tests FEATURES [OPTION...]: the unit tests of core and alloc-ext with these features alone
  local crate
  for crate in ferrite-ffi-core ferrite-ffi-alloc; do
    echo "== $crate, features: ${1:-none}"
    cargo test -p "$crate" --lib --no-default-features --features "$1" -- "${@:2}"
  done
}

# the dense kernels of models: each instruction set of the processor against loops; they compile for
# 64-bit Arm and microcontrollers
# needs: aarch64-apple-darwin thumbv7em-none-eabihf; for: targets/kernels core/src/abi
check_dense() {
  local one
  for one in aarch64-apple-darwin thumbv7em-none-eabihf; do
    echo "== $one"
    cargo clippy --locked --manifest-path targets/kernels/Cargo.toml --target-dir "$target/dense" --lib \
      --no-default-features --target "$one" -- -D warnings
  done
  cargo test --locked --manifest-path targets/kernels/Cargo.toml --target-dir "$target/dense"
}

# the dense kernels with NEON, in qemu
# needs: aarch64-linux-gnu-gcc qemu-aarch64 aarch64-unknown-linux-gnu
# for: targets/kernels core/src/abi
check_dense-arm64() {
  local -x CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  local -x CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
  cargo test --locked --manifest-path targets/kernels/Cargo.toml --lib --target aarch64-unknown-linux-gnu \
    --target-dir "$target/dense"
}

# the dense kernels have no undefined behaviour: portable lanes under Miri, and the instruction sets
# of the processor under the address sanitizer
# needs: nightly+miri+rust-src; for: targets/kernels
check_miri-dense() {
  miri --manifest-path targets/kernels/Cargo.toml --lib
  RUSTFLAGS="-Zsanitizer=address" cargo "+$NIGHTLY" test --locked --manifest-path targets/kernels/Cargo.toml --lib \
    --target "$HOST_TARGET" --target-dir "$target/asan"
}

miri() { # miri ARGUMENT...: the tests of cargo under Miri
  MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation ${MIRIFLAGS:-}" \
    cargo "+$NIGHTLY" miri test --target-dir "$target/miri" "$@"
}

# the unit tests of core and minimal have no undefined behaviour
# needs: nightly+miri+rust-src; for: core capi/minimal
check_miri-core() { miri -p ferrite-ffi-core -p ferrite-ffi-minimal --features ferrite-ffi-core/std --lib; }

# the unit tests of alloc-ext, of rpc and, where threads count, capi have no undefined behaviour;
# those of alloc-ext also without std
# needs: nightly+miri+rust-src; for: core alloc-ext capi targets/rpc
check_miri() {
  miri -p ferrite-ffi-alloc --features ferrite-ffi-core/std,ferrite-ffi-alloc/std --lib
  # JSON without std is excluded: it is safe code, and its long numbers take half an hour.
  miri -p ferrite-ffi-alloc --no-default-features --lib -- --test-threads=1 --skip json::
  miri -p ferrite-ffi-capi --no-default-features --features host,speed --lib -- while_others_count
  # Miri lacks the sockets of the first group; the second is safe code; the others copy so much that
  # they take minutes.
  miri -p ferrite-ffi-rpc --lib -- --skip client::tests::served --skip tracker:: --skip copied_in_blocks \
    --skip strings_and_bytes_of_any_length
}

# programs of safe Rust have no undefined behaviour: under Miri, with stacked and with tree borrows
# needs: nightly+miri+rust-src; for: core alloc-ext targets/relax targets/rust
check_miri-safe() {
  local model
  for model in "" -Zmiri-tree-borrows; do
    echo "== ${model:--Zmiri-stacked-borrows}"
    MIRIFLAGS=$model miri -p ferrite-ffi --features relax --test safe
  done
}

# the unit tests of core as 32-bit and as big-endian code; those with threads in six more orders
# needs: nightly+miri+rust-src; for: core
check_miri-cores() {
  local one seed
  for one in i686-unknown-linux-gnu s390x-unknown-linux-gnu powerpc-unknown-linux-gnu; do
    echo "== $one"
    miri -p ferrite-ffi-core -p ferrite-ffi-minimal --features ferrite-ffi-core/std --lib --target "$one"
  done
  for seed in {1..6}; do
    echo "== threads, in order $seed"
    MIRIFLAGS=-Zmiri-seed=$seed miri -p ferrite-ffi-core --features std --lib --target i686-unknown-linux-gnu \
      -- thread twin waits of_many
  done
}

# unit tests and C programs as 64-bit Arm, in qemu
# needs: aarch64-linux-gnu-gcc qemu-aarch64 aarch64-unknown-linux-gnu; for: lib tests/conformance/c
check_arm64() { arm aarch64 aarch64-unknown-linux-gnu aarch64-linux-gnu; }

# the same as 32-bit Arm: hosts whose pointers have 4 bytes
# needs: arm-linux-gnueabihf-gcc qemu-arm armv7-unknown-linux-gnueabihf
# for: lib tests/conformance/c
check_arm32() { arm arm armv7-unknown-linux-gnueabihf arm-linux-gnueabihf; }

arm() { # arm EMULATED TARGET GNU: the names of a machine for qemu, Rust and gcc
  local target_name=$2 gcc=$3-gcc qemu="qemu-$1 -L /usr/$3" of_cargo=CARGO_TARGET_${2^^}
  local -x "${of_cargo//-/_}_LINKER=$gcc" "${of_cargo//-/_}_RUNNER=$qemu"
  local tests=(
    cargo test --target "$target_name" -p ferrite-ffi-core -p ferrite-ffi-alloc -p ferrite-ffi-host -p ferrite-ffi-capi
    --features ferrite-ffi-core/std,ferrite-ffi-alloc/std
  )
  # The excluded test forks, and qemu 7.2 fails an internal assertion when the child starts threads.
  "${tests[@]}" --lib --bins --tests -- --skip a_child_makes_threads_of_its_own
  # The examples of one package run in one process here, so one after the other: some of them
  # install types, which must precede the work of other threads.
  "${tests[@]}" --doc -- --test-threads=1
  cargo build --release --target "$target_name" -p ferrite-ffi-capi --features backend
  # For backtraces: on 32-bit Arm, C has no unwind tables by default.
  CC="$gcc -funwind-tables" FERRITE_RUNNER=$qemu FERRITE_LIBRARY_DIR=$target/$target_name/release \
    ferrite_tests c_programs plain::
}
