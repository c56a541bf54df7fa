# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# The checks: check_NAME for each name in the lists of ci.sh. Sourced by ci.sh, run from the root of the repository.

need() { # need TOOL PACKAGE: fails loudly without it
  command -v "$1" >/dev/null && return 0
  echo "error: $1 is missing: $2"
  return 1
}

need_library() { # need_library SONAME HOW: fails loudly without it
  ldconfig -p | grep -F "$1 " >/dev/null || {
    echo "error: $1 is missing: $2"
    return 1
  }
}

need_toolchain() { # need_toolchain TOOLCHAIN [COMPONENT...]
  need rustup "see https://rustup.rs" || return 1
  local toolchain=$1 component
  shift
  rustup run "$toolchain" rustc --version >/dev/null 2>&1 || {
    echo "error: the toolchain is missing: rustup toolchain install $toolchain --profile minimal"
    return 1
  }
  for component in "$@"; do
    rustup component list --toolchain "$toolchain" --installed | grep "^$component" >/dev/null || {
      echo "error: a component is missing: rustup component add $component --toolchain $toolchain"
      return 1
    }
  done
}

need_target() {
  rustup target list --installed ${2:+--toolchain "$2"} | grep -x "$1" >/dev/null || {
    echo "error: a target is missing: rustup target add $1 ${2:+--toolchain $2}"
    return 1
  }
}

workspaces() { # the manifests of all workspaces: the main one, tools, clients and firmware
  find . \( -name target -o -name '.?*' \) -prune -o -name Cargo.toml -exec grep -l '^\[workspace\]' {} +
}

check_fmt() {
  local all one
  all=$(workspaces) || return 1
  for one in $all; do
    echo "== $one"
    cargo fmt --manifest-path "$one" --all --check -- --color never || return 1
  done
}

check_prose() { need python3 "apt-get install python3" && python3 tests/ci/prose.py; }

check_clippy() {
  cargo clippy --workspace --all-targets -- -D warnings &&
    cargo clippy -p ferrite-capi --features backend -- -D warnings &&
    cargo clippy -p ferrite-capi --features backend,cxx-abi -- -D warnings &&
    clippy_devices opencl,vulkan,cuda,rocm,metal &&
    cargo clippy -p ferrite-capi --all-targets --features legacy -- -D warnings &&
    cargo clippy -p ferrite-capi --no-default-features --features host,builtins -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features --features spin -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features --features client -- -D warnings &&
    cargo clippy -p ferrite-core --no-default-features --features defmt -- -D warnings &&
    cargo clippy -p ferrite-alloc-ext --no-default-features -- -D warnings &&
    cargo clippy -p ferrite-alloc-ext -p ferrite-core --no-default-features --features speed -- -D warnings &&
    cargo clippy -p ferrite-alloc-ext -p ferrite-core --no-default-features --features std -- -D warnings &&
    clippy_board minimal && clippy_board core && clippy_board full && clippy_board full,speed && clippy_other_workspaces
}

clippy_devices() { # clippy_devices KINDS: the kinds together, and each alone
  local kind
  cargo clippy -p ferrite-gpu --all-targets --features "$1" -- -D warnings &&
    cargo clippy -p ferrite-capi --features "legacy,$1" -- -D warnings || return 1
  for kind in ${1//,/ }; do
    cargo clippy -p ferrite-gpu --features "$kind" -- -D warnings || return 1
  done
  for kind in cuda hip; do
    cargo clippy -p ferrite-stand-in --features "$kind" -- -D warnings || return 1
  done
}

clippy_board() { # clippy_board FEATURES: the library for microcontrollers
  cargo clippy -p ferrite-capi --no-default-features --features "$1" --profile mcu \
    --target thumbv7em-none-eabihf -- -D warnings
}

clippy_other_workspaces() {
  local all one
  all=$(workspaces) || return 1
  for one in $all; do
    echo "== $one"
    case $one in
      ./Cargo.toml) ;; # with all sets of features, above
      ./targets/boards/rust/Cargo.toml)
        clippy_at "$one" -p boards-decode && clippy_at "$one" -p boards-firmware --target thumbv7em-none-eabihf || return 1
        ;;
      *) clippy_at "$one" || return 1 ;;
    esac
  done
}

clippy_at() { # clippy_at MANIFEST [OPTION...]
  local manifest=$1
  shift
  cargo clippy --locked --manifest-path "$manifest" --target-dir "$target/clippy" "$@" -- -D warnings
}

