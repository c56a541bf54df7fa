/*
 * aiter.h: tensors of AITER, ROCm's library of operators, as arguments of kernels.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * AITER's entry points without PyTorch take pointers to a record of their own, `aiter_tensor_t`
 * (ROCm/aiter, csrc/include/aiter_tensor.h, 2026). FerriteAiterTensor has its layout, so a pointer
 * to one is a pointer to the other:
 *
 *   int rmsnorm_of_aiter(aiter_tensor_t* out, aiter_tensor_t* x, aiter_tensor_t* weight, float eps)
 *   {
 *     DLTensor tensors[3];
 *     TVMFFIAny args[4], result;
 *     if (ferrite_from_aiter((FerriteAiterTensor*)x, FERRITE_FP8_FN, &tensors[0]) || ...) return -1;
 *     args[0] = ferrite_any_of_tensor(&tensors[0]);
 *     ...
 *     return __tvm_ffi_rmsnorm(NULL, args, 4, &result);
 *   }
 *
 * The stream that AITER passes beside the record becomes the current one by TVMFFIEnvSetStream.
 */
#ifndef FERRITE_AITER_H_
#define FERRITE_AITER_H_

#include <ferrite/kernel.h>

/* Element types, in the order of AITER's AiterDtype. */
enum {
  FERRITE_AITER_FP8,
  FERRITE_AITER_FP8_E8M0,
  FERRITE_AITER_FP16,
  FERRITE_AITER_BF16,
  FERRITE_AITER_FP32,
  FERRITE_AITER_I4X2,
  FERRITE_AITER_FP4X2,
  FERRITE_AITER_U32,
  FERRITE_AITER_I32,
  FERRITE_AITER_I16,
  FERRITE_AITER_I8,
  FERRITE_AITER_U8,
  FERRITE_AITER_I64,
  FERRITE_AITER_U64,
  FERRITE_AITER_TYPES
};

#define FERRITE_AITER_MAX_NDIM 8

/* The record: strides count elements, and device -1 is main memory. */
typedef struct FerriteAiterTensor {
  void* data;
  size_t numel;
  int ndim;
  int64_t shape[FERRITE_AITER_MAX_NDIM];
  int64_t strides[FERRITE_AITER_MAX_NDIM];
  int dtype;
  int device_id;
} FerriteAiterTensor;

/* The format of fp8, which the record lacks: AMD's gfx942 has FNUZ, gfx950 and later the one of
 * OCP. */
enum { FERRITE_FP8_FN = kDLFloat8_e4m3fn, FERRITE_FP8_FNUZ = kDLFloat8_e4m3fnuz };

/*
 * Describes a record as a DLTensor, which borrows its memory, shape and strides: the record must
 * outlive it. `fp8` is FERRITE_FP8_FN or FERRITE_FP8_FNUZ. Devices are those of ROCm. Packed types,
 * two numbers in a byte, get two lanes.
 *
 * Errors: TypeError for a type that is unknown, ValueError for a number of axes that is.
 */
FERRITE_INLINE_ int ferrite_from_aiter(const FerriteAiterTensor* x, int fp8, DLTensor* out) {
  static const uint8_t codes[] = {0,       kDLFloat8_e8m0fnu, kDLFloat, kDLBfloat, kDLFloat, kDLInt, kDLFloat4_e2m1fn,
                                  kDLUInt, kDLInt,            kDLInt,   kDLInt,    kDLUInt,  kDLInt, kDLUInt};
  static const uint8_t bits[] = {8, 8, 16, 16, 32, 4, 4, 32, 32, 16, 8, 8, 64, 64};
  if (x->dtype < 0 || x->dtype >= FERRITE_AITER_TYPES) return ferrite_fail("TypeError", "the type of an AITER tensor is unknown");
  if (x->ndim < 0 || x->ndim > FERRITE_AITER_MAX_NDIM) {
    return ferrite_fail("ValueError", "an AITER tensor has at most 8 axes");
  }
  out->data = x->data;
  out->device.device_type = x->device_id < 0 ? kDLCPU : kDLROCM;
  out->device.device_id = x->device_id < 0 ? 0 : x->device_id;
  out->ndim = x->ndim;
  out->dtype.code = x->dtype == FERRITE_AITER_FP8 ? (uint8_t)fp8 : codes[x->dtype];
  out->dtype.bits = bits[x->dtype];
  out->dtype.lanes = bits[x->dtype] == 4 ? 2 : 1;
  out->shape = (int64_t*)x->shape;
  out->strides = (int64_t*)x->strides;
  out->byte_offset = 0;
  return 0;
}

/* Returns an argument that borrows a tensor. */
FERRITE_INLINE_ TVMFFIAny ferrite_any_of_tensor(DLTensor* tensor) {
  TVMFFIAny value;
  value.type_index = kTVMFFIDLTensorPtr;
  value.zero_padding = 0;
  value.v_int64 = 0;
  value.v_ptr = tensor;
  return value;
}

#endif /* FERRITE_AITER_H_ */
