"""The choices of the user for a compiled model."""

import dataclasses

from failure import Failure

QUANTIZATIONS = {"none": 32, "f16": 16, "q4": 4}
"""Values of `--quantization`, each with the bits of a weight."""
LANGUAGE_TARGETS = ("host", "opencl", "cuda")
PAGES = "web,webgpu"
"""The target of WebLLM, which calculates on WebGPU alone."""
LOOKED_UP = ("tvmjs.", "vm.builtin.attention_kv_cache_", "vm.builtin.kv_state_", "vm.builtin.param_module_from_cache", "vm.builtin.tensor_cache.")
"""Beginnings of the global functions that WebLLM looks up besides those of TVM's JavaScript runtime."""
PAGE = 16
"""Tokens of a page, which the frontend's kernels have built in."""


@dataclasses.dataclass
class Options:
    """Bits of a weight, data type of the calculation, and sizes. `target` is TVM's."""

    bits: int
    dtype: str
    context: int
    chunk: int
    batch: int
    target: object = None

    @property
    def quantization(self):
        """Returns MLC-LLM's name."""
        kind = "f16" if self.dtype == "float16" else "f32"
        return f"q4{kind}_1" if self.bits == 4 else f"q0{kind}"

    def metadata(self, description):
        """Returns what the function `_metadata` of the model says of it, without the parameters."""
        return {
            "model_type": description.kind,
            "quantization": self.quantization,
            "context_window_size": self.context,
            "sliding_window_size": -1,
            "attention_sink_size": -1,
            "prefill_chunk_size": self.chunk,
            "max_batch_size": self.batch,
            "tensor_parallel_shards": 1,
            "pipeline_parallel_stages": 1,
            "kv_state_kind": "kv_cache",
            "kv_cache": {
                "num_hidden_layers": description.layers,
                "num_attention_heads": description.heads,
                "num_key_value_heads": description.kv_heads,
                "head_dim": description.head,
            },
        }


def context_of(args, description):
    """Returns the tokens of a conversation."""
    longest = min(description.positions, description.window or description.positions)
    context = min(4096, longest) if args.context is None else args.context
    if not 1 <= context <= longest:
        limit = "sliding window" if description.window and description.window == longest else "max_position_embeddings"
        raise Failure(f"--context {context} is not from 1 to {longest}, the model's {limit}")
    return context


def chunk_of(args, context):
    """Returns the tokens of a step."""
    chunk = min(512, context) if args.prefill_chunk is None else args.prefill_chunk
    if not 1 <= chunk <= context:
        raise Failure(f"--prefill-chunk {chunk} is not from 1 to the context, {context}")
    return chunk


def choose(args, description):
    """Returns the options for a model, with their defaults."""
    if args.target not in LANGUAGE_TARGETS:
        raise Failure(f"encoders are compiled for {', '.join(LANGUAGE_TARGETS)}, not for {args.target}")
    context = context_of(args, description)
    batch = 16 if args.batch is None else args.batch
    if batch < 1:
        raise Failure(f"--batch {batch} is not positive")
    bits = QUANTIZATIONS[args.quantization or "f16"]
    # Weights of 4 bits are calculated with in float32 where a device need not have float16.
    dtype = "float16" if bits == 16 or (bits == 4 and args.target == "cuda") else "float32"
    return Options(bits, dtype, context, chunk_of(args, context), batch)


def choose_page(args, description):
    """Returns the options for WebLLM, which has one conversation."""
    if args.target != PAGES:
        raise Failure(f"language models in web pages run on WebLLM, which needs WebGPU: give --target {PAGES}")
    for name, value in {"--batch": args.batch, "--cpu": args.cpu}.items():
        if value is not None:
            raise Failure(f"{name} is for hosts and GPUs: WebLLM has one conversation")
    if args.mode != "bytecode":
        raise Failure("--mode compiled is for hosts and GPUs: web pages have bytecode")
    bits = QUANTIZATIONS[args.quantization or "q4"]
    if bits == 16:
        raise Failure("--quantization f16 is for hosts and GPUs, since not every browser has float16 on WebGPU: choose q4 or none")
    context = context_of(args, description)
    return Options(bits, "float32", context, chunk_of(args, context), 1)


def choose_board(args, description):
    """Returns the options for a board, whose steps have one token of one conversation."""
    given = {"--prefill-chunk": args.prefill_chunk, "--batch": args.batch, "--conversation": args.conversation, "--cpu": args.cpu}
    for name, value in given.items():
        if value is not None:
            raise Failure(f"{name} is for hosts and GPUs: firmware continues one prompt, token by token")
    if args.mode != "bytecode":
        raise Failure("--mode compiled is for hosts and GPUs: firmware has bytecode, and kernels in C")
    bits = QUANTIZATIONS[args.quantization or "q4"]
    if bits == 16:
        raise Failure("--quantization f16 is for hosts and GPUs, since TVM's C target lacks functions of float16: choose q4 or none")
    return Options(bits, "float32", context_of(args, description), 1, 1)
