/*
 * activation.c: activations of tensors of any shape, and of gated pairs.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "vector_math.h"

static inline float relu(float x) { return x > 0 ? x : 0 * x; } /* keeps what is not a number */
static inline float silu(float x) { return x * vector_sigmoid(x); }

/* Near 0, where 2 sigmoid(2 x) - 1 cancels its digits, the series at 0. */
static inline float tanh_of(float x) {
  const float s = x * x;
  const float series = x * (1 + s * (-0.333333333f + s * (0.133333333f + s * (-0.0539682540f + s * 0.0218694885f))));
  return s < 0.0625f ? series : 2 * vector_sigmoid(2 * x) - 1;
}

/* x times the standard normal distribution function at x. */
static inline float gelu(float x) {
  const float tail = 0.5f * vector_erfc(fabsf(x) * 0.707106781f);
  return x * (x < 0 ? tail : 1 - tail);
}

/* (1 + tanh(u)) / 2 is the logistic function of 2 u, which keeps its digits where tanh(u) is near
 * -1. */
static inline float gelu_tanh(float x) { return x * vector_sigmoid(1.59576912f * (x + 0.044715f * x * x * x)); }

/* ---- of single elements ------------------------------------------------------------------- */

/* Elements that one thread takes at a time. */
#define CHUNK 8192

typedef void Activation(float* out, const float* x, int64_t count);

static void apply(Activation* activation, float* out, const float* x, int64_t count) {
  PARALLEL_FOR(chunk, (count + CHUNK - 1) / CHUNK, count, {
    const int64_t at = chunk * CHUNK;
    activation(out + at, x + at, at + CHUNK < count ? CHUNK : count - at);
  });
}

static int run(const FerriteArgs* args, TVMFFIAny* result, Activation* activation) {
  FerriteTensorArg x;
  FerriteOut out;
  if (ferrite_take_any(args, 0, "x", FERRITE_F32, &x) || ferrite_out_like(args, 1, "out", &x, &out)) return -1;
  apply(activation, f32(&out.tensor), f32(&x), ferrite_numel(&x));
  return ferrite_return_out(result, &out);
}

/* Exports an activation of single elements. */
#define ACTIVATION(name, function, doc)                                                                         \
  VECTOR static void name##_all(float* out, const float* x, int64_t count) {                                    \
    for (int64_t i = 0; i < count; ++i) out[i] = function(x[i]);                                                \
  }                                                                                                             \
  FERRITE_EXPORT(name, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,                      \
                 "x: Tensor([...], float32), out: Tensor([...], float32) = None", doc) {                        \
    return run(args, result, name##_all);                                                                       \
  }

ACTIVATION(relu, relu, "Returns the larger of x and 0.")
ACTIVATION(sigmoid, vector_sigmoid, "Returns 1 / (1 + exp(-x)).")
ACTIVATION(silu, silu, "Returns x * sigmoid(x).")
ACTIVATION(tanh, tanh_of, "Returns the hyperbolic tangent of x.")
ACTIVATION(gelu, gelu, "Returns x times the standard normal distribution function at x.")
ACTIVATION(gelu_tanh, gelu_tanh, "Returns gelu(x), approximated by a hyperbolic tangent.")

/* ---- of gated pairs ----------------------------------------------------------------------- */

typedef void Gate(float* out, const float* gate, const float* up, int64_t cols);

static int run_gated(const FerriteArgs* args, TVMFFIAny* result, Gate* gate) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, both = FERRITE_ANY_EXTENT, cols;
  FerriteTensorArg x;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &both, &x) || ferrite_check_divisible(&x, 1, 2)) return -1;
  cols = ferrite_extent(both.value / 2);
  if (ferrite_out_2(args, 1, "out", FERRITE_F32, &rows, &cols, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    const float* at = f32(&x) + row * 2 * n;
    gate(f32(&out.tensor) + row * n, at, at + n, n);
  });
  return ferrite_return_out(result, &out);
}

/* Exports an activation of the first half of each row, times the second half. */
#define GATED(name, function, doc)                                                                              \
  VECTOR static void name##_row(float* restrict out, const float* gate, const float* up, int64_t cols) {        \
    for (int64_t i = 0; i < cols; ++i) out[i] = function(gate[i]) * up[i];                                      \
  }                                                                                                             \
  FERRITE_EXPORT(name, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,                      \
                 "x: Tensor([rows, 2 * cols], float32), out: Tensor([rows, cols], float32) = None", doc) {      \
    return run_gated(args, result, name##_row);                                                                 \
  }

GATED(relu_and_mul, relu, "Returns relu of the first half of each row, times the second half.")
GATED(sigmoid_and_mul, vector_sigmoid, "Returns sigmoid of the first half of each row, times the second half.")
GATED(silu_and_mul, silu, "Returns silu of the first half of each row, times the second half.")
GATED(gelu_and_mul, gelu, "Returns gelu of the first half of each row, times the second half.")
GATED(gelu_tanh_and_mul, gelu_tanh, "Returns gelu_tanh of the first half of each row, times the second half.")
