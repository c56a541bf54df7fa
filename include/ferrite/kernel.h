/*
 * ferrite/kernel.h: helpers for authors of kernels in C or C++: exports with documentation and
 * types, arguments, checks with the messages of TVM's generated code, allocation, and results.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Header-only, C89 and later, C++11 and later. It uses the C ABI only, so a kernel built with it
 * runs on any libtvm_ffi.
 *
 * Functions that return int return 0, or -1 with an error raised on the calling thread; then return
 * -1 from the kernel. Arguments are borrowed: pointers into them are valid until the kernel
 * returns. Nothing is allocated unless a function says so. Threads may call all functions at the
 * same time. Names that end with an underscore are internal.
 *
 *   FERRITE_EXPORT(add_one, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
 *                  "x: Tensor([n], float32), y: Tensor([n], float32)", "Writes x + 1 into y.") {
 *     FerriteTensorArg x, y;
 *     int64_t i;
 *     if (ferrite_arg_tensor(args, 0, "x", &x) || ferrite_arg_tensor(args, 1, "y", &y)) return -1;
 *     if (ferrite_check_ndim(&x, 1) || ferrite_check_dtype(&x, kDLFloat, 32, 1) || ...) return -1;
 *     for (i = 0; i < x.dl->shape[0]; ++i) ((float*)ferrite_data(&y))[i] = ((float*)ferrite_data(&x))[i] + 1;
 *     return ferrite_return_none(result);
 *   }
 */
#ifndef FERRITE_KERNEL_H_
#define FERRITE_KERNEL_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define FERRITE_INLINE_ static inline
#elif defined(__GNUC__)
#define FERRITE_INLINE_ static __inline__
#else
#define FERRITE_INLINE_ static
#endif

/*
 * For errors and for what kernels call many times: one copy in each file keeps kernels small and
 * compilers fast. Without optimization, compilers drop unused functions only if they are inline,
 * and then files that use nothing need not link the library.
 */
#if defined(__GNUC__) && defined(__OPTIMIZE__)
#define FERRITE_OUTLINE_ static __attribute__((noinline, unused))
#else
#define FERRITE_OUTLINE_ FERRITE_INLINE_
#endif

#ifdef __cplusplus
#define FERRITE_EXTERN_C_ extern "C"
#else
#define FERRITE_EXTERN_C_
#endif

/* ---- arguments --------------------------------------------------------------------------- */

/* The arguments of a call. */
typedef struct FerriteArgs {
  /* Name and parameters of the kernel, which messages quote:
   * `dot(x: Tensor([n], float32), y: Tensor([n], float32))`. */
  const char* signature;
  const TVMFFIAny* values;
  int32_t count;
} FerriteArgs;

/* A tensor among the arguments. */
typedef struct FerriteTensorArg {
  const DLTensor* dl;
  /* The parameter's name, for messages. */
  const char* name;
  const FerriteArgs* args;
  int32_t index;
} FerriteTensorArg;

/* Raises an error of a kind, such as "ValueError", and returns -1. */
FERRITE_INLINE_ int ferrite_fail(const char* kind, const char* message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}

/* Writes a number in decimal digits into the end of a buffer, and returns its beginning. */
FERRITE_OUTLINE_ const char* ferrite_decimal_(int64_t value, char buffer[24]) {
  uint64_t rest = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
  char* at = buffer + 23;
  *at = '\0';
  do {
    *--at = (char)('0' + (int)(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) *--at = '-';
  return at;
}

/* Raises the error that an argument, or a part of it, differs from what the kernel expects; returns
 * -1. Parts may be null. */
FERRITE_OUTLINE_ int ferrite_refuse_(const char* kind, const FerriteArgs* args, int32_t index, const char* verb, const char* name,
                                    const char* field, const char* expected, const char* got) {
  char digits[24];
  const char* parts[11];
  parts[0] = verb;
  parts[1] = name;
  parts[2] = field;
  parts[3] = " on argument #";
  parts[4] = ferrite_decimal_(index, digits);
  parts[5] = " when calling:\n  `";
  parts[6] = args->signature;
  parts[7] = "`,\n  expected ";
  parts[8] = expected;
  parts[9] = got != NULL ? ", got " : NULL;
  parts[10] = got;
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 11);
  return -1;
}

FERRITE_OUTLINE_ void ferrite_raise_type_(const FerriteArgs* args, int32_t index, const char* expected) {
  const TVMFFITypeInfo* type = TVMFFIGetTypeInfo(args->values[index].type_index);
  char got[64];
  size_t size = 0;
  if (type != NULL) size = type->type_key.size < sizeof(got) ? type->type_key.size : sizeof(got) - 1;
  if (size != 0) memcpy(got, type->type_key.data, size);
  got[size] = '\0';
  ferrite_refuse_("TypeError", args, index, "Mismatched type", NULL, NULL, expected, size != 0 ? got : NULL);
}

/* Inline, so that compilers see that it returns -1, and warn of no argument that is read only after
 * success. */
FERRITE_INLINE_ int ferrite_refuse_type_(const FerriteArgs* args, int32_t index, const char* expected) {
  ferrite_raise_type_(args, index, expected);
  return -1;
}

FERRITE_OUTLINE_ int ferrite_refuse_count_(const FerriteArgs* args, int32_t expected) {
  char wanted[24], given[24];
  const char* parts[7];
  parts[0] = "Expected ";
  parts[1] = ferrite_decimal_(expected, wanted);
  parts[2] = " arguments when calling:\n  `";
  parts[3] = args->signature;
  parts[4] = "`, got ";
  parts[5] = ferrite_decimal_(args->count, given);
  if (args->count == expected) {
    parts[0] = "args pointer is NULL when calling:\n  `";
    parts[1] = parts[2] = parts[5] = NULL;
    parts[4] = "`";
  }
  TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 6);
  return -1;
}

/* Checks the number of arguments, and that they are there: TypeError. FERRITE_EXPORT calls it. */
FERRITE_INLINE_ int ferrite_check_count(const FerriteArgs* args, int32_t expected) {
  if (args->count == expected && (expected <= 0 || args->values != NULL)) return 0;
  return ferrite_refuse_count_(args, expected);
}

/* Returns 1 if an argument is None, the absent value of an optional parameter, and 0 otherwise. */
FERRITE_INLINE_ int ferrite_arg_is_none(const FerriteArgs* args, int32_t index) {
  return args->values[index].type_index == kTVMFFINone;
}

/* Reads an integer; booleans are 0 and 1. TypeError for others. */
FERRITE_INLINE_ int ferrite_arg_int(const FerriteArgs* args, int32_t index, int64_t* out) {
  const TVMFFIAny* value = &args->values[index];
  if (value->type_index != kTVMFFIInt && value->type_index != kTVMFFIBool) return ferrite_refuse_type_(args, index, "int");
  *out = value->v_int64;
  return 0;
}

