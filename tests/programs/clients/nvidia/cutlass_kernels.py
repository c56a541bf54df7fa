"""Test kernels that CUTLASS's Python DSL compiles on this machine: our own, in Python and in C, and those of QuACK and FlashAttention."""

import subprocess
import tempfile
from pathlib import Path

import ferrite_tvm_ffi
import quack
import torch
from cutlass_compile import compiled, exported, refuses
from flash_attn.cute import flash_attn_func
from quack.gemm_interface import gemm

F = torch.nn.functional
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]


def check_on_a_busy_stream(function):
    """Check that the kernel runs on the current stream, after what is queued there."""
    x, y, stream = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        x.fill_(5)
        function(x, y, 2.5)
    stream.synchronize()
    assert y.tolist() == [7.5] * 1000


def own():
    function, x = compiled(), torch.ones(8, device="cuda")
    check_on_a_busy_stream(function)
    refuses(function, (x.cpu(), x, 1.0), ValueError, "expected device_type=cuda")
    refuses(function, (x.half(), x, 1.0), ValueError, "expected dtype=float32")
    refuses(function, (x, x[:4], 1.0), ValueError, "argument #1")


def from_a_shared_object():
    with tempfile.TemporaryDirectory() as folder:
        check_on_a_busy_stream(exported(folder))
        in_c(Path(folder))


def in_c(folder):
    """Run the exported kernel in a C program, with the library of the wheel."""
    libraries = Path(ferrite_tvm_ffi.__file__).parent / "ferrite_tvm_ffi.libs"
    quickstart = ROOT / "targets/host/quickstart"
    sources = [HERE / "exported.c", quickstart / "ferrite_device.c", quickstart / "ferrite_util.c"]
    command = ["cc", "-std=c89", "-I", ROOT / "include", "-I", quickstart, *sources, "-o", folder / "exported"]
    subprocess.run([*command, libraries / "libtvm_ffi.so", f"-Wl,-rpath,{libraries}"], check=True)
    subprocess.run([folder / "exported", folder / "add.so"], check=True)


def leaf(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)


def check(function, reference, *inputs):
    """Compare values and gradients; gradients with the error of sums of many products of bfloat16."""
    actual, expected = function(*inputs), reference(*(one.float() for one in inputs))
    torch.testing.assert_close(actual.float(), expected, rtol=2e-2, atol=2e-2)
    gradient = torch.randn_like(expected)
    mine = torch.autograd.grad(actual, inputs, gradient.to(actual.dtype))
    for one, other in zip(mine, torch.autograd.grad(expected, inputs, gradient), strict=True):
        torch.testing.assert_close(one.float(), other.float(), rtol=5e-2, atol=5e-2 * float(other.abs().max()))


def norm():
    check(quack.rmsnorm, lambda x, weight: F.rms_norm(x, (4096,), weight, 1e-6), leaf(64, 4096), leaf(4096))


def softmax():
    check(quack.softmax, lambda x: torch.softmax(x, -1), leaf(64, 4096))


def cross_entropy():
    labels = torch.randint(32000, (256,), device="cuda")
    check(lambda x: quack.cross_entropy(x, labels, reduction="none"), lambda x: F.cross_entropy(x, labels, reduction="none"), leaf(256, 32000))


def product():
    a, b = (torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    torch.testing.assert_close(gemm(a, b, tuned=False), a @ b, rtol=2e-2, atol=1)
    ours, theirs = (2 * 4096**3 / milliseconds(call) / 1e9 for call in (lambda: gemm(a, b, tuned=False), lambda: a @ b))
    print(f"  4096 x 4096, TFLOP/s: QuACK {ours:.0f}, PyTorch {theirs:.0f}")


def attention():
    inputs = leaf(2, 1024, 16, 128), leaf(2, 1024, 4, 128), leaf(2, 1024, 4, 128)

    def flash(q, k, v):
        result = flash_attn_func(q, k, v, causal=True)
        return result[0] if isinstance(result, tuple) else result

    def reference(q, k, v):
        q, k, v = (one.transpose(1, 2) for one in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2)

    check(flash, reference, *inputs)


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


torch.manual_seed(0)
for test in (own, from_a_shared_object, norm, softmax, cross_entropy, product, attention):
    test()
    print("ok", test.__name__, flush=True)
