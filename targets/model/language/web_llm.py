"""A decoder with the functions that WebLLM calls: steps of one conversation, and the choice of the next token on the GPU."""

from tvm.relax.frontend.nn import Tensor, op, spec

from language import kernels, network, sampling

FUNCTIONS = ("embed", "prefill", "decode", "create_tir_paged_kv_cache", "softmax_with_temperature", "argsort_probs", "sample_with_top_p", "_metadata")
UNUSED = (18, 19, 20, 21)
"""Arguments of the cache's constructor: kernels for sliding windows and token trees."""


class Decoder(network.Decoder):
    unused_kernels = UNUSED
    create_tir_paged_kv_cache = network.Decoder.create_paged_kv_cache

    def argsort_probs(self, probs: Tensor):
        kernel = sampling.sorted_probabilities(self.d.vocab, self.options.target)
        return op.tensor_ir_op(kernel, "argsort", probs, [Tensor.placeholder(probs.shape, dtype) for dtype in ("float32", "int32")])

    def sample_with_top_p(self, sorted_probs: Tensor, sorted_indices: Tensor, uniform: Tensor, sample_indices: Tensor, top_p: Tensor):
        kernel, arguments = sampling.top_p_sample(self.d.vocab, self.options.target), [sorted_probs, sorted_indices, uniform, sample_indices, top_p]
        return op.tensor_ir_op(kernel, "sample", arguments, Tensor.placeholder(uniform.shape, "int32"))

    def functions(self):
        functions = super().functions()
        rows, samples = ["batch_size", self.d.vocab], ["samples"]
        plain = {"$": {"param_mode": "none", "effect_mode": "none"}}
        return {name: functions[name] for name in FUNCTIONS if name in functions} | {
            "create_tir_paged_kv_cache": functions["create_paged_kv_cache"],
            "argsort_probs": {"probs": spec.Tensor(rows, "float32"), **plain},
            "sample_with_top_p": {
                "sorted_probs": spec.Tensor(rows, "float32"),
                "sorted_indices": spec.Tensor(rows, "int32"),
                "uniform": spec.Tensor(samples, "float32"),
                "sample_indices": spec.Tensor(samples, "int32"),
                "top_p": spec.Tensor(["batch_size"], "float32"),
                **plain,
            },
        }


def module(description, options):
    """Returns the IRModule of a decoder, and the table of its parameters, as `network.module` does."""
    mod, table = network.module(description, options, Decoder)
    mod = kernels.reachable(mod, FUNCTIONS)
    for name, function in sampling.changes(description.vocab, options.target).items():
        mod[name] = function
    return mod, table
