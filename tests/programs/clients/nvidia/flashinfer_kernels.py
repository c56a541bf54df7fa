"""Test FlashInfer's kernels, which it compiles on this machine, beside PyTorch: norm, activation, attention, sampling, graphs, bad input."""

import ferrite_tvm_ffi  # noqa: F401
import flashinfer
import torch

F = torch.nn.functional
HEADS, GROUPS, DIM = 32, 8, 128


def half(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def check(actual, expected):
    torch.testing.assert_close(actual.float(), expected.float(), rtol=2e-2, atol=2e-2)


def attention(q, k, v):
    """Return what each head of one query attends to; k and v are (tokens, GROUPS, DIM)."""
    k, v = (one.transpose(0, 1).repeat_interleave(HEADS // GROUPS, 0).float() for one in (k, v))
    return F.scaled_dot_product_attention(q[:, None].float(), k, v)[:, 0]


def norm():
    x, weight = half(64, 4096), half(4096)
    out, graph = torch.empty_like(x), torch.cuda.CUDAGraph()
    check(flashinfer.norm.rmsnorm(x, weight, 1e-6), F.rms_norm(x, (4096,), weight, 1e-6))
    with torch.cuda.graph(graph):
        flashinfer.norm.rmsnorm(x, weight, 1e-6, out=out)
    x.fill_(3)
    graph.replay()
    check(out, F.rms_norm(x, (4096,), weight, 1e-6))


def activation():
    x = half(64, 2048)
    check(flashinfer.activation.silu_and_mul(x), F.silu(x[:, :1024]) * x[:, 1024:])


def decode():
    q, k, v = half(HEADS, DIM), half(2048, GROUPS, DIM), half(2048, GROUPS, DIM)
    check(flashinfer.single_decode_with_kv_cache(q, k, v), attention(q, k, v))


def batch_decode():
    page, pages, batch = 16, 64, 4
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(torch.empty(128 << 20, dtype=torch.uint8, device="cuda"), "NHD")
    begins = torch.arange(batch + 1, dtype=torch.int32, device="cuda") * (pages // batch)
    indices = torch.randperm(pages, device="cuda").int()
    last = torch.tensor([1, 5, 16, 9], dtype=torch.int32, device="cuda")
    wrapper.plan(begins, indices, last, HEADS, GROUPS, DIM, page, q_data_type=torch.float16, kv_data_type=torch.float16)
    q, cache = half(batch, HEADS, DIM), half(pages, 2, page, GROUPS, DIM)
    for at, result in enumerate(wrapper.run(q, cache)):
        rows = cache[indices[begins[at] : begins[at + 1]].long()]
        tokens = (pages // batch - 1) * page + int(last[at])
        check(result, attention(q[at], *(rows[:, side].reshape(-1, GROUPS, DIM)[:tokens] for side in (0, 1))))


def sampling():
    probabilities = torch.softmax(torch.randn(16, 32000, device="cuda"), -1)
    samples = flashinfer.sampling.top_k_top_p_sampling_from_probs(probabilities, 1, 1.0)
    assert samples.tolist() == probabilities.argmax(-1).tolist()


def bad_input():
    try:
        flashinfer.norm.rmsnorm(torch.ones(4, 64, dtype=torch.float16), half(64), 1e-6)
    except RuntimeError as error:
        assert "must be a CUDA tensor" in str(error), error
    else:
        raise AssertionError("a tensor of the CPU was accepted")


torch.manual_seed(0)
for test in (norm, activation, decode, batch_decode, sampling, bad_input):
    test()
    print("ok", test.__name__, flush=True)
