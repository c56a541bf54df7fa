#!/usr/bin/env bash
# usage: run.sh [--upstream] WHEEL [PATTERN...]
#
# Runs TVM's own tests of device code generation and of runtime modules: TVM's compiler and its
# libtvm_runtime from PyPI, with the library of the wheel of targets/host/python, or with
# --upstream, for comparison, with upstream's library. PATTERNs select tests whose id contains one
# of them.
#
# Each test passes or is in not_passed.txt with the reason. FERRITE_DEVICE_KINDS names the kinds of
# devices, by default opencl. The last line is the sum; results go to $OUT (default
# target/device-tests).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../tvm_tests/support.sh"

read_arguments "$@"
codegen=tests/python/codegen/test_target_codegen
runtime=tests/python/runtime
prepare device-tests ${codegen}_{opencl,webgpu,vulkan,metal}.py "${codegen}_cuda*.py" $runtime/test_executable.py \
  "$runtime/test_runtime_module_*.py" $runtime/test_runtime_{device_api,dlpack,error,extension,nd_array,trace}.py
make_interpreter
kinds=${FERRITE_DEVICE_KINDS:-opencl}
export TVM_TEST_TARGETS="llvm;${kinds// /;}"
run_tests "$kinds" "$here/not_passed.txt"
