"""Test kernels that SGLang compiles on this machine with tvm_ffi's headers: norms, activation, cache, largest scores, streams, bad input."""

import ferrite_tvm_ffi  # noqa: F401
import torch
from sglang.kernels.ops.activation.activation import silu_and_mul
from sglang.kernels.ops.attention.fast_topk import fast_topk
from sglang.kernels.ops.elementwise.add_constant import add_constant
from sglang.kernels.ops.kvcache.kvcache import store_cache
from sglang.kernels.ops.layernorm import norm

F = torch.nn.functional


def values(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def check(actual, expected):
    torch.testing.assert_close(actual.float(), expected.float(), rtol=2e-2, atol=2e-2)


def rmsnorm():
    x, weight = values(64, 4096), values(4096)
    out, graph = torch.empty_like(x), torch.cuda.CUDAGraph()
    norm.rmsnorm(x, weight, out)
    check(out, F.rms_norm(x, (4096,), weight, 1e-6))
    with torch.cuda.graph(graph):
        norm.rmsnorm(x, weight, out)
    x.fill_(3)
    graph.replay()
    check(out, F.rms_norm(x, (4096,), weight, 1e-6))


def fused_add_rmsnorm():
    x, residual, weight = values(64, 4096), values(64, 4096), values(4096)
    added = x + residual
    norm.fused_add_rmsnorm(x, residual, weight)
    check(residual, added)
    check(x, F.rms_norm(added, (4096,), weight, 1e-6))


def qknorm():
    q, k, weight = values(64, 16, 128), values(64, 4, 128), values(128)
    expected = [F.rms_norm(one, (128,), weight, 1e-6) for one in (q, k)]
    norm.fused_inplace_qknorm(q, k, weight, weight)
    check(q, expected[0])
    check(k, expected[1])


def activation():
    x = values(64, 2048)
    check(silu_and_mul(x), F.silu(x[:, :1024]) * x[:, 1024:])


def cache():
    k, v, caches = values(8, 1024), values(8, 1024), torch.zeros(2, 64, 1024, device="cuda", dtype=torch.bfloat16)
    rows = torch.randperm(64, device="cuda")[:8]
    store_cache(k, v, *caches, rows)
    assert torch.equal(caches[0, rows], k) and torch.equal(caches[1, rows], v)
    assert int(caches.count_nonzero(-1).count_nonzero()) == 16


def largest():
    scores, lengths = torch.randn(4, 4096, device="cuda"), torch.full((4,), 4096, device="cuda", dtype=torch.int32)
    assert torch.equal(fast_topk(scores, lengths, 512).sort().values, torch.topk(scores, 512).indices.int().sort().values)


def current_stream():
    x, stream = torch.ones(1024, device="cuda", dtype=torch.int32), torch.cuda.Stream()
    add_constant(x, 7)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        x.fill_(5)
        y = add_constant(x, 7)
    stream.synchronize()
    assert y.tolist() == [12] * 1024


def bad_input():
    x, weight = values(64, 4096), values(4096)
    for arguments in ((x.cpu(), weight), (x, weight[:64]), (x, weight.float()), (x, weight, values(32, 4096))):
        try:
            norm.rmsnorm(*arguments)
        except RuntimeError as error:
            print("  refused:", str(error).splitlines()[0])
        else:
            raise AssertionError("bad input was accepted")


torch.manual_seed(0)
for test in (rmsnorm, fused_add_rmsnorm, qknorm, activation, cache, largest, current_stream, bad_input):
    test()
    print("ok", test.__name__, flush=True)
