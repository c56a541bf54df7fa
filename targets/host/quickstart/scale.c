/*
 * scale.c: a kernel library in C89 with the helpers of ferrite/kernel.h: exports, arguments,
 * checks, allocation and results.
 *
 * Compare kernels.c, which does without them.
 */
#include <ferrite/kernel.h>

/* A matrix of float32 in main memory, without gaps. */
static int check_matrix(const FerriteTensorArg* x) {
  return ferrite_check_ndim(x, 2) || ferrite_check_dtype(x, kDLFloat, 32, 1) || ferrite_check_device(x, kDLCPU) ||
                 ferrite_check_compact(x) || ferrite_check_data(x)
             ? -1
             : 0;
}

static void scale_into(float* y, const float* x, float factor, int64_t count) {
  int64_t i;
  for (i = 0; i < count; ++i) y[i] = factor * x[i];
}

FERRITE_EXPORT(scale, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OPTIONAL(FERRITE_FLOAT)), FERRITE_OBJECT_OF("ffi.Tensor"),
               "x: Tensor([m, n], float32), factor: float = 2", "Returns a new tensor, factor * x. Without a factor, doubles x.") {
  FerriteTensorArg x;
  TVMFFIObjectHandle y;
  double factor = 2;
  if (ferrite_arg_tensor(args, 0, "x", &x) || check_matrix(&x)) return -1;
  if (!ferrite_arg_is_none(args, 1) && ferrite_arg_float(args, 1, &factor)) return -1;
  if (ferrite_alloc_like(&x, &y)) return -1;
  scale_into((float*)ferrite_tensor_in(y)->data, (const float*)ferrite_data(&x), (float)factor, ferrite_numel(&x));
  return ferrite_return_object(result, kTVMFFITensor, y);
}

FERRITE_EXPORT(add_column, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "x: Tensor([m, n], float32), column: Tensor([m, 1], float32)", "Adds a column to each column of x, in place.") {
  FerriteTensorArg x, column;
  int64_t row, i;
  if (ferrite_arg_tensor(args, 0, "x", &x) || check_matrix(&x)) return -1;
  if (ferrite_arg_tensor(args, 1, "column", &column) || check_matrix(&column)) return -1;
  if (ferrite_check_same_extent(&column, 0, &x, 0) || ferrite_check_shape(&column, 1, 1)) return -1;
  for (row = 0; row < x.dl->shape[0]; ++row) {
    float* at = (float*)ferrite_data(&x) + row * x.dl->shape[1];
    for (i = 0; i < x.dl->shape[1]; ++i) at[i] += ((const float*)ferrite_data(&column))[row];
  }
  return ferrite_return_none(result);
}