/* Writes `LOW to HIGH` into a buffer of 64 bytes. */
FERRITE_OUTLINE_ const char* ferrite_span_(char buffer[64], int64_t low, int64_t high) {
  char digits[24];
  strcpy(buffer, ferrite_decimal_(low, digits));
  strcat(buffer, " to ");
  strcat(buffer, ferrite_decimal_(high, digits));
  return buffer;
}

/* Reads an integer from `low` to `high`: ValueError for others. `name`, the parameter's, is for
 * messages. */
FERRITE_OUTLINE_ int ferrite_arg_int_in(const FerriteArgs* args, int32_t index, const char* name, int64_t low, int64_t high,
                                       int64_t* out) {
  char expected[64], digits[24];
  if (ferrite_arg_int(args, index, out) != 0) return -1;
  if (*out >= low && *out <= high) return 0;
  return ferrite_refuse_("ValueError", args, index, "Invalid ", name, NULL, ferrite_span_(expected, low, high),
                         ferrite_decimal_(*out, digits));
}

/* Reads a number as double; integers and booleans are converted. TypeError for others. */
FERRITE_INLINE_ int ferrite_arg_float(const FerriteArgs* args, int32_t index, double* out) {
  const TVMFFIAny* value = &args->values[index];
  switch (value->type_index) {
    case kTVMFFIFloat: *out = value->v_float64; return 0;
    case kTVMFFIInt:
    case kTVMFFIBool: *out = (double)value->v_int64; return 0;
    default: return ferrite_refuse_type_(args, index, "float");
  }
}

/* Reads a boolean, as 0 or 1; integers are true unless they are 0. TypeError for others. */
FERRITE_INLINE_ int ferrite_arg_bool(const FerriteArgs* args, int32_t index, int* out) {
  const TVMFFIAny* value = &args->values[index];
  if (value->type_index != kTVMFFIBool && value->type_index != kTVMFFIInt) return ferrite_refuse_type_(args, index, "boolean");
  *out = value->v_int64 != 0;
  return 0;
}

/* Reads a string: its bytes, borrowed, without a terminating NUL. TypeError for others, bytes among
 * them. */
FERRITE_OUTLINE_ int ferrite_arg_str(const FerriteArgs* args, int32_t index, TVMFFIByteArray* out) {
  const TVMFFIAny* value = &args->values[index];
  switch (value->type_index) {
    case kTVMFFIRawStr:
      out->data = value->v_c_str;
      out->size = strlen(value->v_c_str);
      return 0;
    case kTVMFFISmallStr:
      out->data = value->v_bytes;
      out->size = value->small_str_len;
      return 0;
    case kTVMFFIStr: *out = *(const TVMFFIByteArray*)((const TVMFFIObject*)value->v_obj + 1); return 0;
    default: return ferrite_refuse_type_(args, index, "ffi.String");
  }
}

/* Reads an object of a built-in class, such as kTVMFFIFunction: a borrowed handle. TypeError, which
 * names the class, for others. */
FERRITE_INLINE_ int ferrite_arg_object(const FerriteArgs* args, int32_t index, int32_t type_index, const char* type_key,
                                       TVMFFIObjectHandle* out) {
  const TVMFFIAny* value = &args->values[index];
  if (value->type_index != type_index) return ferrite_refuse_type_(args, index, type_key);
  *out = value->v_obj;
  return 0;
}

/* Returns the tensor's description in a Tensor object. */
FERRITE_INLINE_ DLTensor* ferrite_tensor_in(TVMFFIObjectHandle tensor) { return (DLTensor*)((TVMFFIObject*)tensor + 1); }

/* Stores the description of a tensor and returns 1; 0 for other values. */
FERRITE_INLINE_ int ferrite_tensor_of_(const TVMFFIAny* value, FerriteTensorArg* out) {
  out->dl = NULL;
  if (value->type_index == kTVMFFITensor) {
    out->dl = ferrite_tensor_in(value->v_obj);
  } else if (value->type_index == kTVMFFIDLTensorPtr) {
    out->dl = (const DLTensor*)value->v_ptr;
  }
  return out->dl != NULL;
}

/* Reads a tensor: a Tensor object or a DLTensor. TypeError for others. `name`, the parameter's, is
 * kept for messages. */
FERRITE_INLINE_ int ferrite_arg_tensor(const FerriteArgs* args, int32_t index, const char* name, FerriteTensorArg* out) {
  if (!ferrite_tensor_of_(&args->values[index], out)) return ferrite_refuse_type_(args, index, "Tensor");
  out->name = name;
  out->args = args;
  out->index = index;
  return 0;
}

/* ---- checks of tensors ------------------------------------------------------------------- */

FERRITE_OUTLINE_ int ferrite_refuse_tensor_(const char* kind, const FerriteTensorArg* x, const char* verb, const char* field,
                                           const char* expected, const char* got) {
  return ferrite_refuse_(kind, x->args, x->index, verb, x->name, field, expected, got);
}

/* The same with numbers. */
FERRITE_OUTLINE_ int ferrite_refuse_number_(const FerriteTensorArg* x, const char* verb, const char* field, int64_t expected,
                                           int64_t got) {
  char wanted[24], given[24];
  return ferrite_refuse_tensor_("ValueError", x, verb, field, ferrite_decimal_(expected, wanted), ferrite_decimal_(got, given));
}

/* Appends `text` to a buffer of 64 bytes, in which there must be space. */
FERRITE_OUTLINE_ void ferrite_append_(char* buffer, const char* text) { strcpy(buffer + strlen(buffer), text); }

/* Writes `.shape[AXIS]` or `.strides[AXIS]`. */
FERRITE_OUTLINE_ const char* ferrite_axis_(char buffer[64], const char* field, int32_t axis) {
  char digits[24];
  strcpy(buffer, field);
  ferrite_append_(buffer, "[");
  ferrite_append_(buffer, ferrite_decimal_(axis, digits));
  ferrite_append_(buffer, "]");
  return buffer;
}

/* Checks the number of axes: ValueError. The checks of single axes need it before them. */
FERRITE_INLINE_ int ferrite_check_ndim(const FerriteTensorArg* x, int32_t ndim) {
  if (x->dl->ndim == ndim) return 0;
  return ferrite_refuse_number_(x, "Mismatched ", ".ndim", ndim, x->dl->ndim);
}

/* Writes the name of a type of elements, such as `float32`, or its parts if the library has no name
 * for it. */
