"""Test functions of tvm_ffi in JAX's compiled programs, by jax-tvm-ffi: kernels in C++ and CUDA, functions of Python, bad input."""

import ferrite_tvm_ffi  # noqa: F401
import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy
import tvm_ffi.cpp

SOURCE = """
void add(tvm::ffi::TensorView x, tvm::ffi::TensorView y, double added) {
  TVM_FFI_CHECK(x.dtype() == (DLDataType{kDLFloat, 32, 1}), TypeError) << "x must be float32";
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(y.data_ptr())[i] = static_cast<float*>(x.data_ptr())[i] + static_cast<float>(added);
  }
}
"""

CUDA_SOURCE = """
__global__ void add_kernel(const float* x, float* y, int64_t n, float added) {
  int64_t at = blockIdx.x * 256 + threadIdx.x;
  if (at < n) y[at] = x[at] + added;
}

void add(tvm::ffi::TensorView x, tvm::ffi::TensorView y, double added) {
  TVM_FFI_CHECK(x.dtype() == (DLDataType{kDLFloat, 32, 1}), TypeError) << "x must be float32";
  auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
  int64_t n = x.numel();
  add_kernel<<<(n + 255) / 256, 256, 0, stream>>>(
      static_cast<const float*>(x.data_ptr()), static_cast<float*>(y.data_ptr()), n, static_cast<float>(added));
}
"""


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def kernel(platform):
    """Compile the kernel, and return it as a function of JAX's arrays and a number."""
    source = {"cpu": {"cpp_sources": SOURCE}, "gpu": {"cuda_sources": CUDA_SOURCE}}[platform]
    module = tvm_ffi.cpp.load_inline(f"jax_kernels_{platform}", functions=["add"], **source)
    jax_tvm_ffi.register_ffi_target("kernels.add", module.add, ["args", "rets", "attrs.added"], platform=platform, allow_cuda_graph=True)
    return lambda x, added: jax.ffi.ffi_call("kernels.add", like(x), vmap_method="broadcast_all")(x, added=added)


def compiled(add):
    x = jnp.arange(1000, dtype=jnp.float32)
    program = jax.jit(lambda x: add(2 * x, 3.5) * 2)
    for _ in range(3):
        numpy.testing.assert_allclose(program(x), (2 * numpy.arange(1000) + 3.5) * 2)


def batched(add):
    x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
    numpy.testing.assert_allclose(jax.vmap(lambda row: add(row, 1.0))(x), numpy.arange(12).reshape(3, 4) + 1)


def looped(add):
    x = jax.lax.fori_loop(0, 100, lambda _, x: add(x, 1.0), jnp.zeros(8))
    assert x.tolist() == [100.0] * 8


def bad_input(add):
    refuses(lambda: add(jnp.zeros(4, jnp.int32), 1.0), "x must be float32")
    compiled(add)


def refuses(call, text):
    try:
        jax.block_until_ready(jax.jit(call)())
    except Exception as error:  # noqa: BLE001 # the class is a matter of JAX's version
        assert text in str(error), error
    else:
        raise AssertionError(f"accepted: {text}")


def python(platform):
    """Call functions of Python from a compiled program, which get tensors of the program's buffers."""
    calls = []

    def fill(scale, x, y):
        calls.append((scale, x.shape, str(x.dtype)))
        if platform == "cpu":
            numpy.from_dlpack(y)[:] = numpy.from_dlpack(x) * scale

    def fail(x, y):
        raise ValueError(f"no kernel for {x.shape[0]} values")

    options = {"platform": platform, "pass_owned_tensor": True}
    jax_tvm_ffi.register_ffi_target("python.fill", tvm_ffi.convert(fill), ["attrs.scale", "args", "rets"], **options)
    jax_tvm_ffi.register_ffi_target("python.fail", tvm_ffi.convert(fail), **options)
    x = jnp.arange(6, dtype=jnp.float32)
    y = jax.jit(lambda x: jax.ffi.ffi_call("python.fill", like(x))(x, scale=4))(x)
    assert platform != "cpu" or y.tolist() == [0, 4, 8, 12, 16, 20]
    refuses(lambda: jax.ffi.ffi_call("python.fail", like(x))(x), "no kernel for 6 values")
    assert [(scale, tuple(shape), dtype) for scale, shape, dtype in calls] == [(4, (6,), "float32")]


for device in {one.platform: one for one in (*jax.devices("cpu"), *jax.devices())}.values():
    with jax.default_device(device):
        add = kernel(device.platform)
        for test in (compiled, batched, looped, bad_input):
            test(add)
            print("ok", device.platform, test.__name__, flush=True)
        python(device.platform)
        print("ok", device.platform, "python", flush=True)
