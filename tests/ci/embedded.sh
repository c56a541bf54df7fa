# shellcheck shell=bash
# shellcheck disable=SC2154  # checks.sh sets target
#
# Microcontrollers: sizes, and firmware on emulated boards.
# for: core alloc-ext capi include targets/mcu targets/boards targets/relax

# the profile without a heap gives the same results as the whole library, and stays small
# needs: arm-board; for: core capi include targets/mcu tests/embedded
check_minimal() { ferrite_tests minimal --include-ignored; }

# bytes of all of ring 1, and of the smallest program with it, on a Cortex-M4F
# needs: arm-board; for: core targets/mcu tests/embedded
check_core-size() { ferrite_tests core_size --include-ignored; }

# bytes of rings 1 and 2, of what compiled models add, and of what a system library needs, on a
# Cortex-M4F; what costs most
# needs: arm-board; for: core alloc-ext capi targets/mcu targets/relax tests/embedded
check_full-size() { ferrite_tests full_size --include-ignored; }

# firmware with compiled models on an emulated Cortex-M0, Cortex-M4F and RISC-V, and in WebAssembly
check_boards() { targets/boards/run.sh cortex-m0 cortex-m4f riscv32imc wasm32; }

# the same on an emulated Cortex-M33, and on a RISC-V with atomics
check_other-boards() { targets/boards/run.sh cortex-m33 riscv32; }

# hooks, memory at run time and links without any C library, on emulated boards
# needs: thumbv7em-none-eabihf riscv32imac-unknown-none-elf
# for: core alloc-ext capi include targets/mcu tests/embedded/platform
check_platform() { tests/embedded/platform/run.sh cortex-m4f riscv32; }

# the memory of WebAssembly modules grows, is used again, and has a limit, in Node
# needs: node wasm32-unknown-unknown; for: core tests/embedded/wasm; counts: one
check_wasm-memory() {
  cargo build --profile mcu -p ferrite-ffi-core --no-default-features --features growing-memory \
    --target wasm32-unknown-unknown --example growing_memory
  MODULE=$target/wasm32-unknown-unknown/mcu/examples/growing_memory.wasm node --test tests/embedded/wasm/memory.mjs
}

# firmware by make, by ferrite_firmware() of CMake, as a Zephyr module and as an ESP-IDF component,
# over stand-ins for these systems
# needs: cmake arm-board riscv64-unknown-elf-gcc qemu-system-riscv32
# for: targets/boards targets/mcu tests/embedded/rtos; counts: one
check_rtos() { tests/embedded/rtos/run.sh; }

# the commands of the guide in targets/boards lead from a TVM model to firmware
# needs: arm-board; for: targets/boards targets/mcu; counts: one
check_guide() { tests/ci/guide.sh targets/boards/README.md '4 squared is 16'; }

# the command that turns a model into a project: executables, inputs, workspaces, mistakes; without
# TVM
# needs: python3 cc; for: targets/model
check_model-tool() {
  python3 targets/model/tests.py
  python3 targets/model/hostile.py
  python3 targets/model/language_tests.py
}

# the commands of the guide in targets/model lead from an ONNX model to firmware, a program
# and a GPU
# needs: arm-board wasm32-unknown-unknown; for: targets/boards targets/relax targets/gpu
# counts: one
check_model-guide() { tests/ci/guide.sh targets/model/README.md 'largest of 10 values: number 5' 3; }