FERRITE_OUTLINE_ const char* ferrite_dtype_name_(DLDataType dtype, char name[64]) {
  TVMFFIAny text;
  char digits[24];
  if (TVMFFIDataTypeToString(&dtype, &text) != 0) { /* the caller's error replaces this one */
    strcpy(name, "type code ");
    ferrite_append_(name, ferrite_decimal_(dtype.code, digits));
    ferrite_append_(name, " of ");
    ferrite_append_(name, ferrite_decimal_(dtype.bits, digits));
    ferrite_append_(name, " bits");
    return name;
  }
  name[0] = '\0';
  if (text.type_index != kTVMFFIStr) return strncat(name, text.v_bytes, 63); /* both forms of strings end with a NUL */
  strncat(name, ((const TVMFFIByteArray*)((const TVMFFIObject*)text.v_obj + 1))->data, 63);
  TVMFFIObjectDecRef(text.v_obj);
  return name;
}

FERRITE_OUTLINE_ int ferrite_refuse_dtype_(const FerriteTensorArg* x, int code, int bits, int lanes) {
  char wanted[64], given[64];
  DLDataType expected;
  expected.code = (uint8_t)code;
  expected.bits = (uint8_t)bits;
  expected.lanes = (uint16_t)lanes;
  return ferrite_refuse_tensor_("TypeError", x, "Mismatched ", ".dtype", ferrite_dtype_name_(expected, wanted),
                                ferrite_dtype_name_(x->dl->dtype, given));
}

/* Checks the type of the elements, such as kDLFloat, 32, 1: TypeError. */
FERRITE_INLINE_ int ferrite_check_dtype(const FerriteTensorArg* x, int code, int bits, int lanes) {
  const DLDataType* actual = &x->dl->dtype;
  if (actual->code == code && actual->bits == bits && actual->lanes == lanes) return 0;
  return ferrite_refuse_dtype_(x, code, bits, lanes);
}

/* Returns the name of a device type, such as "cuda", and "unknown" for numbers without one. */
FERRITE_OUTLINE_ const char* ferrite_device_name(int device_type) {
  switch (device_type) {
    case kDLCPU: return "cpu";
    case kDLCUDA: return "cuda";
    case kDLCUDAHost: return "cuda_host";
    case kDLOpenCL: return "opencl";
    case kDLVulkan: return "vulkan";
    case kDLMetal: return "metal";
    case kDLVPI: return "vpi";
    case kDLROCM: return "rocm";
    case kDLROCMHost: return "rocm_host";
    case kDLExtDev: return "ext_dev";
    case kDLCUDAManaged: return "cuda_managed";
    case kDLOneAPI: return "oneapi";
    case kDLWebGPU: return "webgpu";
    case kDLHexagon: return "hexagon";
    case kDLMAIA: return "maia";
    case kDLTrn: return "trn";
    default: return "unknown";
  }
}

/* Checks the kind of device, such as kDLCPU: ValueError. */
FERRITE_INLINE_ int ferrite_check_device(const FerriteTensorArg* x, int device_type) {
  if ((int)x->dl->device.device_type == device_type) return 0;
  return ferrite_refuse_tensor_("ValueError", x, "Mismatched ", ".device_type", ferrite_device_name(device_type),
                                ferrite_device_name((int)x->dl->device.device_type));
}

FERRITE_OUTLINE_ int ferrite_refuse_match_(const FerriteTensorArg* x, const char* x_field, int64_t got, const FerriteTensorArg* y,
                                          const char* y_field, int64_t expected) {
  char index[24], wanted[24], given[24];
  const char* parts[14];
  parts[0] = "Mismatched ";
  parts[1] = x->name;
  parts[2] = x_field;
  parts[3] = " on argument #";
  parts[4] = ferrite_decimal_(x->index, index);
  parts[5] = " when calling:\n  `";
  parts[6] = x->args->signature;
  parts[7] = "`,\n  expected to match ";
  parts[8] = y->name;
  parts[9] = y_field;
  parts[10] = " = ";
  parts[11] = ferrite_decimal_(expected, wanted);
  parts[12] = ", got ";
  parts[13] = ferrite_decimal_(got, given);
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 14);
  return -1;
}

/* Checks that `x` is on the device that `y` is on: ValueError. Checks numbers only; check the kind
 * of device of both before. */
FERRITE_INLINE_ int ferrite_check_same_device(const FerriteTensorArg* x, const FerriteTensorArg* y) {
  if (x->dl->device.device_id == y->dl->device.device_id) return 0;
  return ferrite_refuse_match_(x, ".device_id", x->dl->device.device_id, y, ".device_id", y->dl->device.device_id);
}

/* Checks the extent of an axis, in elements: ValueError. */
FERRITE_INLINE_ int ferrite_check_shape(const FerriteTensorArg* x, int32_t axis, int64_t extent) {
  char field[64];
  if (x->dl->shape[axis] == extent) return 0;
  return ferrite_refuse_number_(x, "Invalid ", ferrite_axis_(field, ".shape", axis), extent, x->dl->shape[axis]);
}

FERRITE_OUTLINE_ int ferrite_refuse_shape_(const FerriteTensorArg* x, int32_t axis, const char* rule, int64_t number) {
  char field[64], expected[64], digits[24];
  strcpy(expected, rule);
  ferrite_append_(expected, ferrite_decimal_(number, digits));
  return ferrite_refuse_tensor_("ValueError", x, "Invalid ", ferrite_axis_(field, ".shape", axis), expected,
                                ferrite_decimal_(x->dl->shape[axis], digits));
}

/* Checks that the extent of an axis is a multiple of a positive number: ValueError. */
FERRITE_INLINE_ int ferrite_check_divisible(const FerriteTensorArg* x, int32_t axis, int64_t by) {
  return x->dl->shape[axis] % by == 0 ? 0 : ferrite_refuse_shape_(x, axis, "to be divisible by ", by);
}

/* Checks that the extent of an axis is a number or more: ValueError. */
FERRITE_INLINE_ int ferrite_check_at_least(const FerriteTensorArg* x, int32_t axis, int64_t least) {
  return x->dl->shape[axis] >= least ? 0 : ferrite_refuse_shape_(x, axis, "at least ", least);
}

/* Checks that the extent of an axis is a number or less: ValueError. */
FERRITE_INLINE_ int ferrite_check_at_most(const FerriteTensorArg* x, int32_t axis, int64_t most) {
  return x->dl->shape[axis] <= most ? 0 : ferrite_refuse_shape_(x, axis, "at most ", most);
}

/* Checks that an axis of `x` is as long as one of `y`: ValueError. */
FERRITE_INLINE_ int ferrite_check_same_extent(const FerriteTensorArg* x, int32_t x_axis, const FerriteTensorArg* y, int32_t y_axis) {
  char x_field[64], y_field[64];
  if (x->dl->shape[x_axis] == y->dl->shape[y_axis]) return 0;
  return ferrite_refuse_match_(x, ferrite_axis_(x_field, ".shape", x_axis), x->dl->shape[x_axis], y,
                               ferrite_axis_(y_field, ".shape", y_axis), y->dl->shape[y_axis]);
}

/* Returns the stride of an axis, in elements: the tensor's own, or that of a compact tensor if it
 * has none. */
