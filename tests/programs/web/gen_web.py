"""Generate the objects that tvmjs's own tests load, TVM's results for the modules of its `prepare_test_libs.py`, and
those with kernels for WebGPU: two of this file, the functions of ../device, and the transformer of ../relax.

    pip install apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 ml_dtypes
    python gen_web.py       # writes add_one.o, add.o, *_webgpu.o and *_fixtures.o
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tvm
from tvm import relax
from tvm.s_tir import dlight
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / folder) for folder in ("device", "relax")]

import gen_device  # noqa: E402
import gen_relax  # noqa: E402

TARGET = tvm.target.Target({"kind": "llvm", "mtriple": "wasm32-unknown-unknown-wasm"})
WEBGPU = tvm.target.Target("webgpu", host=TARGET)


@I.ir_module
class AddOne:
    I.module_attrs({"system_lib_prefix": ""})

    @T.prim_func(s_tir=True)
    def add_one(xh: T.handle, yh: T.handle):
        n = T.int32()
        x = T.match_buffer(xh, (n,), "float32")
        y = T.match_buffer(yh, (n,), "float32")
        for at in range(n):
            with T.sblock("y"):
                i = T.axis.spatial(n, at)
                y[i] = x[i] + T.float32(1)


@I.ir_module
class AddOnWebGpu:
    I.module_attrs({"system_lib_prefix": ""})

    @T.prim_func(s_tir=True)
    def add_one(xh: T.handle, yh: T.handle):
        T.func_attr({"tirx.noalias": True})
        n = T.int32()
        x = T.match_buffer(xh, (n,), "float32")
        y = T.match_buffer(yh, (n,), "float32")
        for b in T.thread_binding((n + 63) // 64, thread="blockIdx.x"):
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("y"):
                    i = T.axis.spatial(n, b * 64 + t)
                    T.where(b * 64 + t < n)
                    y[i] = x[i] + T.float32(1)


@I.ir_module
class Add:
    @R.function
    def main(x: R.Tensor(["n"], "float32"), y: R.Tensor(["n"], "float32")):
        return R.add(x, y)


@I.ir_module
class AddConstant:
    I.module_attrs({"system_lib_prefix": "constant_"})

    @R.function
    def main(x: R.Tensor((5000,), "float32")):
        return R.add(x, R.const(np.arange(5000, dtype="float32")))


def link(output, objects, **_):
    subprocess.run(["wasm-ld", "-r", "-S", *objects, "-o", output], check=True)


def export(built, name):
    with tempfile.TemporaryDirectory() as folder:
        link.object_format = "o"
        built.export_library(str(HERE / name), fcompile=link, workspace_dir=folder)


def build_webgpu(model):
    with WEBGPU:
        scheduled = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(relax.get_pipeline()(model))
    return relax.build(scheduled, WEBGPU)


FUNCTIONS = {name: function for name, function in gen_device.FUNCS.items() if name not in gen_device.LEFT_OUT["webgpu"]}
TRANSFORMER, _ = gen_relax.transformer(np.random.default_rng(7))
export(tvm.compile(AddOne, target=TARGET), "add_one.o")
export(tvm.compile(AddOnWebGpu, target=WEBGPU), "add_webgpu.o")
export(tvm.compile(tvm.IRModule(FUNCTIONS).with_attr("system_lib_prefix", "device_"), target=WEBGPU), "device_fixtures.o")
export(build_webgpu(AddConstant), "constant_webgpu.o")
export(build_webgpu(TRANSFORMER.with_attr("system_lib_prefix", "transformer_")), "transformer_fixtures.o")
export(relax.build(relax.get_pipeline()(Add), TARGET), "add.o")
