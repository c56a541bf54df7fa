# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target, logs and DEVICE_KINDS
#
# Device modules, on the drivers of this machine or on a stand-in for them.
# for: lib targets/gpu targets/host/kernels tests/programs/device tests/tests/gpu.rs

# OpenCL modules on the driver of this machine (PoCL): from Rust, from C, compiled in process by
# TVM, and kernels of targets/host/kernels
# needs: libOpenCL.so.1 make wheel
check_gpu-opencl() {
  cargo test -p ferrite-ffi-gpu --features opencl
  ferrite_tests gpu --include-ignored opencl
  ferrite_tests gpu_driver --ignored plain::opencl
  clients devices
  kernels_on opencl
}

kernels_on() { # kernels_on KIND: the operators of targets/host/kernels on a kind of device, with the wheel
  make --quiet -C targets/host/kernels cpp
  FERRITE_DEVICE_TESTS=$1 targets/host/kernels/tests/run.sh "$target"/wheels/*.whl devices
}

# CUDA modules on a GPU if there is one, otherwise on a stand-in for its driver, which the output
# says; source through NVRTC
# needs: make wheel
check_gpu-cuda() {
  FERRITE_NVRTC=$(tests/programs/device/fetch_nvrtc.sh "$target/nvrtc")
  export FERRITE_NVRTC
  cargo test -p ferrite-ffi-gpu --features cuda --lib --test cuda --test cuda_graph --test cuda_pool --test cuda_products --test cuda_hopper \
    --test cuda_without_driver --test missing_drivers --test forks --test failures -- --show-output
  ferrite_tests gpu --include-ignored cuda
  build_wheel
  # With the stand-in that tests have built, unless there is a GPU.
  [ -e /dev/nvidia0 ] || [ -e /dev/dxg ] || export LD_LIBRARY_PATH=$target/stand-in/cuda/lib \
    FERRITE_CUBLASLT=$target/stand-in/cuda/lib/libcuda.so.1
  tests/programs/clients/run.sh "$target"/wheels/*.whl cuda
  kernels_on cuda
}

# ROCm modules on an AMD GPU and its driver, otherwise on a stand-in for that: from Rust and from C
check_gpu-rocm() {
  cargo test -p ferrite-ffi-gpu --features rocm --test rocm --test rocm_graph --test rocm_pool --test missing_drivers \
    --test forks --test failures -- --nocapture
  ferrite_tests gpu --include-ignored rocm
}

# Metal modules are type-checked and linted for aarch64-apple-darwin; on this system, what needs no
# framework is tested
# needs: aarch64-apple-darwin; for: lib targets/gpu
check_gpu-metal() {
  cargo check --target aarch64-apple-darwin -p ferrite-ffi-gpu --features metal
  cargo clippy --target aarch64-apple-darwin -p ferrite-ffi-gpu --features metal -- -D warnings
  cargo test -p ferrite-ffi-gpu --features metal --lib metal::
  cargo test -p ferrite-ffi-gpu --features metal --test metal
}

# Vulkan modules on the driver of this machine (llvmpipe): from Rust and from C, with a driver that
# fails at any call, under the validation layer and valgrind
# needs: libvulkan.so.1 valgrind
check_gpu-vulkan() {
  cargo test -p ferrite-ffi-gpu --features vulkan
  vulkan_layer --test vulkan
  vulkan_layer --test vulkan_driver -- sets
  ferrite_tests gpu --include-ignored vulkan_
}

vulkan_layer() { # vulkan_layer ARGUMENT...: tests of cargo under the validation layer, without messages from it
  local folder=$logs/vulkan-layer
  mkdir -p "$folder"
  printf 'khronos_validation.%s\n' 'debug_action = VK_DBG_LAYER_ACTION_LOG_MSG' 'report_flags = error,warn,info' \
    'log_filename = stdout' >"$folder/vk_layer_settings.txt"
  VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VK_LAYER_SETTINGS_PATH=$folder \
    VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT \
    cargo test -p ferrite-ffi-gpu --features vulkan "$@" >"$folder/log" 2>&1 || {
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

# WebGPU modules on the Vulkan driver of this machine (llvmpipe): from Rust, from C, and compiled in
# process by TVM
# needs: libvulkan.so.1 wheel
check_gpu-webgpu() { # builds in a folder of its own, without optimisation: wgpu is large
  # Disables Mesa's device selection, which prints warnings without a display.
  export NODEVICE_SELECT=1
  CARGO_TARGET_DIR=$target/webgpu cargo test -p ferrite-ffi-gpu --features webgpu
  ferrite_tests gpu --include-ignored webgpu_with
  build_wheel
  wheel_with "$target/webgpu/debug/libtvm_ffi.so" "$target/webgpu/wheels"
  tests/programs/clients/run.sh "$target"/webgpu/wheels/*.whl webgpu
}

wheel_with() { # wheel_with LIBRARY FOLDER: a copy of the wheel with another library
  rm -rf "$2"
  mkdir -p "$2"
  strip -o "$2/libtvm_ffi.so" "$1"
  python3 - "$target"/wheels/*.whl "$2" <<'END'
import pathlib, sys, zipfile

wheel, folder = map(pathlib.Path, sys.argv[1:])
with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(folder / wheel.name, "w") as new:
    for entry in old.infolist():
        other = folder / pathlib.Path(entry.filename).name
        new.writestr(entry, other.read_bytes() if other.is_file() else old.read(entry))
END
}

# OpenCL, Vulkan and WebGPU with the address sanitizer in the library, also while the driver fails;
# OpenCL under valgrind; WebGPU linted
# needs: clang valgrind libOpenCL.so.1 libvulkan.so.1 nightly
check_gpu-checked() {
  clippy_devices webgpu
  build_asan opencl,vulkan,webgpu
  export CC=clang FERRITE_LIBRARY_DIR=${asan_library%/*} NODEVICE_SELECT=1
  ferrite_tests gpu --ignored opencl_under_address
  ferrite_tests gpu_driver --ignored sanitized::opencl
  ferrite_tests gpu --ignored sanitized_
  unset CC FERRITE_LIBRARY_DIR
  ferrite_tests gpu_driver --ignored valgrind::opencl
}

# TVM's own tests of device code generation and runtime modules, from FERRITE_TVM_GIT, on the
# library of our wheel (PoCL)
# needs: libOpenCL.so.1 wheel; for: lib targets/gpu tests/programs/clients/device_tests
check_gpu-tvm-tests() {
  build_wheel
  tests/programs/clients/device_tests/run.sh "$target"/wheels/*.whl
}

# CUTLASS's DSL, FlashAttention, FlashInfer, JAX, QuACK, SGLang, TileLang and XGrammar on an NVIDIA
# GPU and the library of our wheel, with the PyTorch and JAX of PYTHON
# needs: nvcc wheel; for: lib targets/gpu tests/programs/clients/nvidia; counts: one
check_gpu-stacks() {
  build_wheel
  tests/programs/clients/nvidia/run.sh "$target"/wheels/*.whl
}

# the commands of the guide in targets/gpu lead from TVM to a C program on an OpenCL device
# needs: libOpenCL.so.1 gcc python3; for: targets/gpu/README.md targets/gpu/examples; counts: one
check_gpu-guide() { tests/ci/guide.sh targets/gpu/README.md '0 0 64 128 192 256 320 384 448 512'; }