FERRITE_INLINE_ int64_t ferrite_stride(const FerriteTensorArg* x, int32_t axis) {
  int64_t stride = 1;
  int32_t inner;
  if (x->dl->strides != NULL) return x->dl->strides[axis];
  for (inner = x->dl->ndim - 1; inner > axis; --inner) stride *= x->dl->shape[inner];
  return stride;
}

/* Checks the stride of an axis, in elements: ValueError. */
FERRITE_INLINE_ int ferrite_check_stride(const FerriteTensorArg* x, int32_t axis, int64_t stride) {
  char field[64];
  if (ferrite_stride(x, axis) == stride) return 0;
  return ferrite_refuse_number_(x, "Invalid ", ferrite_axis_(field, ".strides", axis), stride, ferrite_stride(x, axis));
}

/* Returns the number of elements. */
FERRITE_INLINE_ int64_t ferrite_numel(const FerriteTensorArg* x) {
  int64_t count = 1;
  int32_t axis;
  for (axis = 0; axis < x->dl->ndim; ++axis) count *= x->dl->shape[axis];
  return count;
}

FERRITE_OUTLINE_ int ferrite_refuse_stride_(const FerriteTensorArg* x, int32_t axis) {
  char given[64], digits[24];
  if (ferrite_numel(x) == 0) return 0; /* without elements, strides say nothing */
  ferrite_axis_(given, "stride", axis);
  ferrite_append_(given, " = ");
  ferrite_append_(given, ferrite_decimal_(x->dl->strides[axis], digits));
  return ferrite_refuse_tensor_("ValueError", x, "Mismatched ", ".strides", "to be compact array", given);
}

/* Checks that the elements, if there are any, follow each other in the order of the axes, the last
 * one fastest: ValueError. */
FERRITE_INLINE_ int ferrite_check_compact(const FerriteTensorArg* x) {
  int64_t stride = 1;
  int32_t axis;
  if (x->dl->strides == NULL) return 0;
  for (axis = x->dl->ndim - 1; axis >= 0; --axis) {
    if (x->dl->shape[axis] != 1 && x->dl->strides[axis] != stride) return ferrite_refuse_stride_(x, axis);
    stride *= x->dl->shape[axis];
  }
  return 0;
}

/* Checks that a tensor with elements has memory: ValueError. */
FERRITE_INLINE_ int ferrite_check_data(const FerriteTensorArg* x) {
  if (x->dl->data != NULL || ferrite_numel(x) == 0) return 0;
  return ferrite_refuse_("ValueError", x->args, x->index, x->name, " data pointer is NULL", NULL, "non-NULL data pointer",
                         NULL);
}

/* Returns the address of the first element, which is on the tensor's device. */
FERRITE_INLINE_ void* ferrite_data(const FerriteTensorArg* x) { return (char*)x->dl->data + (size_t)x->dl->byte_offset; }

FERRITE_OUTLINE_ int ferrite_refuse_alignment_(const FerriteTensorArg* x, int bytes) {
  char expected[64], given[64], digits[24];
  strcpy(expected, "data alignment=");
  ferrite_append_(expected, ferrite_decimal_(bytes, digits));
  ferrite_append_(expected, " bytes");
  strcpy(given, "an address with remainder ");
  ferrite_append_(given, ferrite_decimal_((int64_t)((uintptr_t)ferrite_data(x) % (uintptr_t)bytes), digits));
  return ferrite_refuse_("ValueError", x->args, x->index, "Misaligned Tensor data", NULL, NULL, expected, given);
}

/* Checks that the address of the first element is a multiple of a number of bytes, a power of two:
 * ValueError. */
FERRITE_INLINE_ int ferrite_check_alignment(const FerriteTensorArg* x, int bytes) {
  return ((uintptr_t)ferrite_data(x) & (uintptr_t)(bytes - 1)) == 0 ? 0 : ferrite_refuse_alignment_(x, bytes);
}

/* Addresses of the elements of a tensor: from `begin` to before `end`. */
typedef struct FerriteRange_ {
  uintptr_t begin, end;
} FerriteRange_;

FERRITE_INLINE_ FerriteRange_ ferrite_range_(const FerriteTensorArg* x) {
  const uint64_t bits = (uint64_t)x->dl->dtype.bits * x->dl->dtype.lanes;
  const int64_t *const shape = x->dl->shape, *const strides = x->dl->strides;
  int64_t lowest = 0, highest = 0, compact = 1;
  FerriteRange_ range;
  int32_t axis;
  range.begin = range.end = (uintptr_t)ferrite_data(x);
  for (axis = x->dl->ndim - 1; axis >= 0; --axis) {
    const int64_t reach = (shape[axis] - 1) * (strides != NULL ? strides[axis] : compact);
    if (shape[axis] == 0) return range;
    lowest += reach < 0 ? reach : 0;
    highest += reach > 0 ? reach : 0;
    compact *= shape[axis];
  }
  range.begin -= (uintptr_t)((uint64_t)-lowest * bits / 8);
  range.end += (uintptr_t)(((uint64_t)(highest + 1) * bits + 7) / 8);
  return range;
}

/* On these devices `data` is the handle of a buffer, and says nothing of where another one is. */
FERRITE_INLINE_ int ferrite_has_addresses_(DLDevice device) {
  const int type = device.device_type;
  return type != kDLOpenCL && type != kDLVulkan && type != kDLMetal && type != kDLWebGPU;
}

/* Returns 1 if tensors with these ranges have bytes in common. */
FERRITE_INLINE_ int ferrite_meet_(const FerriteTensorArg* x, const FerriteRange_* of_x, const FerriteTensorArg* y,
                                  const FerriteRange_* of_y) {
  const DLDevice a = x->dl->device, b = y->dl->device;
  if (of_x->begin >= of_y->end || of_y->begin >= of_x->end) return 0;
  if (a.device_type != b.device_type || a.device_id != b.device_id) return 0;
  return ferrite_has_addresses_(a) || x->dl->data == y->dl->data;
}

/* Returns 1 if two tensors have bytes in common on one device; tensors whose elements only
 * alternate count as if they had. */
FERRITE_INLINE_ int ferrite_overlaps(const FerriteTensorArg* x, const FerriteTensorArg* y) {
  const FerriteRange_ of_x = ferrite_range_(x), of_y = ferrite_range_(y);
  return ferrite_meet_(x, &of_x, y, &of_y);
}

/* Checks that a tensor overlaps no other tensor of the call: ValueError. `except`, or null, may
 * have exactly the same memory. */
