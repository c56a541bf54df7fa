"""Test TileLang's kernels on a GPU, by its own CUDA runtime: a product of matrices beside PyTorch's, PyTorch's current stream, bad input."""

import ferrite_tvm_ffi  # noqa: F401
import tilelang
import tilelang.language as T
import torch

N = 4096


@tilelang.jit(out_idx=[-1])
def product(block_m, block_n, block_k):
    @T.prim_func
    def main(A: T.Tensor((N, N), "float16"), B: T.Tensor((N, N), "float16"), C: T.Tensor((N, N), "float16")):
        with T.Kernel(T.ceildiv(N, block_n), T.ceildiv(N, block_m), threads=128) as (bx, by):
            a = T.alloc_shared((block_m, block_k), "float16")
            b = T.alloc_shared((block_k, block_n), "float16")
            c = T.alloc_fragment((block_m, block_n), "float")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(N, block_k), num_stages=3):
                T.copy(A[by * block_m, k * block_k], a)
                T.copy(B[k * block_k, bx * block_n], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block_m, bx * block_n])

    return main


@tilelang.jit
def add_one(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 128), threads=128) as bx:
            for i in T.Parallel(128):
                B[bx * 128 + i] = A[bx * 128 + i] + 1.0

    return main


def milliseconds(call, rounds=20):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(3):
        call()
    begin.record()
    for _ in range(rounds):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / rounds


kernel = product(128, 128, 64)
assert kernel.execution_backend == "tvm_ffi"
A, B = (torch.randn(N, N, device="cuda", dtype=torch.float16) for _ in range(2))
torch.testing.assert_close(kernel(A, B), A @ B, rtol=1e-2, atol=1e-1)
print("TFLOP/s:", *(f"{name} {2 * N**3 / milliseconds(call) / 1e9:.0f}" for name, call in (("TileLang", lambda: kernel(A, B)), ("PyTorch", lambda: A @ B))))

small = add_one(1024)
x, y, stream = torch.ones(1024, device="cuda"), torch.zeros(1024, device="cuda"), torch.cuda.Stream()
torch.cuda.synchronize()
with torch.cuda.stream(stream):
    torch.cuda._sleep(100_000_000)
    x.fill_(5)
    small(x, y)
stream.synchronize()
assert y.tolist() == [6.0] * 1024

try:
    small(x.cpu(), y)
except RuntimeError as error:
    assert "device_type mismatch" in str(error), error
else:
    raise AssertionError("a tensor of the CPU was accepted")
