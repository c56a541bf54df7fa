"""Test a program of JAX over two processes, whose kernel is a function of tvm_ffi; without an argument, starts both."""

import socket
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # noqa: F401
import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy
import tvm_ffi.cpp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

PROCESSES = 2
SOURCE = """
void add(tvm::ffi::TensorView x, tvm::ffi::TensorView y, double added) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(y.data_ptr())[i] = static_cast<float*>(x.data_ptr())[i] + static_cast<float>(added);
  }
}
"""


def run(address, process, library):
    """Compute on this process's part of an array; the sum crosses the processes."""
    jax.distributed.initialize(address, PROCESSES, process)
    assert jax.process_count() == PROCESSES and len(jax.local_devices()) == 1
    module = tvm_ffi.load_module(library)
    jax_tvm_ffi.register_ffi_target("kernels.add", module.add, ["args", "rets", "attrs.added"], platform="cpu")
    mesh = Mesh(jax.devices(), ("process",))
    split, whole = PartitionSpec("process"), PartitionSpec()

    def add_and_sum(x):
        y = jax.ffi.ffi_call("kernels.add", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, added=1.5)
        return jax.lax.psum(jnp.sum(y), "process")

    program = jax.jit(jax.shard_map(add_and_sum, mesh=mesh, in_specs=split, out_specs=whole, check_vma=False))
    part = numpy.arange(4, dtype="float32") + 4 * process
    x = jax.make_array_from_process_local_data(NamedSharding(mesh, split), part)
    total = program(x)
    assert x.shape == (8,) and float(total) == sum(range(8)) + 8 * 1.5, total
    print(f"process {process} of {PROCESSES}: {float(total)}", flush=True)


def start_all():
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        library = tvm_ffi.cpp.build_inline("add", cpp_sources=SOURCE, functions=["add"], build_directory=folder)
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        started = [subprocess.Popen([sys.executable, __file__, address, str(one), str(library)]) for one in range(PROCESSES)]
        assert [one.wait() for one in started] == [0] * PROCESSES


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        start_all()