FERRITE_OUTLINE_ int ferrite_check_apart(const FerriteTensorArg* x, const FerriteTensorArg* except) {
  const FerriteRange_ of_x = ferrite_range_(x);
  FerriteTensorArg other;
  char expected[64], digits[24];
  for (other.index = 0; other.index < x->args->count; ++other.index) {
    const TVMFFIAny* value = &x->args->values[other.index];
    FerriteRange_ of_other;
    if (other.index == x->index || !ferrite_tensor_of_(value, &other)) continue;
    of_other = ferrite_range_(&other);
    if (!ferrite_meet_(x, &of_x, &other, &of_other)) continue;
    if (except != NULL && except->index == other.index && of_x.begin == of_other.begin && of_x.end == of_other.end) continue;
    strcpy(expected, "memory apart from argument #");
    ferrite_append_(expected, ferrite_decimal_(other.index, digits));
    return ferrite_refuse_tensor_("ValueError", x, "Overlapping ", NULL, expected, "common bytes");
  }
  return 0;
}

#if defined(__GNUC__)
#define FERRITE_LOAD_(number) __atomic_load_n(number, __ATOMIC_RELAXED)
#define FERRITE_STORE_(number, value) __atomic_store_n(number, value, __ATOMIC_RELAXED)
#else
#define FERRITE_LOAD_(number) (*(number))
#define FERRITE_STORE_(number, value) (void)(*(number) = (value))
#endif

/* Stores whether the library keeps the read-only flag of imports, as Ferrite's does, upstream's
 * does not: 1 or 0. */
FERRITE_OUTLINE_ int ferrite_find_flags_(volatile int* keeps) {
  TVMFFIByteArray name;
  TVMFFIObjectHandle found = NULL;
  name.data = "ffi.ferrite.ServeRelease";
  name.size = 24;
  if (TVMFFIFunctionGetGlobal(&name, &found) != 0) return -1;
  FERRITE_STORE_(keeps, found != NULL);
  return found == NULL ? 0 : TVMFFIObjectDecRef(found);
}

FERRITE_OUTLINE_ int ferrite_check_flags_(const FerriteTensorArg* x) {
  DLManagedTensorVersioned* exported;
  uint64_t flags;
  if (TVMFFITensorToDLPackVersioned(x->args->values[x->index].v_obj, &exported) != 0) return -1;
  flags = exported->flags;
  exported->deleter(exported);
  if ((flags & DLPACK_FLAG_BITMASK_READ_ONLY) == 0) return 0;
  return ferrite_refuse_tensor_("ValueError", x, "Read-only ", NULL, "a writable tensor", "one with the read-only flag");
}

/*
 * Checks that a tensor is not read-only: ValueError. A Tensor object of DLPack may be, where the
 * library keeps that flag, which upstream's does not. It is exported to read the flag, which may
 * allocate.
 */
FERRITE_OUTLINE_ int ferrite_check_writable(const FerriteTensorArg* x) {
  static volatile int keeps = -1; /* asked once */
  if (x->args->values[x->index].type_index != kTVMFFITensor) return 0;
  if (FERRITE_LOAD_(&keeps) < 0 && ferrite_find_flags_(&keeps) != 0) return -1;
  return FERRITE_LOAD_(&keeps) != 0 ? ferrite_check_flags_(x) : 0;
}

/* Checks that a kernel may write into a tensor: not read-only, and apart from all others. `except`
 * as in ferrite_check_apart. */
FERRITE_OUTLINE_ int ferrite_check_output(const FerriteTensorArg* x, const FerriteTensorArg* except) {
  return ferrite_check_apart(x, except) || ferrite_check_writable(x) ? -1 : 0;
}

/* ---- tensors with their checks, in one call ---------------------------------------------- */

/*
 * The extent of an axis that tensors have in common. The first tensor that is read with it sets it;
 * others are checked, and messages say which tensor they differ from:
 * `expected to match x.shape[1] = 8, got 7`.
 */
typedef struct FerriteExtent {
  int64_t value; /* negative until it is set */
  const FerriteTensorArg* tensor;
  int32_t axis;
} FerriteExtent;

/* An extent that the first tensor sets: `FerriteExtent rows = FERRITE_ANY_EXTENT`. */
#define FERRITE_ANY_EXTENT {-1, NULL, 0}

/* Returns an extent with a value of its own. */
FERRITE_INLINE_ FerriteExtent ferrite_extent(int64_t value) {
  FerriteExtent extent;
  extent.value = value;
  extent.tensor = NULL;
  extent.axis = 0;
  return extent;
}

FERRITE_INLINE_ int ferrite_bind_(FerriteExtent* extent, const FerriteTensorArg* x, int32_t axis) {
  if (extent->value >= 0 && extent->tensor == NULL) return ferrite_check_shape(x, axis, extent->value);
  if (extent->value >= 0) return ferrite_check_same_extent(x, axis, extent->tensor, extent->axis);
  if (ferrite_check_at_least(x, axis, 0) != 0) return -1;
  extent->value = x->dl->shape[axis];
  extent->tensor = x;
  extent->axis = axis;
  return 0;
}

/* A type of elements as a number. */
#define FERRITE_DTYPE(code, bits) ((code) * 256 + (bits))
#define FERRITE_F32 FERRITE_DTYPE(kDLFloat, 32)
#define FERRITE_F16 FERRITE_DTYPE(kDLFloat, 16)
#define FERRITE_BF16 FERRITE_DTYPE(kDLBfloat, 16)
#define FERRITE_I64 FERRITE_DTYPE(kDLInt, 64)
#define FERRITE_I32 FERRITE_DTYPE(kDLInt, 32)
#define FERRITE_I8 FERRITE_DTYPE(kDLInt, 8)
#define FERRITE_U8 FERRITE_DTYPE(kDLUInt, 8)
/* Any type of elements: the kernel checks it. */
#define FERRITE_ANY_DTYPE (-1)

/* Returns the type of the elements of a tensor as a number, for others that must have the same;
 * lanes are ignored. */
FERRITE_INLINE_ int ferrite_dtype_of(const FerriteTensorArg* x) { return FERRITE_DTYPE(x->dl->dtype.code, x->dl->dtype.bits); }

/* Checks that each element is a number of whole bytes, not a vector: TypeError. */
FERRITE_OUTLINE_ int ferrite_check_whole_bytes(const FerriteTensorArg* x) {
  char given[64];
  if (x->dl->dtype.bits % 8 == 0 && x->dl->dtype.bits != 0 && x->dl->dtype.lanes == 1) return 0;
  return ferrite_refuse_tensor_("TypeError", x, "Mismatched ", ".dtype", "numbers of whole bytes",
                                ferrite_dtype_name_(x->dl->dtype, given));
}

FERRITE_INLINE_ int ferrite_check_kind_(const FerriteTensorArg* x, int dtype, int32_t ndim) {
  if (ferrite_check_ndim(x, ndim) != 0) return -1;
  if (dtype != FERRITE_ANY_DTYPE && ferrite_check_dtype(x, dtype / 256, dtype % 256, 1) != 0) return -1;
  return ferrite_check_device(x, kDLCPU);
}

