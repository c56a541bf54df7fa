// Casts between float32 and the formats of 16 and 8 bits.
#include "kernels.hpp"

namespace kernels {
namespace {

// Elements that one task converts.
constexpr int64_t kBlock = 1 << 14;

template <class From, class To> KERNELS_CLONES void cast_block(const From* x, To* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = narrow<To>(static_cast<float>(x[i]));
}

template <class From, class To> int cast(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols;
  Tensor x = call.tensor(0, "x", TypeOf<From>::value, {&rows, &cols});
  Output out = call.output(1, "out", TypeOf<To>::value, {&rows, &cols});
  if (call.failed()) return -1;
  int64_t count = rows * cols;
  parallel_for(ceil_div(count, kBlock), kBlock, [&](int64_t block) {
    int64_t begin = block * kBlock;
    cast_block(x.data<From>() + begin, out.data<To>() + begin, minimum(kBlock, count - begin));
  });
  return out.finish(result);
}

#define CAST(name, From, from, To, to, doc)                                                            \
  FERRITE_EXPORT(name, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,             \
                 "x: Tensor([rows, cols], " from "), out: Tensor([rows, cols], " to ") = None", doc) { \
    return cast<From, To>(args, result);                                                               \
  }

}  // namespace

CAST(cast_f32_to_f16, float, "float32", Half, "float16", "Rounds to float16, ties to even; too large values become infinite.")
CAST(cast_f32_to_bf16, float, "float32", BFloat16, "bfloat16", "Rounds to bfloat16, ties to even.")
CAST(cast_f32_to_f8_e4m3fn, float, "float32", Float8E4M3, "float8_e4m3fn",
     "Rounds to float8_e4m3fn, ties to even; values beyond 448 that do not round to it become NaN, as the format has no "
     "infinity.")
CAST(cast_f32_to_f8_e5m2, float, "float32", Float8E5M2, "float8_e5m2",
     "Rounds to float8_e5m2, ties to even; too large values become infinite.")
CAST(cast_f16_to_f32, Half, "float16", float, "float32", "Converts float16 to float32, exactly.")
CAST(cast_bf16_to_f32, BFloat16, "bfloat16", float, "float32", "Converts bfloat16 to float32, exactly.")
CAST(cast_f8_e4m3fn_to_f32, Float8E4M3, "float8_e4m3fn", float, "float32", "Converts float8_e4m3fn to float32, exactly.")
CAST(cast_f8_e5m2_to_f32, Float8E5M2, "float8_e5m2", float, "float32", "Converts float8_e5m2 to float32, exactly.")

}  // namespace kernels
