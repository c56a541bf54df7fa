/*
 * norm.c: normalization of rows and of groups of channels.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

VECTOR static void add_row(float* sum, const float* x, int64_t cols) {
  for (int64_t i = 0; i < cols; ++i) sum[i] += x[i];
}

/* ---- layernorm ---------------------------------------------------------------------------- */

VECTOR static void layernorm_row(float* out, const float* x, const float* weight, const float* bias, int64_t cols, float eps) {
  float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += x[i];
  const float mean = sum / (float)cols;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = 1 / sqrtf(squares / (float)cols + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

FERRITE_EXPORT(layernorm2d, FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), weight: Tensor([cols], float32), bias: Tensor([cols], float32), eps: float, "
               "out: Tensor([rows, cols], float32) = None",
               "Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, weight, bias;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_take_1(args, 1, "weight", FERRITE_F32, &cols, &weight)) return -1;
  if (ferrite_take_1(args, 2, "bias", FERRITE_F32, &cols, &bias)) return -1;
  if (ferrite_arg_float(args, 3, &eps) || ferrite_out_like(args, 4, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    layernorm_row(f32(&out.tensor) + row * n, f32(&x) + row * n, f32(&weight), f32(&bias), n, (float)eps);
  });
  return ferrite_return_out(result, &out);
}

FERRITE_EXPORT(layernorm2d_residual,
               FERRITE_PARAMS_6(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), residual: Tensor([rows, cols], float32), weight: Tensor([cols], float32), "
               "bias: Tensor([cols], float32), eps: float, out: Tensor([rows, cols], float32) = None",
               "Adds x to residual, in place, and returns layernorm2d of the sum.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, residual, weight, bias;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_take_2(args, 1, "residual", FERRITE_F32, &rows, &cols, &residual)) return -1;
  if (ferrite_take_1(args, 2, "weight", FERRITE_F32, &cols, &weight)) return -1;
  if (ferrite_take_1(args, 3, "bias", FERRITE_F32, &cols, &bias)) return -1;
  if (ferrite_arg_float(args, 4, &eps) || ferrite_check_output(&residual, NULL)) return -1;
  if (ferrite_out_like(args, 5, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    float* sum = f32(&residual) + row * n;
    add_row(sum, f32(&x) + row * n, n);
    layernorm_row(f32(&out.tensor) + row * n, sum, f32(&weight), f32(&bias), n, (float)eps);
  });
  return ferrite_return_out(result, &out);
}

/* ---- rmsnorm ------------------------------------------------------------------------------ */

VECTOR static void rmsnorm_row(float* out, const float* x, const float* weight, int64_t cols, float eps) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += x[i] * x[i];
  const float scale = 1 / sqrtf(squares / (float)cols + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = x[i] * scale * weight[i];
}

FERRITE_EXPORT(rmsnorm, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), weight: Tensor([cols], float32), eps: float, "
               "out: Tensor([rows, cols], float32) = None",
               "Divides each row of x by its root mean square, and multiplies it by weight.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, weight;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_take_1(args, 1, "weight", FERRITE_F32, &cols, &weight)) return -1;
  if (ferrite_arg_float(args, 2, &eps) || ferrite_out_like(args, 3, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    rmsnorm_row(f32(&out.tensor) + row * n, f32(&x) + row * n, f32(&weight), n, (float)eps);
  });
  return ferrite_return_out(result, &out);
}

FERRITE_EXPORT(rmsnorm_residual,
               FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), residual: Tensor([rows, cols], float32), weight: Tensor([cols], float32), "
               "eps: float, out: Tensor([rows, cols], float32) = None",
               "Adds x to residual, in place, and returns rmsnorm of the sum.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, residual, weight;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_take_2(args, 1, "residual", FERRITE_F32, &rows, &cols, &residual)) return -1;
  if (ferrite_take_1(args, 2, "weight", FERRITE_F32, &cols, &weight)) return -1;
  if (ferrite_arg_float(args, 3, &eps) || ferrite_check_output(&residual, NULL)) return -1;
  if (ferrite_out_like(args, 4, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    float* sum = f32(&residual) + row * n;
    add_row(sum, f32(&x) + row * n, n);
    rmsnorm_row(f32(&out.tensor) + row * n, sum, f32(&weight), n, (float)eps);
  });
  return ferrite_return_out(result, &out);
}

/* ---- without weights ---------------------------------------------------------------------- */

VECTOR static void l2norm_row(float* out, const float* x, int64_t cols, float eps) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += x[i] * x[i];
  const float scale = 1 / sqrtf(squares + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = x[i] * scale;
}

FERRITE_EXPORT(l2norm, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), eps: float, out: Tensor([rows, cols], float32) = None",
               "Divides each row of x by its length, the root of eps and the sum of its squares.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_arg_float(args, 1, &eps) || ferrite_out_like(args, 2, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    l2norm_row(f32(&out.tensor) + row * n, f32(&x) + row * n, n, (float)eps);
  });
  return ferrite_return_out(result, &out);
}

/* ---- groups of channels ------------------------------------------------------------------- */

/* Normalizes the channels of one group; each has its weight and bias. */
VECTOR static void groupnorm_group(float* out, const float* x, const float* weight, const float* bias, int64_t channels,
                                   int64_t length, float eps) {
  const float count = (float)(channels * length);
  float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < channels * length; ++i) sum += x[i];
  const float mean = sum / count;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < channels * length; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = 1 / sqrtf(squares / count + eps);
  for (int64_t channel = 0; channel < channels; ++channel, x += length, out += length) {
    for (int64_t i = 0; i < length; ++i) out[i] = (x[i] - mean) * scale * weight[channel] + bias[channel];
  }
}

FERRITE_EXPORT(groupnorm,
               FERRITE_PARAMS_6(FERRITE_TENSOR, FERRITE_INT, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "x: Tensor([batch, channels, length], float32), groups: int, weight: Tensor([channels], float32), "
               "bias: Tensor([channels], float32), eps: float, out: Tensor([batch, channels, length], float32) = None",
               "Normalizes groups of neighbouring channels to mean 0 and variance 1, multiplies each channel by its weight, and adds "
               "its bias.") {
  FerriteExtent batch = FERRITE_ANY_EXTENT, channels = FERRITE_ANY_EXTENT, length = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, weight, bias;
  FerriteOut out;
  int64_t groups;
  double eps;
  if (ferrite_take_3(args, 0, "x", FERRITE_F32, &batch, &channels, &length, &x)) return -1;
  if (ferrite_arg_int_in(args, 1, "groups", 1, INT32_MAX, &groups) || ferrite_check_divisible(&x, 1, groups)) return -1;
  if (ferrite_take_1(args, 2, "weight", FERRITE_F32, &channels, &weight)) return -1;
  if (ferrite_take_1(args, 3, "bias", FERRITE_F32, &channels, &bias)) return -1;
  if (ferrite_arg_float(args, 4, &eps) || ferrite_out_like(args, 5, "out", &x, &out)) return -1;
  const int64_t size = channels.value / groups, step = size * length.value;
  PARALLEL_FOR(group, batch.value * groups, ferrite_numel(&x), {
    const int64_t channel = group % groups * size;
    groupnorm_group(f32(&out.tensor) + group * step, f32(&x) + group * step, f32(&weight) + channel, f32(&bias) + channel, size,
                    length.value, (float)eps);
  });
  return ferrite_return_out(result, &out);
}