FERRITE_INLINE_ int ferrite_check_memory_(const FerriteTensorArg* x) {
  if (ferrite_check_compact(x) != 0 || ferrite_check_data(x) != 0) return -1;
  switch (x->dl->dtype.bits) {
    case 16: return ferrite_check_alignment(x, 2);
    case 32: return ferrite_check_alignment(x, 4);
    case 64: return ferrite_check_alignment(x, 8);
    default: return 0;
  }
}

FERRITE_OUTLINE_ int ferrite_take_(const FerriteArgs* args, int32_t index, const char* name, int dtype, int32_t ndim,
                                  FerriteExtent* const* shape, FerriteTensorArg* out) {
  int32_t axis;
  if (ferrite_arg_tensor(args, index, name, out) != 0 || ferrite_check_kind_(out, dtype, ndim) != 0) return -1;
  for (axis = 0; axis < ndim; ++axis) {
    if (ferrite_bind_(shape[axis], out, axis) != 0) return -1;
  }
  return ferrite_check_memory_(out);
}

/*
 * Each reads a tensor with a number of axes and makes the checks that most kernels need: a type of
 * elements such as FERRITE_F32, extents, main memory, compact, data that are there and aligned to
 * the elements. Errors: those of ferrite_arg_tensor and the checks.
 */
FERRITE_INLINE_ int ferrite_take_1(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                   FerriteTensorArg* out) {
  return ferrite_take_(args, index, name, dtype, 1, &a, out);
}

FERRITE_INLINE_ int ferrite_take_2(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                   FerriteExtent* b, FerriteTensorArg* out) {
  FerriteExtent* shape[2];
  shape[0] = a;
  shape[1] = b;
  return ferrite_take_(args, index, name, dtype, 2, shape, out);
}

FERRITE_INLINE_ int ferrite_take_3(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                   FerriteExtent* b, FerriteExtent* c, FerriteTensorArg* out) {
  FerriteExtent* shape[3];
  shape[0] = a;
  shape[1] = b;
  shape[2] = c;
  return ferrite_take_(args, index, name, dtype, 3, shape, out);
}

FERRITE_INLINE_ int ferrite_take_4(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                   FerriteExtent* b, FerriteExtent* c, FerriteExtent* d, FerriteTensorArg* out) {
  FerriteExtent* shape[4];
  shape[0] = a;
  shape[1] = b;
  shape[2] = c;
  shape[3] = d;
  return ferrite_take_(args, index, name, dtype, 4, shape, out);
}

/* The same with any number of axes. */
FERRITE_OUTLINE_ int ferrite_take_any(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteTensorArg* out) {
  if (ferrite_arg_tensor(args, index, name, out) != 0 || ferrite_check_kind_(out, dtype, out->dl->ndim) != 0) return -1;
  return ferrite_check_memory_(out);
}

/* Checks that element `at` of a compact tensor of int32 or int64 in main memory is from `low` to
 * `high`: IndexError. */
FERRITE_INLINE_ int ferrite_check_element(const FerriteTensorArg* x, int64_t at, int64_t low, int64_t high) {
  const void* data = ferrite_data(x);
  const int64_t value = x->dl->dtype.bits == 32 ? ((const int32_t*)data)[at] : ((const int64_t*)data)[at];
  char field[64], expected[64], digits[24];
  if (value >= low && value <= high) return 0;
  strcpy(field, "[");
  ferrite_append_(field, ferrite_decimal_(at, digits));
  ferrite_append_(field, "]");
  return ferrite_refuse_("IndexError", x->args, x->index, "Invalid ", x->name, field, ferrite_span_(expected, low, high),
                         ferrite_decimal_(value, digits));
}

/* Checks all elements so. */
FERRITE_OUTLINE_ int ferrite_check_elements(const FerriteTensorArg* x, int64_t low, int64_t high) {
  const int64_t count = ferrite_numel(x);
  int64_t at;
  for (at = 0; at < count; ++at) {
    if (ferrite_check_element(x, at, low, high) != 0) return -1;
  }
  return 0;
}

/* ---- allocation -------------------------------------------------------------------------- */

/* Memory of a tensor that ferrite_alloc makes itself: this, the shape, the strides, and the aligned
 * elements. */
typedef struct FerriteBlock_ {
  DLManagedTensorVersioned tensor;
  int64_t shape[1]; /* and more */
} FerriteBlock_;

FERRITE_INLINE_ void ferrite_free_(DLManagedTensorVersioned* tensor) { free(tensor); }

/* Stores the size of the elements in bytes, or returns -1 if it is negative or too large. */
FERRITE_INLINE_ int ferrite_size_(DLDataType dtype, int32_t ndim, const int64_t* shape, size_t* size) {
  const size_t limit = (size_t)-1 / 64;
  const size_t bits = (size_t)dtype.bits * dtype.lanes;
  size_t count = 1;
  int32_t axis;
  for (axis = 0; axis < ndim; ++axis) {
    if (shape[axis] < 0 || (shape[axis] != 0 && count > limit / (uint64_t)shape[axis])) return -1;
    count *= (size_t)shape[axis];
  }
  if (bits != 0 && count > limit / bits) return -1;
  *size = (count * bits + 7) / 8;
  return 0;
}

/* Describes the tensor in a block behind which its shape, strides and elements are. */
FERRITE_INLINE_ void ferrite_describe_(FerriteBlock_* block, const DLTensor* prototype) {
  DLTensor* dl = &block->tensor.dl_tensor;
  int64_t stride = 1;
  int32_t axis;
  memset(&block->tensor, 0, sizeof(block->tensor));
  block->tensor.version.major = DLPACK_MAJOR_VERSION;
  block->tensor.version.minor = DLPACK_MINOR_VERSION;
  block->tensor.deleter = ferrite_free_;
  *dl = *prototype;
  dl->shape = block->shape;
  dl->strides = dl->shape + dl->ndim;
  dl->data = (char*)(dl->strides + dl->ndim) + 63;
  dl->data = (char*)dl->data - (uintptr_t)dl->data % 64;
  for (axis = dl->ndim - 1; axis >= 0; --axis) {
    dl->shape[axis] = prototype->shape[axis];
    dl->strides[axis] = stride;
    stride *= prototype->shape[axis];
  }
}

/* Allocates a tensor in main memory, for processes without an allocator of the environment. */
FERRITE_OUTLINE_ int ferrite_alloc_host_(const DLTensor* prototype, TVMFFIObjectHandle* out) {
  FerriteBlock_* block;
  size_t size;
  if (prototype->ndim < 0 || ferrite_size_(prototype->dtype, prototype->ndim, prototype->shape, &size) != 0) {
    return ferrite_fail("ValueError", "the shape of a new tensor is negative or too large");
  }
  block = (FerriteBlock_*)malloc(sizeof(*block) + 2 * sizeof(int64_t) * (size_t)prototype->ndim + 64 + size);
  if (block == NULL) return ferrite_fail("MemoryError", "out of memory for a new tensor");
  ferrite_describe_(block, prototype);
  if (TVMFFITensorFromDLPackVersioned(&block->tensor, 0, 0, out) == 0) return 0;
  free(block);
  return -1;
}