check_build() {
  cargo build --release -p ferrite-capi --features backend && host_library release &&
    cargo build --profile mcu -p ferrite-core --no-default-features
}

check_test() { cargo test --workspace; }

# One test at a time without std: such builds have one thread of execution, with one raised error and one queue of dying objects.
check_no-std() {
  ring_tests "" --test-threads=1 && ring_tests speed --test-threads=1 && ring_tests std
}

ring_tests() { # ring_tests FEATURES [OPTION...]: the unit tests of core and alloc-ext with these features alone
  local features=$1 crate
  shift
  for crate in ferrite-core ferrite-alloc-ext; do
    echo "== $crate, features: ${features:-none}"
    cargo test -p "$crate" --lib --no-default-features --features "$features" -- "$@" || return 1
  done
}

check_docs() { RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps; }

check_headers() { cargo run --quiet --manifest-path capi/tools/headers/Cargo.toml -- --check; }

# Prints what the tests print: numbers of symbols, sizes, targets.
ferrite_tests() { # ferrite_tests TEST [ARGUMENT...]
  local test=$1
  shift
  cargo test -p ferrite-tests --test "$test" -- --show-output "$@"
}

check_layout() {
  need gcc "apt-get install gcc g++" && need clang "apt-get install clang" &&
    need python3 "apt-get install python3 python3-pip" && ferrite_tests layout --include-ignored
}

check_exports() {
  need nm "apt-get install binutils" && need python3 "apt-get install python3 python3-pip" &&
    ferrite_tests exports --include-ignored
}

check_c() { ferrite_tests c_programs; }

check_alloc_fail() { ferrite_tests alloc_fail; }

check_aot() { ferrite_tests aot; }

check_forks() {
  need cc "apt-get install gcc" && FORKS=${FORKS:-10000} ferrite_tests forks --test-threads=1
}

check_sanitizers() {
  need cc "apt-get install gcc" && ferrite_tests c_programs --ignored sanitized:: &&
    ferrite_tests backend --ignored sanitized && ferrite_tests aot --ignored no_model_touches
}

check_valgrind() {
  need valgrind "apt-get install valgrind" && ferrite_tests c_programs --ignored valgrind:: &&
    ferrite_tests backend --ignored valgrind && ferrite_tests aot --ignored valgrind
}

check_arm64() { arm aarch64 aarch64-unknown-linux-gnu aarch64-linux-gnu arm64; }
check_arm32() { arm arm armv7-unknown-linux-gnueabihf arm-linux-gnueabihf armhf; }

arm() { # arm EMULATED TARGET GNU DEBIAN: the names of a machine for qemu, Rust, gcc and Debian
  local target_name=$2 gcc=$3-gcc qemu="qemu-$1 -L /usr/$3" of_cargo=CARGO_TARGET_${2^^}
  need "$gcc" "apt-get install gcc-$3 libc6-dev-$4-cross" &&
    need "qemu-$1" "apt-get install qemu-user" && need_target "$target_name" || return 1
  local -x "${of_cargo//-/_}_LINKER=$gcc" "${of_cargo//-/_}_RUNNER=$qemu"
  # The one left out forks, and qemu 7.2 fails an assertion of its own when the child starts threads.
  cargo test --target "$target_name" -p ferrite-core -p ferrite-alloc-ext -p ferrite-host -p ferrite-capi \
    --features ferrite-core/std,ferrite-alloc-ext/std -- --skip a_child_makes_threads_of_its_own &&
    cargo build --release --target "$target_name" -p ferrite-capi --features backend &&
    # For backtraces: as 32-bit Arm, C has no tables to unwind by unless asked.
    CC="$gcc -funwind-tables" FERRITE_RUNNER=$qemu FERRITE_LIBRARY_DIR=$target/$target_name/release \
      ferrite_tests c_programs plain::
}

check_parity() {
  local folder
  need python3 "apt-get install python3 python3-pip" || return 1
  folder=$(tests/conformance/upstream/wheel.sh) || return 1
  CHECK_GOOD_INPUT_ONLY=1 FERRITE_LIBRARY_DIR=$folder/tvm_ffi/lib ferrite_tests c_programs plain::
}

# The same inputs each time, so that a failure comes from what changed; PROPTEST_RNG_SEED=N takes others.
check_properties() {
  need python3 "apt-get install python3 python3-pip" &&
    PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} ferrite_tests parity --include-ignored
}

