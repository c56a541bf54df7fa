# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Device modules, on the drivers of this machine or on a stand-in for them.

about gpu-opencl "OpenCL modules on the driver of this machine (PoCL): from Rust, from C, compiled in process by TVM, and kernels of targets/host/kernels"
check_gpu-opencl() {
  need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    cargo test -p ferrite-ffi-gpu --features opencl &&
    ferrite_tests gpu --include-ignored opencl && ferrite_tests gpu_driver --ignored plain::opencl &&
    build_wheel && tests/programs/clients/run.sh "$target"/wheels/*.whl devices && kernels_on opencl
}

kernels_on() { # kernels_on KIND: the operators of targets/host/kernels on a kind of device, with the wheel
  need make "apt-get install make" && make --quiet -C targets/host/kernels cpp &&
    FERRITE_DEVICE_TESTS=$1 targets/host/kernels/tests/run.sh "$target"/wheels/*.whl devices
}

about gpu-cuda "CUDA modules on a GPU if there is one, otherwise on a stand-in for its driver, which the output says; source through NVRTC"
check_gpu-cuda() {
  need python3 "apt-get install python3 python3-pip" || return 1
  local FERRITE_NVRTC
  FERRITE_NVRTC=$(tests/programs/device/fetch_nvrtc.sh "$target/nvrtc") && export FERRITE_NVRTC &&
    cargo test -p ferrite-ffi-gpu --features cuda --lib --test cuda --test cuda_graph --test cuda_hopper --test cuda_without_driver \
      --test cuda_fork --test cuda_failures -- --show-output &&
    ferrite_tests gpu --include-ignored cuda &&
    build_wheel && with_cuda tests/programs/clients/run.sh "$target"/wheels/*.whl cuda && with_cuda kernels_on cuda
}

with_cuda() { # with_cuda COMMAND...: with the stand-in that tests have built, unless there is a GPU
  if [ -e /dev/nvidia0 ] || [ -e /dev/dxg ]; then "$@"; else LD_LIBRARY_PATH=$target/stand-in/cuda/lib "$@"; fi
}

about gpu-rocm "ROCm modules on an AMD GPU and its driver, otherwise on a stand-in for that: from Rust and from C"
check_gpu-rocm() {
  cargo test -p ferrite-ffi-gpu --features rocm --test rocm --test rocm_failures --test rocm_fork --test rocm_without_device \
    -- --nocapture && ferrite_tests gpu --include-ignored rocm
}

about gpu-metal "Metal modules are type-checked and linted for aarch64-apple-darwin; on this system, what needs no framework is tested"
check_gpu-metal() {
  need_target aarch64-apple-darwin &&
    cargo check --target aarch64-apple-darwin -p ferrite-ffi-gpu --features metal &&
    cargo clippy --target aarch64-apple-darwin -p ferrite-ffi-gpu --features metal -- -D warnings &&
    cargo test -p ferrite-ffi-gpu --features metal --lib metal:: && cargo test -p ferrite-ffi-gpu --features metal --test metal
}

about gpu-vulkan "Vulkan modules on the driver of this machine (llvmpipe): from Rust and from C, with a driver that fails at any call, under the validation layer and valgrind"
check_gpu-vulkan() {
  need_library libvulkan.so.1 "apt-get install libvulkan1 mesa-vulkan-drivers" &&
    need valgrind "apt-get install valgrind" &&
    cargo test -p ferrite-ffi-gpu --features vulkan && vulkan_layer --test vulkan &&
    vulkan_layer --test vulkan_driver -- sets &&
    ferrite_tests gpu --include-ignored vulkan_
}

vulkan_layer() { # vulkan_layer ARGUMENT...: tests of cargo under the validation layer, without messages from it
  local folder=$target/ci/vulkan-layer
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

about gpu-webgpu "WebGPU modules on the Vulkan driver of this machine (llvmpipe): from Rust, from C, and compiled in process by TVM"
check_gpu-webgpu() { # builds in a folder of its own, without optimisation: wgpu is large
  need_library libvulkan.so.1 "apt-get install libvulkan1 mesa-vulkan-drivers" || return 1
  # Disables Mesa's device selection, which prints warnings without a display.
  export NODEVICE_SELECT=1
  CARGO_TARGET_DIR=$target/webgpu cargo test -p ferrite-ffi-gpu --features webgpu &&
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

about gpu-checked "OpenCL, Vulkan and WebGPU with the address sanitizer in the library, also while the driver fails; OpenCL under valgrind; WebGPU linted"
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

about gpu-tvm-tests "TVM's own tests of device code generation and runtime modules, from FERRITE_TVM_GIT, on the library of our wheel (PoCL)"
check_gpu-tvm-tests() {
  need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    build_wheel && tests/programs/clients/device_tests/run.sh "$target"/wheels/*.whl
}

about gpu-stacks "CUTLASS's DSL, FlashAttention, FlashInfer, JAX, QuACK, SGLang, TileLang and XGrammar on an NVIDIA GPU and the library of our wheel, with the PyTorch and JAX of PYTHON"
check_gpu-stacks() {
  need nvcc "install the CUDA toolkit" && build_wheel && tests/programs/clients/nvidia/run.sh "$target"/wheels/*.whl
}

about gpu-guide "the commands of the guide in targets/gpu lead from TVM to a C program on an OpenCL device"
check_gpu-guide() {
  need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    need gcc "apt-get install gcc" && need python3 "apt-get install python3 python3-pip python3-venv" &&
    tests/ci/guide.sh targets/gpu/README.md '0 0 64 128 192 256 320 384 448 512'
}