/*
 * Allocates a compact tensor by the environment's allocator (TVMFFIEnvTensorAlloc), such as that of
 * PyTorch when its tensors are arguments of the call. Without one, uses malloc for tensors in main
 * memory, and the library's back ends for others. The elements have no values yet; the first one is
 * aligned to 64 bytes if malloc made it. `*out` is a new reference to a Tensor object, which you
 * return by ferrite_return_object or release by TVMFFIObjectDecRef.
 *
 * Errors: MemoryError, ValueError for a negative or too large shape, RuntimeError if the device has
 * no allocator, or those of the allocator.
 */
FERRITE_OUTLINE_ int ferrite_alloc(DLDevice device, DLDataType dtype, int32_t ndim, const int64_t* shape, TVMFFIObjectHandle* out) {
  DLTensor prototype;
  memset(&prototype, 0, sizeof(prototype));
  prototype.device = device;
  prototype.dtype = dtype;
  prototype.ndim = ndim;
  prototype.shape = (int64_t*)shape;
  if (device.device_type == kDLCPU && !TVMFFIEnvGetDLPackManagedTensorAllocator()) return ferrite_alloc_host_(&prototype, out);
  return TVMFFIEnvTensorAlloc(&prototype, out);
}

/* Allocates a tensor with the device, data type and shape of another. Otherwise as
 * ferrite_alloc. */
FERRITE_INLINE_ int ferrite_alloc_like(const FerriteTensorArg* x, TVMFFIObjectHandle* out) {
  return ferrite_alloc(x->dl->device, x->dl->dtype, x->dl->ndim, x->dl->shape, out);
}

/* ---- outputs ----------------------------------------------------------------------------- */

/* An output that the caller gives, or leaves to the kernel by None. */
typedef struct FerriteOut {
  FerriteTensorArg tensor;
  /* A new reference if the kernel allocated it, and null otherwise. */
  TVMFFIObjectHandle made;
} FerriteOut;

/* Allocates an output in main memory. */
FERRITE_OUTLINE_ int ferrite_make_out_(int dtype, int32_t ndim, const int64_t* shape, FerriteOut* out) {
  DLDevice device;
  DLDataType type;
  device.device_type = kDLCPU;
  device.device_id = 0;
  type.code = (uint8_t)(dtype / 256);
  type.bits = (uint8_t)(dtype % 256);
  type.lanes = 1;
  if (ferrite_alloc(device, type, ndim, shape, &out->made) != 0) return -1;
  out->tensor.dl = ferrite_tensor_in(out->made);
  return 0;
}

FERRITE_OUTLINE_ int ferrite_out_(const FerriteArgs* args, int32_t index, const char* name, int dtype, int32_t ndim,
                                 FerriteExtent* const* shape, FerriteOut* out) {
  int64_t extents[4];
  int32_t axis;
  out->made = NULL;
  if (!ferrite_arg_is_none(args, index)) {
    if (ferrite_take_(args, index, name, dtype, ndim, shape, &out->tensor) != 0) return -1;
    return ferrite_check_output(&out->tensor, NULL);
  }
  for (axis = 0; axis < ndim; ++axis) extents[axis] = shape[axis]->value;
  return ferrite_make_out_(dtype, ndim, extents, out);
}

/*
 * Each reads an output in main memory: the tensor of the caller, with the checks of ferrite_take_N
 * and ferrite_check_output, or, for None, a new one by ferrite_alloc. The extents must be set. Call
 * it after all other checks, and end the kernel by ferrite_return_out, or by ferrite_drop_out if it
 * fails.
 */
FERRITE_INLINE_ int ferrite_out_1(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                  FerriteOut* out) {
  return ferrite_out_(args, index, name, dtype, 1, &a, out);
}

FERRITE_INLINE_ int ferrite_out_2(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                  FerriteExtent* b, FerriteOut* out) {
  FerriteExtent* shape[2];
  shape[0] = a;
  shape[1] = b;
  return ferrite_out_(args, index, name, dtype, 2, shape, out);
}

FERRITE_INLINE_ int ferrite_out_3(const FerriteArgs* args, int32_t index, const char* name, int dtype, FerriteExtent* a,
                                  FerriteExtent* b, FerriteExtent* c, FerriteOut* out) {
  FerriteExtent* shape[3];
  shape[0] = a;
  shape[1] = b;
  shape[2] = c;
  return ferrite_out_(args, index, name, dtype, 3, shape, out);
}

/* The same for an output with the type and shape of `x`. It may be the very memory of `x`. */
FERRITE_OUTLINE_ int ferrite_out_like(const FerriteArgs* args, int32_t index, const char* name, const FerriteTensorArg* x,
                                     FerriteOut* out) {
  int32_t axis;
  out->made = NULL;
  if (ferrite_arg_is_none(args, index)) {
    if (ferrite_alloc_like(x, &out->made) != 0) return -1;
    out->tensor.dl = ferrite_tensor_in(out->made);
    return 0;
  }
  if (ferrite_arg_tensor(args, index, name, &out->tensor) != 0) return -1;
  if (ferrite_check_kind_(&out->tensor, ferrite_dtype_of(x), x->dl->ndim) != 0) return -1;
  for (axis = 0; axis < x->dl->ndim; ++axis) {
    if (ferrite_check_same_extent(&out->tensor, axis, x, axis) != 0) return -1;
  }
  return ferrite_check_memory_(&out->tensor) || ferrite_check_output(&out->tensor, x) ? -1 : 0;
}

/* Releases an output that the kernel allocated. */
FERRITE_INLINE_ void ferrite_drop_out(FerriteOut* out) {
  if (out->made != NULL) TVMFFIObjectDecRef(out->made);
  out->made = NULL;
}

/* ---- results ----------------------------------------------------------------------------- */

/* Each stores the result of the kernel, and returns 0 so that
 * `return ferrite_return_int(result, 1);` ends it. */

FERRITE_INLINE_ int ferrite_return_none(TVMFFIAny* result) {
  result->type_index = kTVMFFINone;
  result->zero_padding = 0;
  result->v_int64 = 0;
  return 0;
}

FERRITE_INLINE_ int ferrite_return_int(TVMFFIAny* result, int64_t value) {
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = value;
  return 0;
}

FERRITE_INLINE_ int ferrite_return_bool(TVMFFIAny* result, int value) {
  result->type_index = kTVMFFIBool;
  result->zero_padding = 0;
  result->v_int64 = value != 0;
  return 0;
}

FERRITE_INLINE_ int ferrite_return_float(TVMFFIAny* result, double value) {
  result->type_index = kTVMFFIFloat;
  result->zero_padding = 0;
  result->v_float64 = value;
  return 0;
}

