# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Unit tests: with and without std, under Miri, and for other processors.

about test "the README's test command: cargo test --workspace"
check_test() { cargo test --workspace; }

about no-std "the unit tests of core, alloc-ext and minimal without std and speed, where they are small and have one pool of memory, and with one of the two"
# Runs one test at a time: builds without std have one thread of execution, with one raised error and one queue of dying
# objects.
check_no-std() {
  ring_tests "" --test-threads=1 && ring_tests speed --test-threads=1 && ring_tests std &&
    cargo test -p ferrite-ffi-minimal --lib -- --test-threads=1
}

ring_tests() { # ring_tests FEATURES [OPTION...]: the unit tests of core and alloc-ext with these features alone
  local features=$1 crate
  shift
  for crate in ferrite-ffi-core ferrite-ffi-alloc; do
    echo "== $crate, features: ${features:-none}"
    cargo test -p "$crate" --lib --no-default-features --features "$features" -- "$@" || return 1
  done
}

miri() { # miri ARGUMENT...: the tests of cargo under Miri
  need_toolchain "$NIGHTLY" miri rust-src || return 1
  MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation ${MIRIFLAGS:-}" \
    cargo "+$NIGHTLY" miri test --target-dir "$target/miri" "$@"
}

about miri-core "the unit tests of core and minimal have no undefined behaviour"
check_miri-core() { miri -p ferrite-ffi-core -p ferrite-ffi-minimal --features ferrite-ffi-core/std --lib; }

about miri "the unit tests of alloc-ext and, where threads count, capi have no undefined behaviour; those of alloc-ext also without std"
# JSON without std is excluded: it is safe code, and its long numbers take half an hour.
check_miri() {
  miri -p ferrite-ffi-alloc --features ferrite-ffi-core/std,ferrite-ffi-alloc/std --lib &&
    miri -p ferrite-ffi-alloc --no-default-features --lib -- --test-threads=1 --skip json:: &&
    miri -p ferrite-ffi-capi --no-default-features --features std,speed,functions --lib -- while_others_count
}

about miri-safe "programs of safe Rust have no undefined behaviour: under Miri, with stacked and with tree borrows"
check_miri-safe() {
  local model
  for model in "" -Zmiri-tree-borrows; do
    echo "== ${model:--Zmiri-stacked-borrows}"
    MIRIFLAGS=$model miri -p ferrite-ffi --features relax --test safe || return 1
  done
}

about miri-cores "the unit tests of core as 32-bit and as big-endian code; those with threads in six more orders"
check_miri-cores() {
  local one seed
  for one in i686-unknown-linux-gnu s390x-unknown-linux-gnu powerpc-unknown-linux-gnu; do
    echo "== $one"
    miri -p ferrite-ffi-core -p ferrite-ffi-minimal --features ferrite-ffi-core/std --lib --target "$one" || return 1
  done
  for seed in {1..6}; do
    echo "== threads, in order $seed"
    MIRIFLAGS=-Zmiri-seed=$seed miri -p ferrite-ffi-core --features std --lib --target i686-unknown-linux-gnu \
      -- thread twin waits of_many || return 1
  done
}

about arm64 "unit tests and C programs as 64-bit Arm, in qemu"
check_arm64() { arm aarch64 aarch64-unknown-linux-gnu aarch64-linux-gnu arm64; }

about arm32 "the same as 32-bit Arm: hosts whose pointers have 4 bytes"
check_arm32() { arm arm armv7-unknown-linux-gnueabihf arm-linux-gnueabihf armhf; }

arm() { # arm EMULATED TARGET GNU DEBIAN: the names of a machine for qemu, Rust, gcc and Debian
  local target_name=$2 gcc=$3-gcc qemu="qemu-$1 -L /usr/$3" of_cargo=CARGO_TARGET_${2^^}
  need "$gcc" "apt-get install gcc-$3 libc6-dev-$4-cross" &&
    need "qemu-$1" "apt-get install qemu-user" && need_target "$target_name" || return 1
  local -x "${of_cargo//-/_}_LINKER=$gcc" "${of_cargo//-/_}_RUNNER=$qemu"
  local tests=(
    cargo test --target "$target_name" -p ferrite-ffi-core -p ferrite-ffi-alloc -p ferrite-ffi-host -p ferrite-ffi-capi
    --features ferrite-ffi-core/std,ferrite-ffi-alloc/std
  )
  # The excluded test forks, and qemu 7.2 fails an internal assertion when the child starts threads. The examples of one package
  # run in one process here, so one after the other: some of them install types, which must precede the work of other threads.
  "${tests[@]}" --lib --bins --tests -- --skip a_child_makes_threads_of_its_own &&
    "${tests[@]}" --doc -- --test-threads=1 &&
    cargo build --release --target "$target_name" -p ferrite-ffi-capi --features backend &&
    # For backtraces: on 32-bit Arm, C has no unwind tables by default.
    CC="$gcc -funwind-tables" FERRITE_RUNNER=$qemu FERRITE_LIBRARY_DIR=$target/$target_name/release \
      ferrite_tests c_programs plain::
}
