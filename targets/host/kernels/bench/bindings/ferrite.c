/* The binding in C. */
#include <ferrite/kernel.h>

#include "layernorm.h"

/* begin copy */
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
  layernorm((float*)ferrite_data(&x), (float*)ferrite_data(&weight), (float*)ferrite_data(&bias), rows.value, cols.value,
            (float)eps + COPY, (float*)ferrite_data(&out.tensor));
  return ferrite_return_out(result, &out);
}
/* end copy */
