"""Measure kernels and a whole model on an NVIDIA GPU beside PyTorch, and print a table.

usage: measure.py KERNELS FOLDER    kernels_cpp.so of targets/host/kernels, and the folder that transformer.py wrote
"""

import sys
import time

import ferrite_tvm_ffi  # noqa: F401
import torch
import transformer
import tvm_ffi

ROUNDS = 7


def queued(call, calls=1000):
    """Return the microseconds that a call takes to queue its kernel, the best of some rounds."""

    def once():
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) / calls * 1e6

    return min(once() for _ in range(ROUNDS))


def finished(call, calls=20):
    """Return the microseconds from one result to the next, the best of some rounds."""

    def once():
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / calls * 1e6

    once()
    return min(once() for _ in range(ROUNDS))


def launches(kernels):
    x, out = torch.randn(8, 64, device="cuda"), torch.empty(8, device="cuda")
    ours, ours_out = map(tvm_ffi.from_dlpack, (x, out))
    torch.testing.assert_close(kernels.sum_rows(x, None), x.sum(-1))
    into, new = queued(lambda: torch.sum(x, -1, out=out)), queued(lambda: torch.sum(x, -1))
    what = "queue a kernel that sums 8 rows"
    yield f"{what}, into a tensor of `tvm_ffi`", queued(lambda: kernels.sum_rows(ours, ours_out)), "`torch.sum`, `out`", into
    yield f"{what}, into a tensor of PyTorch", queued(lambda: kernels.sum_rows(x, out)), "`torch.sum`, `out`", into
    yield f"{what}, into a new tensor, by PyTorch's allocator", queued(lambda: kernels.sum_rows(x, None)), "`torch.sum`", new
    yield f"{what}, into a new tensor, by the driver", queued(lambda: kernels.sum_rows(ours, None)), "`torch.sum`", new


def operators(kernels):
    a, weight = (torch.randn(*shape, device="cuda") for shape in ((4096, 4096), (4096,)))
    norm = torch.nn.functional.rms_norm
    torch.testing.assert_close(kernels.rmsnorm(a, weight, 1e-6, None), norm(a, (4096,), weight, 1e-6))
    yield (
        "`rmsnorm` of 4096 x 4096",
        finished(lambda: kernels.rmsnorm(a, weight, 1e-6, None)),
        "`torch.rms_norm`",
        finished(lambda: norm(a, (4096,), weight, 1e-6)),
    )


def compiled(library):
    """Return the main function of a model that TVM compiled, on the first GPU."""
    machine = tvm_ffi.load_module(library)["vm_load_executable"]()
    machine["vm_initialization"](int(tvm_ffi.DLDeviceType.kDLCUDA), 0, 2, int(tvm_ffi.DLDeviceType.kDLCPU), 0, 2)
    return machine["main"]


def models(folder):
    """Compare a model that TVM compiled, run by Ferrite's Relax machine, with PyTorch's own ways to run it."""
    network, x = (one.cuda() for one in transformer.model())
    parameters = [tvm_ffi.from_dlpack(one.detach()) for one in network.parameters()]
    times = []
    with torch.no_grad():
        for name in ("transformer", "transformer_graphs"):
            main = compiled(f"{folder}/{name}.so")
            for given in (x, x + 1, x - 1):  # graphs are recorded by the first call and repeated by the others
                actual = torch.from_dlpack(main(tvm_ffi.from_dlpack(given), *parameters))
                torch.testing.assert_close(actual, network(given), rtol=1e-3, atol=1e-4)
            given = tvm_ffi.from_dlpack(x)
            times.append(finished(lambda main=main, given=given: main(given, *parameters)))
        graphs = torch.compile(network, mode="reduce-overhead")
        yield "transformer of 4 layers, width 256, 128 tokens, float32, compiled by TVM", times[0], "PyTorch, eager", finished(lambda: network(x))
        yield "the same, compiled with CUDA graphs", times[1], "`torch.compile`, in CUDA graphs", finished(lambda: graphs(x))


def main(kernels, folder):
    properties = torch.cuda.get_device_properties(0)
    print(f"On an {properties.name}, PyTorch {torch.__version__}, in µs, the best of {ROUNDS} rounds:\n")
    print("| | Ferrite | Beside it | |\n|---|---:|---|---:|")
    loaded = tvm_ffi.load_module(kernels)
    for rows in (launches(loaded), operators(loaded), models(folder)):
        for what, ours, other, theirs in rows:
            print(f"| {what} | {ours:,.1f} | {other} | {theirs:,.1f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
