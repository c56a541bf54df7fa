# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target
#
# The kernel libraries of targets/host/kernels.

kernel_libraries() { # builds those in C, C++ and Rust, and the wheel with the library that they run on
  need cc "apt-get install gcc" && need g++ "apt-get install g++" && need make "apt-get install make" && build_wheel &&
    make --quiet -C targets/host/kernels -j "$(nproc)"
}

about kernels "the kernel libraries in C, C++ and Rust: operators against numpy, bad input, adaptors to numpy, JAX and by protocol, the JIT builder, one library on every CPython and both libtvm_ffi"
check_kernels() {
  need setpriv "apt-get install util-linux" && kernel_libraries && targets/host/kernels/tests/run.sh "$target"/wheels/*.whl
}

about kernels-torch "the kernel libraries with PyTorch: operators, autograd, torch.compile; downloads 3 GB"
check_kernels-torch() {
  kernel_libraries && targets/host/kernels/tests/run.sh "$target"/wheels/*.whl torch
}