# The shared object that hosts install, in a folder of its own beside the one that is C alone.
host_library() { # host_library PROFILE
  need g++ "apt-get install g++" && targets/host/build.sh --profile "$1" --target-dir "$target/cxx-abi"
}

upstream() { # upstream SUITE: with the library as it is released
  host_library release &&
    OUT=$target/upstream/release tests/conformance/upstream/run.sh "$target/cxx-abi/release/libtvm_ffi.so" "$1"
}

check_upstream-python() { upstream python; }
check_upstream-cpp() { upstream cpp; }
check_upstream-rust() { upstream rust; }
check_upstream-examples() { upstream examples; }

check_upstream-checked() {
  host_library checked &&
    OUT=$target/upstream/checked tests/conformance/upstream/run.sh "$target/cxx-abi/checked/libtvm_ffi.so"
}

check_upstream-asan() {
  local runtime
  need clang "apt-get install clang" || return 1
  runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
  # The library names the runtime that it needs, so that it can be linked as any other.
  build_asan backend,cxx-abi -C link-arg="$runtime" -C link-arg="-Wl,-rpath,${runtime%/*}" &&
    OUT=$target/upstream/asan tests/conformance/upstream/run.sh --asan "$asan_library"
}

check_cpp() {
  need g++ "apt-get install g++" && need clang++ "apt-get install clang" &&
    need valgrind "apt-get install valgrind" && need python3 "apt-get install python3 python3-pip" || return 1
  ferrite_tests cxx_client --include-ignored
}

build_wheel() { # the only file of $target/wheels
  need g++ "apt-get install g++" && need strip "apt-get install binutils" &&
    need python3 "apt-get install python3 python3-pip python3-venv" || return 1
  rm -rf "$target/wheels"
  CARGO_TARGET_DIR=$target/cxx-abi python3 -m pip wheel --quiet --no-deps -w "$target/wheels" targets/host/python
}

