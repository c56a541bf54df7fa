"""Compile the network of `cargo run --release -- gpu` for each kind of device: its kernels, and the host code shared by all kinds.

    python gen_digits.py [OUTPUT_FOLDER]         # default: the folder of this script

Needs the packages of tests/programs/device/gen_device.py, and no device. The network and its weights are those of
tests/programs/aot/cnn_f32.
"""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = Path(sys.argv[1] if len(sys.argv) > 1 else HERE).resolve()
sys.path.insert(0, str(HERE.parents[3] / "tests/programs/device"))
sys.argv[1:] = [str(OUT)]  # output folder of gen_device

import gen_device as device  # noqa: E402
import tvm  # noqa: E402
from tvm import s_tir, te, tirx, topi  # noqa: E402

# Device type and target of each kind.
KINDS = {
    "opencl": (4, lambda: device.host("opencl")),
    "webgpu": (15, lambda: device.host("webgpu")),
    "metal": (8, lambda: device.host("metal")),
    "cuda": (2, lambda: device.host("cuda", arch="sm_75")),
    "rocm": (10, device.rocm_target),
    "vulkan": (7, lambda: device.host("vulkan")),
}

# Shaders in the form of gen_device.GLSL: block, buffers in the order of the arguments, scalars,
# body.
SHADERS = {
    "digits_kernel": (64, 1, "bc r wc x", "",
        "int c = int(gl_WorkGroupID.x), t = int(gl_LocalInvocationID.x); float s = 0.0; "
        "for (int q = 0; q < 9; ++q) { int i = t / 8 + q / 3 - 1, j = t % 8 + q % 3 - 1; "
        "if (i >= 0 && i < 8 && j >= 0 && j < 8) s += x[i * 8 + j] * wc[c * 9 + q]; } "
        "r[c * 64 + t] = max(s + bc[c], 0.0);"),
    "digits_kernel_1": (64, 1, "o r", "",
        "uint t = gl_WorkGroupID.x * 64 + gl_LocalInvocationID.x; uint i = t / 4 * 16 + t % 4 * 2; "
        "o[t] = max(max(r[i], r[i + 1]), max(r[i + 8], r[i + 9]));"),
    "digits_kernel_2": (10, 1, "bd o p wd", "",
        "uint t = gl_LocalInvocationID.x; float s = bd[t]; "
        "for (uint k = 0; k < 128; ++k) s += p[k] * wd[t * 128 + k]; o[t] = s;"),
}


def placeholder(name, *shape):
    return te.placeholder(shape, "float32", name=name)


def network():
    """Return digits(x, wc, bc, wd, bd, out): a convolution, pooling and a dense layer."""
    x, wc, bc = placeholder("x", 1, 1, 8, 8), placeholder("wc", 8, 1, 3, 3), placeholder("bc", 8)
    wd, bd = placeholder("wd", 10, 128), placeholder("bd", 10)
    zero = tirx.const(0, "float32")
    conv = topi.nn.conv2d(x, wc, 1, 1, 1, data_layout="NCHW")
    relu = te.compute(conv.shape, lambda n, k, i, j: te.max(conv[n, k, i, j] + bc[k], zero), name="relu")
    pool = topi.nn.pool2d(relu, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max", layout="NCHW")
    flat = topi.nn.flatten(pool)
    k = te.reduce_axis((0, 128), name="k")
    product = te.compute((1, 10), lambda i, j: te.sum(flat[i, k] * wd[j, k], axis=k), name="product")
    out = te.compute((1, 10), lambda i, j: product[i, j] + bd[j], name="out")
    return te.create_prim_func([x, wc, bc, wd, bd, out]).with_attr("global_symbol", "digits")


def scheduled():
    """Schedule three kernels, one for each layer, with two workspaces between them."""
    sch = s_tir.Schedule(tvm.IRModule({"digits": network()}))

    def block(name):
        return sch.get_sblock(name, func_name="digits")

    def bind(name, threads):
        spatial = [loop for loop, axis in zip(sch.get_loops(block(name)), sch.get(block(name)).iter_vars) if axis.iter_type == 0]
        outer, inner = sch.split(sch.fuse(*spatial), [None, threads])
        sch.bind(outer, "blockIdx.x")
        sch.bind(inner, "threadIdx.x")
        return inner

    for name in ("pad_temp", "compute"):
        sch.compute_inline(block(name))
    for layer, last, threads in (("conv2d_nchw", "relu", 64), ("product", "out", 10)):
        thread = bind(layer, threads)
        sch.reverse_compute_at(block(last), thread)
        sch.set_scope(block(layer), 0, "local")
    bind("pool_max", 64)
    return sch.mod


def shared_host_code(source, kind, device_type):
    """Return the host code with placeholders for the kind, which must then be equal for all kinds."""
    # The device type occurs in argument checks, in the first argument of __tvm_set_device, and in
    # workspace calls.
    number = r"(device_type\) == |\[0\]\.v_int64\) = \(\(int64_t\)|TVMBackend(?:Alloc|Free)Workspace\()%d\b" % device_type
    source = source.replace('"%s"' % kind, "DEVICE_NAME").replace('"kind":"%s"' % kind, '"kind":"..."')
    return re.sub(number, r"\1DEVICE_TYPE", source)


def library_bin(kind, mod):
    """Return the import tree that the library embeds."""
    if kind == "vulkan":
        infos = device.vulkan_infos(mod)
        shaders = {name: device.shader(name, *SHADERS[name], False)[1] for name in infos}
        return device.library_bin(kind, device.vulkan_payload(infos, shaders))
    blob = device.blob_of(mod)
    if kind != "cuda":
        return blob
    # PTX, which drivers can compile without NVRTC.
    reader = device.Reader(device.split_library_bin(blob)[1])
    assert reader.str() == b"cuda"
    infos = reader.infos()
    ptx = device.nvrtc(reader.str(), device.CUDA_PTX, False)
    return device.library_bin(kind, device.w_str("ptx") + device.w_infos(infos) + device.w_str(ptx))


def main():
    device.use_rust_lld()
    device.use_webgpu_for_vulkan()
    os.makedirs(OUT, exist_ok=True)
    hosts = {}
    for kind, (device_type, target) in KINDS.items():
        mod = tvm.compile(scheduled(), target=target()).mod
        hosts[kind] = shared_host_code(device.repair(mod.inspect_source()), kind, device_type)
        (OUT / (kind + ".bin")).write_bytes(library_bin(kind, mod))
    assert len(set(hosts.values())) == 1, "the host code of some kinds differs"
    (OUT / "digits.c").write_text(hosts["opencl"])


main()
