// Multi-head latent attention of the decode step, with the projections absorbed into the queries: all heads attend to one
// latent vector a token, of which the first value_size elements are also its value (kv_lora_rank 512 and 64 of rotary embedding
// in DeepSeek's models).
#include "attention.hpp"

namespace kernels {
namespace {

#define MLA_ARGUMENTS                                \
  "query: Tensor([seqs, heads, latent], T), "        \
  "cache: Tensor([blocks, block_size, latent], T), " \
  "block_tables: Tensor([seqs, max_blocks], int32), context_lens: Tensor([seqs], int32), scale: float, "

// The arguments that both kernels have.
struct Latent {
  Dim seqs, heads, latent, blocks, block_size, max_blocks;
  Tensor query;
  Cache cache;
  float scale;

  explicit Latent(Call* call) {
    query = call->floats(0, "query", {&seqs, &heads, &latent});
    Tensor tokens = call->tensor(1, "cache", query.dtype(), {&blocks, &block_size, &latent});
    Tensor tables = call->tensor(2, "block_tables", kInt32, {&seqs, &max_blocks});
    Tensor lengths = call->tensor(3, "context_lens", kInt32, {&seqs});
    scale = static_cast<float>(call->number(4));
    call->at_least(tokens, 1, 1);
    call->context(tables, lengths, blocks, block_size);
    if (call->failed()) return;
    cache = Cache{tokens.data<void>(),
                  tokens.data<void>(),
                  tables.data<int32_t>(),
                  lengths.data<int32_t>(),
                  max_blocks,
                  block_size,
                  1,
                  latent,
                  latent,
                  latent,
                  latent};
  }
};

}  // namespace

FERRITE_EXPORT(mla_decode,
               FERRITE_PARAMS_7(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_INT,
                                FERRITE_OUT),
               FERRITE_RETURNS_OUT, MLA_ARGUMENTS "value_size: int, out: Tensor([seqs, heads, value_size], T) = None",
               "Attends from one token of each sequence to the latent vectors of its tokens; zeros for a sequence without "
               "tokens." KERNELS_TYPES) {
  Call call(args);
  Latent mla(&call);
  Dim value_size(call.integer(5, "value_size", 0, mla.latent));
  Output out = call.output(6, "out", mla.query.dtype(), {&mla.seqs, &mla.heads, &value_size});
  if (call.failed()) return -1;
  mla.cache.value_size = value_size;
  bool done = false;
  with_float_type(mla.query.dtype(), [&](auto type) {
    using T = decltype(type);
    done = attention_whole(mla.cache, mla.query.data<T>(), mla.seqs, mla.heads, mla.scale, out.data<T>());
  });
  return done ? out.finish(result) : out_of_memory();
}

FERRITE_EXPORT(mla_decode_split_k,
               FERRITE_PARAMS_7(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_TENSOR,
                                FERRITE_TENSOR),
               FERRITE_NONE,
               MLA_ARGUMENTS
               "partial: Tensor([seqs, heads, splits, value_size], float32), "
               "log_sums: Tensor([seqs, heads, splits], float32)",
               "Attends as mla_decode does, to each of `splits` parts of the tokens by itself: see "
               "paged_attention_split_k." KERNELS_TYPES) {
  Call call(args);
  Latent mla(&call);
  Dim splits, value_size;
  Tensor partial = call.writable(5, "partial", kFloat32, {&mla.seqs, &mla.heads, &splits, &value_size});
  Tensor log_sums = call.writable(6, "log_sums", kFloat32, {&mla.seqs, &mla.heads, &splits});
  call.at_most(partial, 3, mla.latent);
  if (call.failed()) return -1;
  mla.cache.value_size = value_size;
  bool done = false;
  with_float_type(mla.query.dtype(), [&](auto type) {
    using T = decltype(type);
    done = attention_split(mla.cache, mla.query.data<T>(), mla.seqs, mla.heads, splits, mla.scale, partial.data<float>(),
                           log_sums.data<float>());
  });
  return done ? ferrite_return_none(result) : out_of_memory();
}

}  // namespace kernels