/* Copies a C string. Allocates if it is longer than 7 bytes: MemoryError, and -1. */
FERRITE_INLINE_ int ferrite_return_str(TVMFFIAny* result, const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return TVMFFIStringFromByteArray(&bytes, result);
}

/* Returns what FERRITE_EXPORT says of a function. C89 has literals of up to 509 characters, so the
 * parts are joined here. */
FERRITE_INLINE_ int ferrite_return_metadata_(TVMFFIAny* result, const char* schema, const char* signature) {
  static const char begin[] = "{\"type_schema\":\"", middle[] = "\",\"signature\":\"", end[] = "\"}";
  char* text = (char*)malloc(sizeof(begin) + sizeof(middle) + sizeof(end) + strlen(schema) + strlen(signature));
  int status;
  if (text == NULL) return ferrite_fail("MemoryError", "out of memory for the metadata of a function");
  strcat(strcat(strcat(strcat(strcpy(text, begin), schema), middle), signature), end);
  status = ferrite_return_str(result, text);
  free(text);
  return status;
}

/* Gives the caller your reference to an object of a type, such as kTVMFFITensor. */
FERRITE_INLINE_ int ferrite_return_object(TVMFFIAny* result, int32_t type_index, TVMFFIObjectHandle object) {
  result->type_index = type_index;
  result->zero_padding = 0;
  result->v_obj = (TVMFFIObject*)object;
  return 0;
}

/* Returns an output that the kernel allocated; None if the caller gave it. */
FERRITE_INLINE_ int ferrite_return_out(TVMFFIAny* result, FerriteOut* out) {
  if (out->made == NULL) return ferrite_return_none(result);
  return ferrite_return_object(result, kTVMFFITensor, out->made);
}

/* ---- export ------------------------------------------------------------------------------ */

/* Types of parameters and results, for the metadata that tools read. */
#define FERRITE_TYPE_(name) "{\\\"type\\\":\\\"" name "\\\"}"
#define FERRITE_NONE FERRITE_TYPE_("None")
#define FERRITE_ANY FERRITE_TYPE_("Any")
#define FERRITE_INT FERRITE_TYPE_("int")
#define FERRITE_FLOAT FERRITE_TYPE_("float")
#define FERRITE_BOOL FERRITE_TYPE_("bool")
#define FERRITE_STR FERRITE_TYPE_("ffi.String")
#define FERRITE_TENSOR FERRITE_TYPE_("DLTensor*")
#define FERRITE_OBJECT_OF(type_key) FERRITE_TYPE_(type_key)
/* An output that callers may leave to the kernel, and the result of a kernel that returns it
 * then. */
#define FERRITE_OUT FERRITE_OPTIONAL(FERRITE_TENSOR)
#define FERRITE_RETURNS_OUT FERRITE_OPTIONAL(FERRITE_OBJECT_OF("ffi.Tensor"))
#define FERRITE_OPTIONAL(type) "{\\\"type\\\":\\\"Optional\\\",\\\"args\\\":[" type "]}"

/* The number of parameters and their types. */
#define FERRITE_PARAMS_0 0, ""
#define FERRITE_PARAMS_1(a) 1, a
#define FERRITE_PARAMS_2(a, b) 2, a "," b
#define FERRITE_PARAMS_3(a, b, c) 3, a "," b "," c
#define FERRITE_PARAMS_4(a, b, c, d) 4, a "," b "," c "," d
#define FERRITE_PARAMS_5(a, b, c, d, e) 5, a "," b "," c "," d "," e
#define FERRITE_PARAMS_6(a, b, c, d, e, f) 6, a "," b "," c "," d "," e "," f
#define FERRITE_PARAMS_7(a, b, c, d, e, f, g) 7, a "," b "," c "," d "," e "," f "," g
#define FERRITE_PARAMS_8(a, b, c, d, e, f, g, h) 8, a "," b "," c "," d "," e "," f "," g "," h
#define FERRITE_PARAMS_9(a, b, c, d, e, f, g, h, i) 9, a "," b "," c "," d "," e "," f "," g "," h "," i
#define FERRITE_PARAMS_10(a, b, c, d, e, f, g, h, i, j) 10, a "," b "," c "," d "," e "," f "," g "," h "," i "," j

/*
 * Exports a kernel by its name, an identifier: put the body behind it. It has the parameters `args`
 * and `result`, and is called when the number of arguments is right.
 *
 * `params` is FERRITE_PARAMS_N with the types of the parameters, `returns` the type of the result,
 * `names` the text between the parentheses of the signature in messages and in the metadata, and
 * `doc` the documentation. Makes the symbols `__tvm_ffi_NAME`, `__tvm_ffi__doc_NAME` and
 * `__tvm_ffi__metadata_NAME`; a call allocates nothing besides what the body does.
 */
#define FERRITE_EXPORT(name, params, returns, names, doc) FERRITE_EXPORT_(name, params, returns, names, doc)

#define FERRITE_EXPORT_(name, arity, types, returns, names, doc)                                                                 \
  static int ferrite_kernel_##name##_(const FerriteArgs* args, TVMFFIAny* result);                                               \
  FERRITE_SYMBOL_(__tvm_ffi_##name) {                                                                                            \
    FerriteArgs all;                                                                                                             \
    (void)self;                                                                                                                  \
    all.signature = #name "(" names ")";                                                                                         \
    all.values = args;                                                                                                           \
    all.count = num_args;                                                                                                        \
    if (ferrite_check_count(&all, arity) != 0) return -1;                                                                        \
    return ferrite_kernel_##name##_(&all, result);                                                                               \
  }                                                                                                                              \
  FERRITE_TEXT_SYMBOL_(__tvm_ffi__doc_##name, ferrite_return_str(result, doc))                                                   \
  FERRITE_TEXT_SYMBOL_(__tvm_ffi__metadata_##name,                                                                               \
                       ferrite_return_metadata_(result,                                                                          \
                                                "{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":["        \
                                                returns "],\\\"params\\\":[" types "]}}", #name "(" names ")"))                  \
  static int ferrite_kernel_##name##_(const FerriteArgs* args, TVMFFIAny* result)

#define FERRITE_SYMBOL_(symbol)                                                                                                  \
  FERRITE_EXTERN_C_ TVM_FFI_DLL_EXPORT int symbol(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);       \
  FERRITE_EXTERN_C_ TVM_FFI_DLL_EXPORT int symbol(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)

#define FERRITE_TEXT_SYMBOL_(symbol, returned)                                                                                   \
  FERRITE_SYMBOL_(symbol) {                                                                                                      \
    (void)self;                                                                                                                  \
    (void)args;                                                                                                                  \
    (void)num_args;                                                                                                              \
    return returned;                                                                                                             \
  }

#endif /* FERRITE_KERNEL_H_ */
