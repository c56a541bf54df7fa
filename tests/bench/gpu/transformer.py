"""A transformer of 4 layers, width 256, 8 heads and 128 tokens in float32, which PyTorch and TVM both run.

usage: transformer.py FOLDER    compiles it by TVM for CUDA with its weights as arguments, without and with CUDA graphs
"""

import sys

import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, TOKENS = 4, 256, 8, 128


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (one.reshape(1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2) for one in self.qkv(self.norms[0](x)).split(WIDTH, -1))
        weights = torch.softmax(q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(1, TOKENS, WIDTH))
        return x + self.narrow(functional.gelu(self.wide(self.norms[1](x))))


def model():
    """Return the model, the same at every call, and an input."""
    torch.manual_seed(0)
    return nn.Sequential(*(Layer() for _ in range(LAYERS))).eval(), torch.randn(1, TOKENS, WIDTH)


def compile_by_tvm(library, graphs):
    import tvm
    from tvm import relax
    from tvm.relax.frontend.torch import from_exported_program
    from tvm.s_tir import dlight

    network, x = model()
    module = from_exported_program(torch.export.export(network, (x,)), keep_params_as_input=True, unwrap_unit_return_tuple=True)
    module, _ = relax.frontend.detach_params(module)
    target = tvm.target.Target({"kind": "cuda", "host": "llvm", "arch": "sm_90"})
    with target:
        module = relax.get_pipeline("zero")(module)
        rules = dlight.gpu
        module = dlight.ApplyDefaultSchedule(rules.Matmul(), rules.GEMV(), rules.Reduction(), rules.GeneralReduction(), rules.Fallback())(module)
    with tvm.transform.PassContext(config={"relax.backend.use_cuda_graph": graphs}):
        relax.build(module, target=target).export_library(library)


if __name__ == "__main__":
    compile_by_tvm(f"{sys.argv[1]}/transformer.so", graphs=False)
    compile_by_tvm(f"{sys.argv[1]}/transformer_graphs.so", graphs=True)