check_reproducible() {
  local copy="$target/reproducible/another folder" cargo_home=${CARGO_HOME:-$HOME/.cargo} ours theirs one found=0
  build_wheel || return 1
  rm -rf "$target/reproducible" && mkdir -p "$copy/tree" || return 1
  git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy/tree" || return 1
  (unset CARGO_TARGET_DIR && CARGO_HOME="$copy/cargo" python3 -m pip wheel --quiet --no-deps -w "$copy" "$copy/tree/targets/host/python") ||
    return 1
  ours=("$target"/wheels/*.whl "$target"/cxx-abi/release/libtvm_ffi.{so,a})
  theirs=("$copy"/*.whl "$copy"/tree/target/release/libtvm_ffi.{so,a})
  for one in 0 1 2; do
    cmp "${ours[$one]}" "${theirs[$one]}" || return 1
  done
  for one in "${ours[@]:1}"; do
    ! grep -aobF -e "$PWD/" -e "$target/" -e "$cargo_home/" -e "$HOME/" -e "$(rustc --print sysroot)" "$one" || found=1
  done
  return $found
}

check_wheel() {
  build_wheel &&
    targets/host/python/test.sh "$target"/wheels/*.whl &&
    OUT=$target/upstream/wheel tests/conformance/upstream/run.sh "$target"/wheels/*.whl python
}

check_releases() {
  local pin name status=0
  build_wheel || return 1
  for pin in tests/conformance/upstream/pins/releases/*.txt; do
    name=$(basename "$pin" .txt)
    echo "== $name"
    OUT=$target/upstream/releases/$name tests/conformance/upstream/run.sh --release "$name" "$target"/wheels/*.whl python ||
      status=1
  done
  return $status
}

check_drift() {
  local wheel version newest status=0
  need clang "apt-get install clang" && build_wheel || return 1
  wheel=$(echo "$target"/wheels/*.whl)
  for version in 0.1.14.post1 0.1.15.post2; do
    echo "== $version"
    tests/conformance/upstream/drift.sh "$version" "$wheel" || status=1
  done
  drift_is_found "$wheel" || status=1
  newest=$(tests/conformance/upstream/drift.sh --newest)
  if [ -z "$newest" ]; then
    echo "the newest release on PyPI is not known: pip index failed"
  elif [ "$newest" != 0.1.15.post2 ]; then
    echo "== $newest, the newest on PyPI: for information"
    tests/conformance/upstream/drift.sh "$newest" "$wheel" | sed 's/^drift: /sum: /'
  fi
  return $status
}

drift_is_found() { # drift_is_found WHEEL: a symbol and a function that its library hides are told of
  local work=$target/ci/drift told
  rm -rf "$work" && python3 -m zipfile -e "$1" "$work" || return 1
  sed -i 's/TVMFFIEnvTensorAlloc\x00/TVMFFIEnvTensorAlloX\x00/; s/ffi\.ListReverse/ffi.ListReversX/' \
    "$work/ferrite_tvm_ffi.libs/libtvm_ffi.so"
  told=$(tests/conformance/upstream/drift.sh 0.1.15.post2 "$work/ferrite_tvm_ffi.libs/libtvm_ffi.so") && return 1
  grep '^  TVMFFIEnvTensorAlloc: new' <<<"$told" && grep '^  global ffi.ListReverse: new' <<<"$told"
}

check_tvm-client() {
  build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl tvm
}

check_tilelang() {
  build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl tilelang tirx
}

check_legacy() {
  need valgrind "apt-get install valgrind" && need xz "apt-get install xz-utils" &&
    cargo test -p ferrite-alloc-ext --features packed packed && cargo test -p ferrite-capi --features legacy legacy:: &&
    ferrite_tests legacy --include-ignored && tests/conformance/legacy/run.sh "$target/legacy/release/libtvm_ffi.so"
}

check_gpu-opencl() {
  need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    cargo test -p ferrite-gpu --features opencl &&
    ferrite_tests gpu --include-ignored opencl && ferrite_tests gpu_driver --ignored plain::opencl &&
    build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl devices
}

check_gpu-checked() {
  need clang "apt-get install clang" && need valgrind "apt-get install valgrind" &&
    need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    need_library libvulkan.so.1 "apt-get install libvulkan1 mesa-vulkan-drivers" &&
    clippy_devices webgpu && build_asan opencl,vulkan,webgpu || return 1
  local -x CC=clang FERRITE_LIBRARY_DIR=${asan_library%/*} NODEVICE_SELECT=1
  ferrite_tests gpu --ignored opencl_under_address && ferrite_tests gpu_driver --ignored sanitized::opencl &&
    ferrite_tests gpu --ignored sanitized_ || return 1
  unset CC FERRITE_LIBRARY_DIR
  ferrite_tests gpu_driver --ignored valgrind::opencl
}

check_gpu-tvm-tests() {
  need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    need xz "apt-get install xz-utils" && build_wheel && tests/programs/clients/device_tests/run.sh "$target"/wheels/*.whl
}

check_gpu-cuda() {
  need python3 "apt-get install python3 python3-pip" || return 1
  local FERRITE_NVRTC
  FERRITE_NVRTC=$(tests/programs/device/fetch_nvrtc.sh "$target/nvrtc") && export FERRITE_NVRTC &&
    cargo test -p ferrite-gpu --features cuda --lib --test cuda --test cuda_without_driver --test cuda_fork \
      --test cuda_failures -- --show-output &&
    ferrite_tests gpu --include-ignored cuda &&
    build_wheel && with_cuda tests/programs/clients/run.sh "$target"/wheels/*.whl cuda
}

with_cuda() { # with_cuda COMMAND...: with the stand-in that tests have built, unless there is a GPU
  if [ -e /dev/nvidia0 ] || [ -e /dev/dxg ]; then "$@"; else LD_LIBRARY_PATH=$target/stand-in/cuda/lib "$@"; fi
}

check_gpu-rocm() {
  cargo test -p ferrite-gpu --features rocm --test rocm --test rocm_failures --test rocm_fork --test rocm_without_device \
    -- --nocapture && ferrite_tests gpu --include-ignored rocm
}

check_gpu-metal() {
  need_target aarch64-apple-darwin &&
    cargo check --target aarch64-apple-darwin -p ferrite-gpu --features metal &&
    cargo clippy --target aarch64-apple-darwin -p ferrite-gpu --features metal -- -D warnings &&
    cargo test -p ferrite-gpu --features metal --lib metal:: && cargo test -p ferrite-gpu --features metal --test metal
}

check_gpu-webgpu() { # builds in a folder of its own, without optimisation: wgpu is large
  need_library libvulkan.so.1 "apt-get install libvulkan1 mesa-vulkan-drivers" || return 1
  # Without Mesa's choice of a device, which complains where there is no display.
  export NODEVICE_SELECT=1
  CARGO_TARGET_DIR=$target/webgpu cargo test -p ferrite-gpu --features webgpu &&
    ferrite_tests gpu --include-ignored webgpu_with &&
    build_wheel && wheel_with "$target/webgpu/debug/libtvm_ffi.so" "$target/webgpu/wheels" &&
    tests/programs/clients/run.sh "$target"/webgpu/wheels/*.whl webgpu
}

wheel_with() { # wheel_with LIBRARY FOLDER: a copy of the wheel with another library
  rm -rf "$2" && mkdir -p "$2" && strip -o "$2/libtvm_ffi.so" "$1" && python3 - "$target"/wheels/*.whl "$2" <<'END'
import pathlib, sys, zipfile

wheel, folder = map(pathlib.Path, sys.argv[1:])
with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(folder / wheel.name, "w") as new:
    for entry in old.infolist():
        other = folder / pathlib.Path(entry.filename).name
        new.writestr(entry, other.read_bytes() if other.is_file() else old.read(entry))
END
}

check_gpu-vulkan() {
  need_library libvulkan.so.1 "apt-get install libvulkan1 mesa-vulkan-drivers" &&
    need valgrind "apt-get install valgrind" &&
    cargo test -p ferrite-gpu --features vulkan && vulkan_layer --test vulkan &&
    vulkan_layer --test vulkan_driver -- sets &&
    ferrite_tests gpu --include-ignored vulkan_
}

vulkan_layer() { # vulkan_layer ARGUMENT...: tests of cargo under the validation layer, which has nothing to say
  local folder=$target/ci/vulkan-layer
  mkdir -p "$folder"
  printf 'khronos_validation.%s\n' 'debug_action = VK_DBG_LAYER_ACTION_LOG_MSG' 'report_flags = error,warn,info' \
    'log_filename = stdout' >"$folder/vk_layer_settings.txt"
  VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VK_LAYER_SETTINGS_PATH=$folder \
    VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT \
    cargo test -p ferrite-gpu --features vulkan "$@" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    return 1
  }
  grep -F createinstance-status-message "$folder/log" >/dev/null || {
    echo "error: the validation layer is missing: apt-get install vulkan-validationlayers"
    return 1
  }
  if grep -E '(ERROR|WARN|PERF) / ' "$folder/log"; then return 1; fi
  grep '^test result: ' "$folder/log" || echo "under the validation layer: $*"
}

check_xgrammar() {
  build_wheel && tests/programs/clients/xgrammar/run.sh "$target"/wheels/*.whl
}

check_cross() {
  local one
  for one in "${CROSS_TARGETS[@]}"; do
    need_target "$one" || return 1
    echo "== $one"
    cargo build --release -p ferrite-core --target "$one" --no-default-features || return 1
    cargo build --release -p ferrite-alloc-ext --target "$one" --no-default-features || return 1
  done
  echo "== fast code without an operating system: WebAssembly, hosts, and a core without compare-and-swap"
  for one in wasm32-unknown-unknown "$HOST_TARGET" thumbv6m-none-eabi; do
    cargo check -p ferrite-alloc-ext --target "$one" --no-default-features --features speed || return 1
  done
}

check_minimal() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need_target thumbv7em-none-eabihf && ferrite_tests minimal --include-ignored
}

check_core-size() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need_target thumbv7em-none-eabihf && ferrite_tests core_size --include-ignored
}

check_full-size() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need_target thumbv7em-none-eabihf && ferrite_tests full_size --include-ignored
}

check_platform() {
  need_target thumbv7em-none-eabihf && need_target riscv32imac-unknown-none-elf && tests/embedded/platform/run.sh cortex-m4f riscv32
}

check_boards() { targets/boards/run.sh; }

check_guide() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need python3 "apt-get install python3 python3-pip python3-venv" &&
    need_target thumbv7em-none-eabihf && tests/ci/guide.sh targets/boards/README.md '4 squared is 16'
}

check_gpu-guide() {
  need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    need gcc "apt-get install gcc" && need python3 "apt-get install python3 python3-pip python3-venv" &&
    tests/ci/guide.sh targets/gpu/README.md '0 0 64 128 192 256 320 384 448 512'
}

check_msrv() {
  need_toolchain "$MSRV" || return 1
  cargo "+$MSRV" check --workspace --all-targets --target-dir "$target/msrv" &&
    cargo "+$MSRV" check -p ferrite-gpu --features webgpu --target-dir "$target/msrv"
}

check_loom() {
  RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3} \
    cargo test -p ferrite-tests --release --test loom --target-dir "$target/loom"
}

miri() { # miri ARGUMENT...: the tests of cargo under Miri
  need_toolchain "$NIGHTLY" miri rust-src || return 1
  MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation ${MIRIFLAGS:-}" \
    cargo "+$NIGHTLY" miri test --target-dir "$target/miri" "$@"
}

check_miri-core() { miri -p ferrite-core --features std --lib; }

# JSON without std is left out: it is safe code, and its long numbers take half an hour.
check_miri() {
  miri -p ferrite-alloc-ext --features ferrite-core/std,ferrite-alloc-ext/std --lib &&
    miri -p ferrite-alloc-ext --no-default-features --lib -- --test-threads=1 --skip json:: &&
    miri -p ferrite-capi --no-default-features --features std,speed,functions --lib -- while_others_count
}

check_miri-cores() {
  local one seed
  for one in i686-unknown-linux-gnu s390x-unknown-linux-gnu powerpc-unknown-linux-gnu; do
    echo "== $one"
    miri -p ferrite-core --features std --lib --target "$one" || return 1
  done
  for seed in {1..6}; do
    echo "== threads, in order $seed"
    MIRIFLAGS=-Zmiri-seed=$seed miri -p ferrite-core --features std --lib --target i686-unknown-linux-gnu \
      -- thread twin waits of_many || return 1
  done
}

check_tsan() {
  need_toolchain "$NIGHTLY" rust-src || return 1
  local tests=(cargo "+$NIGHTLY" test -Zbuild-std --target "$HOST_TARGET" --target-dir "$target/tsan")
  local -x RUSTFLAGS="-Zsanitizer=thread" CARGO_PROFILE_DEV_OPT_LEVEL=1
  # Null for what fits no memory, as malloc gives it.
  local -x TSAN_OPTIONS=allocator_may_return_null=1
  "${tests[@]}" -p ferrite-core --features std --lib && "${tests[@]}" -p ferrite-tests --test threads
}

asan_library=$target/asan/$HOST_TARGET/debug/libtvm_ffi.so

build_asan() { # build_asan FEATURES [FLAG...]: makes $asan_library, with these flags of rustc
  need_toolchain "$NIGHTLY" || return 1
  local features=$1
  shift
  RUSTFLAGS="-Zsanitizer=address" cargo "+$NIGHTLY" rustc -p ferrite-capi --features "$features" --lib \
    --target "$HOST_TARGET" --target-dir "$target/asan" -- "$@" || return 1
  nm -D --undefined-only "$asan_library" | grep __asan_report >/dev/null || {
    echo "error: the library has no checks in it"
    return 1
  }
}

check_asan() {
  need clang "apt-get install clang" && build_asan backend || return 1
  CC=clang FERRITE_LIBRARY_DIR=${asan_library%/*} ferrite_tests c_programs --ignored sanitized::
}

check_instructions() {
  need valgrind "apt-get install valgrind" && need python3 "apt-get install python3" && tests/bench/run.sh --budgets
}

check_quickstart() { need cc "apt-get install gcc" && cargo run --release </dev/null; }

check_size() {
  need strip "apt-get install binutils" || return 1
  cargo build --release -p ferrite-capi --features backend && host_library release || return 1
  local copy=$target/ci/stripped copy_cxx=$target/ci/stripped-cxx
  strip -o "$copy" "$target/release/libtvm_ffi.so" || return 1
  strip -o "$copy_cxx" "$target/cxx-abi/release/libtvm_ffi.so" || return 1
  echo "libtvm_ffi.so, stripped: $(stat -c %s "$copy") bytes (upstream's: 2585024)"
  size -A "$copy" | awk '$2 > 4096'
  echo "with cxx-abi: $(stat -c %s "$copy_cxx") bytes, $(($(stat -c %s "$copy_cxx") - $(stat -c %s "$copy"))) more"
  size "$copy" "$copy_cxx"
}

check_feature-size() { tests/bench/feature_sizes.sh; }

check_deny() { deny licenses sources bans; }
check_advisories() { deny advisories; }

deny() { # deny WHAT...
  need cargo-deny "cargo install --locked cargo-deny" && cargo deny --all-features check "$@"
}

check_fuzz() {
  need cargo-fuzz "cargo install --locked cargo-fuzz" && need_toolchain "$NIGHTLY" || return 1
  local one
  for one in fuzz/fuzz_targets/*.rs; do
    one=$(basename "$one" .rs)
    echo "== $one"
    # The seed makes a failure come again.
    cargo "+$NIGHTLY" fuzz run --target-dir "$target/fuzz" "$one" -- -seed=1 -runs="${FUZZ_RUNS:-200000}" -timeout=60 ||
      return 1
  done
}
