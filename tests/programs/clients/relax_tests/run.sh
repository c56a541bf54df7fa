#!/usr/bin/env bash
# usage: run.sh [--upstream] WHEEL [PATTERN...]
#
# Runs TVM's own tests of the Relax virtual machine and its builtins with the machine of the wheel
# of targets/host/python: machine.py, imported by each process, replaces TVM's. With --upstream, for
# comparison, they run on TVM's machine and upstream's library. PATTERNs select tests whose id
# contains one of them.
#
# Each test passes or is in not_passed.txt with the reason. The last line is the sum; results go to
# $OUT (default target/relax-tests).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../tvm_tests/support.sh"

read_arguments "$@"
need g++ "apt-get install g++"
relax=tests/python/relax
prepare relax-tests "$relax/conftest.py" "$relax/test_vm_*.py" "$relax/test_runtime_builtin.py" "$relax/test_runtime_builtin_rnn_state.py" \
  "$relax/test_runtime_builtin_paged_attention_kv_cache_cpu.py"
states=$work/tree/$relax/test_runtime_builtin_rnn_state
# The tests of recurrent states are for CUDA. Their copy is for the CPU.
sed -e 's/tvm\.cuda()/tvm.cpu()/; s/Target("cuda")/Target("llvm")/; /need cuda/d; s/mod = dl\.Apply.*/pass/' \
  "$states.py" >"${states}_cpu.py"
# Some compare sums of random numbers exactly, which not all draws pass.
cat >>"$work/tree/$relax/conftest.py" <<'END'


@pytest.fixture(autouse=True)
def same_draws():
    import numpy

    numpy.random.seed(0)
END
make_interpreter "$here/ferrite_machine.py"
export TVM_TEST_TARGETS=llvm
# Hides all GPUs: tests build CUDA code for any that they find, and the wheel's compiler has no code
# generator for it.
export OCL_ICD_VENDORS=/dev/null VK_DRIVER_FILES=/dev/null VK_ICD_FILENAMES=/dev/null CUDA_VISIBLE_DEVICES=
# Tests of a file that forgets to import it.
export PYTEST_ADDOPTS="-p tvm.testing"
# The 67 tests of paged caches alone take 19 minutes.
time_limit=5400
run_tests llvm "$here/not_passed.txt"
