// The experts of a mixture: softmax and the largest probabilities.
#include "kernels.hpp"
#include "vector_math.hpp"

namespace kernels {
namespace {

// Index of the largest of `count` values, the first of equal ones. NaN is never larger.
KERNELS_INLINE int64_t argmax(const float* x, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (x[i] > x[best]) best = i;
  }
  return best;
}

// Softmax of a row into `probabilities`.
template <class T> KERNELS_CLONES void softmax_row(const T* x, int64_t count, float* probabilities) {
  float most = x[0], sum = 0;
#pragma omp simd reduction(max : most)
  for (int64_t i = 1; i < count; ++i) most = float(x[i]) > most ? float(x[i]) : most;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += probabilities[i] = exp_approx(float(x[i]) - most);
  for (int64_t i = 0; i < count; ++i) probabilities[i] /= sum;
}

// Takes the k largest out of `probabilities`, which it overwrites.
void take_largest(float* probabilities, int64_t count, int64_t k, bool renormalize, float* weights, int32_t* indices) {
  float sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    int64_t best = argmax(probabilities, count);
    indices[i] = static_cast<int32_t>(best);
    sum += weights[i] = probabilities[best];
    probabilities[best] = -1.0f;
  }
  for (int64_t i = 0; renormalize && i < k; ++i) weights[i] /= sum;
}

}  // namespace

FERRITE_EXPORT(topk_softmax, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_BOOL, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "gating: Tensor([tokens, experts], T), renormalize: bool, "
               "weights: Tensor([tokens, k], float32), indices: Tensor([tokens, k], int32)",
               "Writes the k largest probabilities of softmax(gating) and their experts, the largest first; of equal ones the "
               "lower number. With renormalize, the k add up to 1." KERNELS_TYPES) {
  Call call(args);
  Dim tokens, experts, k;
  Tensor gating = call.floats(0, "gating", {&tokens, &experts});
  bool renormalize = call.boolean(1);
  Tensor weights = call.writable(2, "weights", kFloat32, {&tokens, &k});
  Tensor indices = call.writable(3, "indices", kInt32, {&tokens, &k});
  call.at_most(weights, 1, experts);
  if (call.failed()) return -1;
  if (tokens == 0 || k == 0) return ferrite_return_none(result);
  Scratch scratch(static_cast<size_t>(tokens * experts) * sizeof(float));
  if (scratch.failed()) return out_of_memory();
  with_float_type(gating.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(tokens, experts * (8 + k), [&](int64_t token) {
      float* probabilities = scratch.data<float>() + token * experts;
      softmax_row(gating.data<T>() + token * experts, experts, probabilities);
      take_largest(probabilities, experts, k, renormalize, weights.data<float>() + token * k,
                   indices.data<int32_t>() + token * k);
    });
  });
  return ferrite_return_none(result);
}

}  // namespace kernels
