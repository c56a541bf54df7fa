// Paged attention of the decode step: at once, or in splits whose results a second kernel combines.
#include "attention.hpp"

namespace kernels {
namespace {

#define PAGED_ARGUMENTS                                                 \
  "query: Tensor([seqs, heads, head_size], T), "                        \
  "key_cache: Tensor([blocks, block_size, kv_heads, head_size], T), "   \
  "value_cache: Tensor([blocks, block_size, kv_heads, head_size], T), " \
  "block_tables: Tensor([seqs, max_blocks], int32), context_lens: Tensor([seqs], int32), scale: float, "

// The arguments that both kernels have.
struct Paged {
  Dim seqs, heads, head_size, blocks, block_size, kv_heads, max_blocks;
  Tensor query;
  Cache cache;
  float scale;

  explicit Paged(Call* call) {
    query = call->floats(0, "query", {&seqs, &heads, &head_size});
    Tensor keys = call->tensor(1, "key_cache", query.dtype(), {&blocks, &block_size, &kv_heads, &head_size});
    Tensor values = call->tensor(2, "value_cache", query.dtype(), {&blocks, &block_size, &kv_heads, &head_size});
    Tensor tables = call->tensor(3, "block_tables", kInt32, {&seqs, &max_blocks});
    Tensor lengths = call->tensor(4, "context_lens", kInt32, {&seqs});
    scale = static_cast<float>(call->number(5));
    call->at_least(keys, 1, 1);
    call->at_least(keys, 2, 1);
    call->divisible(query, 1, kv_heads);
    call->context(tables, lengths, blocks, block_size);
    if (call->failed()) return;
    cache = Cache{keys.data<void>(),
                  values.data<void>(),
                  tables.data<int32_t>(),
                  lengths.data<int32_t>(),
                  max_blocks,
                  block_size,
                  kv_heads,
                  head_size,
                  head_size,
                  head_size,
                  head_size};
  }
};

// Writes the mean of the splits' results, weighted by the exponentials of their log sums.
template <class T>
void combine(const float* partial, const float* log_sums, int64_t splits, int64_t size, float* weights, T* out) {
  float most = -3.0e38f, total = 0;
  for (int64_t split = 0; split < splits; ++split) most = log_sums[split] > most ? log_sums[split] : most;
  for (int64_t split = 0; split < splits; ++split) total += weights[split] = exp_approx(log_sums[split] - most);
  for (int64_t i = 0; i < size; ++i) {
    float sum = 0;
    for (int64_t split = 0; split < splits; ++split) sum += weights[split] * partial[split * size + i];
    out[i] = narrow<T>(total > 0 ? sum / total : 0.0f);
  }
}

}  // namespace

FERRITE_EXPORT(
    paged_attention_decode,
    FERRITE_PARAMS_7(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT,
                     FERRITE_OUT),
    FERRITE_RETURNS_OUT, PAGED_ARGUMENTS "out: Tensor([seqs, heads, head_size], T) = None",
    "Attends from one token of each sequence to the context_lens tokens in its blocks; zeros for a sequence without tokens. "
    "heads is a multiple of kv_heads." KERNELS_TYPES) {
  Call call(args);
  Paged paged(&call);
  Output out = call.output(6, "out", paged.query.dtype(), {&paged.seqs, &paged.heads, &paged.head_size});
  if (call.failed()) return -1;
  bool done = false;
  with_float_type(paged.query.dtype(), [&](auto type) {
    using T = decltype(type);
    done = attention_whole(paged.cache, paged.query.data<T>(), paged.seqs, paged.heads, paged.scale, out.data<T>());
  });
  return done ? out.finish(result) : out_of_memory();
}

FERRITE_EXPORT(
    paged_attention_split_k,
    FERRITE_PARAMS_8(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT,
                     FERRITE_TENSOR, FERRITE_TENSOR),
    FERRITE_NONE,
    PAGED_ARGUMENTS
    "partial: Tensor([seqs, heads, splits, head_size], float32), "
    "log_sums: Tensor([seqs, heads, splits], float32)",
    "Attends as paged_attention_decode does, to each of `splits` parts of the tokens by itself: writes its result, and the "
    "logarithm of its sum of exp(score), which is -inf for a part without tokens. attention_combine makes one result of "
    "them." KERNELS_TYPES) {
  Call call(args);
  Paged paged(&call);
  Dim splits;
  Tensor partial = call.writable(6, "partial", kFloat32, {&paged.seqs, &paged.heads, &splits, &paged.head_size});
  Tensor log_sums = call.writable(7, "log_sums", kFloat32, {&paged.seqs, &paged.heads, &splits});
  if (call.failed()) return -1;
  bool done = false;
  with_float_type(paged.query.dtype(), [&](auto type) {
    using T = decltype(type);
    done = attention_split(paged.cache, paged.query.data<T>(), paged.seqs, paged.heads, splits, paged.scale,
                           partial.data<float>(), log_sums.data<float>());
  });
  return done ? ferrite_return_none(result) : out_of_memory();
}

FERRITE_EXPORT(attention_combine, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "partial: Tensor([seqs, heads, splits, size], float32), log_sums: Tensor([seqs, heads, splits], float32), "
               "out: Tensor([seqs, heads, size], float32) = None",
               "Combines the results of paged_attention_split_k or mla_decode_split_k.") {
  Call call(args);
  Dim seqs, heads, splits, size;
  Tensor partial = call.tensor(0, "partial", kFloat32, {&seqs, &heads, &splits, &size});
  Tensor log_sums = call.tensor(1, "log_sums", kFloat32, {&seqs, &heads, &splits});
  Output out = call.output(2, "out", kFloat32, {&seqs, &heads, &size});
  if (call.failed()) return -1;
  int64_t count = seqs * heads;
  Scratch weights(static_cast<size_t>(count * splits) * sizeof(float));
  if (weights.failed()) return out_of_memory();
  parallel_for(count, splits * size, [&](int64_t i) {
    combine(partial.data<float>() + i * splits * size, log_sums.data<float>() + i * splits, splits, size,
            weights.data<float>() + i * splits, out.data<float>() + i * size);
  });
  return out.finish(result);
}

}  // namespace kernels
