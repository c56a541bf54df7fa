# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Microcontrollers: sizes, and firmware on emulated boards.

about minimal "the profile without a heap gives the same results as the whole library, and stays small"
check_minimal() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need_target thumbv7em-none-eabihf && ferrite_tests minimal --include-ignored
}

about core-size "bytes of all of ring 1, and of the smallest program with it, on a Cortex-M4F"
check_core-size() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need_target thumbv7em-none-eabihf && ferrite_tests core_size --include-ignored
}

about full-size "bytes of rings 1 and 2, of what compiled models add, and of what a system library needs, on a Cortex-M4F; what costs most"
check_full-size() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi" &&
    need_target thumbv7em-none-eabihf && ferrite_tests full_size --include-ignored
}

about boards "firmware with compiled models on an emulated Cortex-M0, Cortex-M4F and RISC-V, and in WebAssembly"
check_boards() { targets/boards/run.sh cortex-m0 cortex-m4f riscv32imc wasm32; }

about other-boards "the same on an emulated Cortex-M33, and on a RISC-V with atomics"
check_other-boards() { targets/boards/run.sh cortex-m33 riscv32; }

about platform "hooks, memory at run time and links without any C library, on emulated boards"
check_platform() {
  need_target thumbv7em-none-eabihf && need_target riscv32imac-unknown-none-elf && tests/embedded/platform/run.sh cortex-m4f riscv32
}

about rtos "firmware by make, by ferrite_firmware() of CMake, as a Zephyr module and as an ESP-IDF component, over stand-ins for these systems"
check_rtos() {
  need cmake "apt-get install cmake" && need python3 "apt-get install python3 python3-venv" &&
    need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi" &&
    need riscv64-unknown-elf-gcc "apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf" &&
    need qemu-system-arm "apt-get install qemu-system-arm" && need qemu-system-riscv32 "apt-get install qemu-system-misc" &&
    tests/embedded/rtos/run.sh
}

about guide "the commands of the guide in targets/boards lead from a TVM model to firmware"
check_guide() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need python3 "apt-get install python3 python3-pip python3-venv" &&
    need_target thumbv7em-none-eabihf && tests/ci/guide.sh targets/boards/README.md '4 squared is 16'
}

about model-tool "the command that turns a model into a project: executables, inputs, workspaces, mistakes; without TVM"
check_model-tool() {
  need python3 "apt-get install python3" && need cc "apt-get install gcc" && python3 targets/boards/model/tests.py &&
    python3 targets/boards/model/hostile.py
}

about model-guide "the commands of the guide in targets/boards/model lead from an ONNX model to firmware, a program and a GPU"
check_model-guide() {
  need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi" &&
    need qemu-system-arm "apt-get install qemu-system-arm" &&
    need python3 "apt-get install python3 python3-pip python3-venv" &&
    need_target thumbv7em-none-eabihf && need_target wasm32-unknown-unknown &&
    tests/ci/guide.sh targets/boards/model/README.md 'largest of 10 values: number 5' 3
}
