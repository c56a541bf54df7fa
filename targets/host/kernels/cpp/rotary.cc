// Rotary position embedding.
#include "kernels.hpp"
#include "../device/device.hpp"

namespace kernels {
namespace {

// Rotates the pairs (i, i + half) of each head by the angle of pair i at the token's position.
template <class T> KERNELS_CLONES void rotate(T* heads, int64_t count, int64_t head_size, const T* cos_sin, int64_t half) {
  for (int64_t head = 0; head < count; ++head) {
    T* x = heads + head * head_size;
    for (int64_t i = 0; i < half; ++i) {
      float a = x[i], b = x[half + i], c = cos_sin[i], s = cos_sin[half + i];
      x[i] = narrow<T>(a * c - b * s);
      x[half + i] = narrow<T>(b * c + a * s);
    }
  }
}

}  // namespace

FERRITE_EXPORT(
    rotary_embedding, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
    "positions: Tensor([tokens], int64), query: Tensor([tokens, heads, head_size], T), "
    "key: Tensor([tokens, kv_heads, head_size], T), cos_sin_cache: Tensor([max_position, rotary_dim], T)",
    "Rotates query and key in place: the first rotary_dim values of each head, halves paired as in NeoX, by the angles in row "
    "positions[token] of cos_sin_cache. On a device the positions are not checked. Runs on the device of "
    "positions." KERNELS_TYPES) {
  Call call(args, Place::kAnyDevice);
  Dim tokens, heads, kv_heads, head_size, max_position, rotary_dim;
  Tensor positions = call.tensor(0, "positions", kInt64, {&tokens});
  Tensor query = call.floats(1, "query", {&tokens, &heads, &head_size});
  Tensor key = call.tensor(2, "key", query.dtype(), {&tokens, &kv_heads, &head_size});
  Tensor cache = call.tensor(3, "cos_sin_cache", query.dtype(), {&max_position, &rotary_dim});
  call.divisible(cache, 1, 2);
  call.at_most(cache, 1, head_size);
  call.writes(query);
  call.writes(key);
  if (call.failed()) return -1;
  if (!positions.on_host()) {
    if (device::rotary_embedding(positions, query, key, cache, tokens, heads, kv_heads, head_size, rotary_dim) != 0) return -1;
    return ferrite_return_none(result);
  }
  call.elements(positions, 0, max_position - 1);
  if (call.failed()) return -1;
  with_float_type(query.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(tokens, (heads + kv_heads) * rotary_dim, [&](int64_t token) {
      const T* cos_sin = cache.data<T>() + positions.data<int64_t>()[token] * rotary_dim;
      rotate(query.data<T>() + token * heads * head_size, heads, head_size, cos_sin, rotary_dim / 2);
      rotate(key.data<T>() + token * kv_heads * head_size, kv_heads, head_size, cos_sin, rotary_dim / 2);
    });
  });
  return ferrite_return_none(result);
}

}  // namespace kernels
