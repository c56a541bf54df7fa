/*
 * ferrite/kernel.h: helpers for authors of kernels in C or C++: exports with documentation and types, arguments, checks with the
 * messages of TVM's generated code, allocation, and results.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Header-only, C89 and later, C++11 and later. It uses the C ABI only, so a kernel built with it runs on any libtvm_ffi.
 *
 * Functions that return int return 0, or -1 with an error raised on the calling thread; then return -1 from the kernel. Arguments are
 * borrowed: pointers into them are valid until the kernel returns. Nothing is allocated unless a function says so. Threads may
 * call all functions at the same time. Names that end with an underscore are internal.
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

#ifdef __cplusplus
#define FERRITE_EXTERN_C_ extern "C"
#else
#define FERRITE_EXTERN_C_
#endif

/* ---- arguments --------------------------------------------------------------------------- */

/* The arguments of a call. */
typedef struct FerriteArgs {
  /* Name and parameters of the kernel, which messages quote: `dot(x: Tensor([n], float32), y: Tensor([n], float32))`. */
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
FERRITE_INLINE_ const char* ferrite_decimal_(int64_t value, char buffer[24]) {
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

/* Raises the error that an argument, or a part of it, differs from what the kernel expects; returns -1. Parts may be null. */
FERRITE_INLINE_ int ferrite_refuse_(const char* kind, const FerriteArgs* args, int32_t index, const char* verb, const char* name,
                                    const char* field, const char* expected, const char* value) {
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
  parts[9] = value;
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 10);
  return -1;
}

FERRITE_INLINE_ int ferrite_refuse_type_(const FerriteArgs* args, int32_t index, const char* expected) {
  return ferrite_refuse_("TypeError", args, index, "Mismatched type", NULL, NULL, expected, NULL);
}

/* Checks the number of arguments, and that they are there: TypeError. FERRITE_EXPORT calls it. */
FERRITE_INLINE_ int ferrite_check_count(const FerriteArgs* args, int32_t expected) {
  char digits[24];
  const char* parts[6];
  parts[3] = " when calling:\n  `";
  parts[4] = args->signature;
  parts[5] = "`";
  if (args->count != expected) {
    parts[0] = "Expected ";
    parts[1] = ferrite_decimal_(expected, digits);
    parts[2] = " arguments";
  } else if (expected > 0 && args->values == NULL) {
    parts[0] = "args pointer is NULL";
    parts[1] = parts[2] = NULL;
  } else {
    return 0;
  }
  TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 6);
  return -1;
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

/* Reads a string: its bytes, borrowed, without a terminating NUL. TypeError for others, bytes among them. */
FERRITE_INLINE_ int ferrite_arg_str(const FerriteArgs* args, int32_t index, TVMFFIByteArray* out) {
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

/* Reads an object of a built-in class, such as kTVMFFIFunction: a borrowed handle. TypeError, which names the class, for others. */
FERRITE_INLINE_ int ferrite_arg_object(const FerriteArgs* args, int32_t index, int32_t type_index, const char* type_key,
                                       TVMFFIObjectHandle* out) {
  const TVMFFIAny* value = &args->values[index];
  if (value->type_index != type_index) return ferrite_refuse_type_(args, index, type_key);
  *out = value->v_obj;
  return 0;
}

/* Returns the tensor's description in a Tensor object. */
FERRITE_INLINE_ DLTensor* ferrite_tensor_in(TVMFFIObjectHandle tensor) { return (DLTensor*)((TVMFFIObject*)tensor + 1); }

/* Reads a tensor: a Tensor object or a DLTensor. TypeError for others. `name`, the parameter's, is kept for messages. */
FERRITE_INLINE_ int ferrite_arg_tensor(const FerriteArgs* args, int32_t index, const char* name, FerriteTensorArg* out) {
  const TVMFFIAny* value = &args->values[index];
  out->dl = NULL;
  if (value->type_index == kTVMFFITensor) {
    out->dl = ferrite_tensor_in(value->v_obj);
  } else if (value->type_index == kTVMFFIDLTensorPtr) {
    out->dl = (const DLTensor*)value->v_ptr;
  }
  if (out->dl == NULL) return ferrite_refuse_type_(args, index, "Tensor");
  out->name = name;
  out->args = args;
  out->index = index;
  return 0;
}

/* ---- checks of tensors ------------------------------------------------------------------- */

FERRITE_INLINE_ int ferrite_refuse_tensor_(const char* kind, const FerriteTensorArg* x, const char* verb, const char* field,
                                           const char* expected, const char* value) {
  return ferrite_refuse_(kind, x->args, x->index, verb, x->name, field, expected, value);
}

/* Appends `text` to a buffer of 64 bytes, in which there must be space. */
FERRITE_INLINE_ void ferrite_append_(char* buffer, const char* text) { strcpy(buffer + strlen(buffer), text); }

/* Writes `.shape[AXIS]` or `.strides[AXIS]`. */
FERRITE_INLINE_ const char* ferrite_axis_(char buffer[64], const char* field, int32_t axis) {
  char digits[24];
  strcpy(buffer, field);
  ferrite_append_(buffer, "[");
  ferrite_append_(buffer, ferrite_decimal_(axis, digits));
  ferrite_append_(buffer, "]");
  return buffer;
}

/* Checks the number of axes: ValueError. The checks of single axes need it before them. */
FERRITE_INLINE_ int ferrite_check_ndim(const FerriteTensorArg* x, int32_t ndim) {
  char digits[24];
  if (x->dl->ndim == ndim) return 0;
  return ferrite_refuse_tensor_("ValueError", x, "Mismatched ", ".ndim", ferrite_decimal_(ndim, digits), NULL);
}

/* Checks the type of the elements, such as kDLFloat, 32, 1: TypeError. */
FERRITE_INLINE_ int ferrite_check_dtype(const FerriteTensorArg* x, int code, int bits, int lanes) {
  const DLDataType* actual = &x->dl->dtype;
  DLDataType expected;
  TVMFFIAny text;
  const char* name;
  if (actual->code == code && actual->bits == bits && actual->lanes == lanes) return 0;
  expected.code = (uint8_t)code;
  expected.bits = (uint8_t)bits;
  expected.lanes = (uint16_t)lanes;
  if (TVMFFIDataTypeToString(&expected, &text) != 0) return -1;
  name = text.v_bytes; /* both forms of strings end with a NUL */
  if (text.type_index == kTVMFFIStr) name = ((const TVMFFIByteArray*)((const TVMFFIObject*)text.v_obj + 1))->data;
  ferrite_refuse_tensor_("TypeError", x, "Mismatched ", ".dtype", name, NULL);
  if (text.type_index == kTVMFFIStr) TVMFFIObjectDecRef(text.v_obj);
  return -1;
}

/* Returns the name of a device type, such as "cuda", and "unknown" for numbers without one. */
FERRITE_INLINE_ const char* ferrite_device_name(int device_type) {
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
  return ferrite_refuse_tensor_("ValueError", x, "Mismatched ", ".device_type", ferrite_device_name(device_type), NULL);
}

FERRITE_INLINE_ int ferrite_refuse_match_(const FerriteTensorArg* x, const char* x_field, const FerriteTensorArg* y,
                                          const char* y_field) {
  char digits[24];
  const char* parts[10];
  parts[0] = "Mismatched ";
  parts[1] = x->name;
  parts[2] = x_field;
  parts[3] = " on argument #";
  parts[4] = ferrite_decimal_(x->index, digits);
  parts[5] = " when calling:\n  `";
  parts[6] = x->args->signature;
  parts[7] = "`,\n  expected to match ";
  parts[8] = y->name;
  parts[9] = y_field;
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 10);
  return -1;
}

/* Checks that `x` is on the device that `y` is on: ValueError. Checks numbers only; check the kind of device of both before. */
FERRITE_INLINE_ int ferrite_check_same_device(const FerriteTensorArg* x, const FerriteTensorArg* y) {
  if (x->dl->device.device_id == y->dl->device.device_id) return 0;
  return ferrite_refuse_match_(x, ".device_id", y, ".device_id");
}

/* Checks the extent of an axis, in elements: ValueError. */
FERRITE_INLINE_ int ferrite_check_shape(const FerriteTensorArg* x, int32_t axis, int64_t extent) {
  char field[64], digits[24];
  if (x->dl->shape[axis] == extent) return 0;
  return ferrite_refuse_tensor_("ValueError", x, "Invalid ", ferrite_axis_(field, ".shape", axis), ferrite_decimal_(extent, digits),
                                NULL);
}

/* Checks that an axis of `x` is as long as one of `y`: ValueError. */
FERRITE_INLINE_ int ferrite_check_same_extent(const FerriteTensorArg* x, int32_t x_axis, const FerriteTensorArg* y, int32_t y_axis) {
  char x_field[64], y_field[64];
  if (x->dl->shape[x_axis] == y->dl->shape[y_axis]) return 0;
  return ferrite_refuse_match_(x, ferrite_axis_(x_field, ".shape", x_axis), y, ferrite_axis_(y_field, ".shape", y_axis));
}

/* Returns the stride of an axis, in elements: the tensor's own, or that of a compact tensor if it has none. */
FERRITE_INLINE_ int64_t ferrite_stride(const FerriteTensorArg* x, int32_t axis) {
  int64_t stride = 1;
  int32_t inner;
  if (x->dl->strides != NULL) return x->dl->strides[axis];
  for (inner = x->dl->ndim - 1; inner > axis; --inner) stride *= x->dl->shape[inner];
  return stride;
}

/* Checks the stride of an axis, in elements: ValueError. */
FERRITE_INLINE_ int ferrite_check_stride(const FerriteTensorArg* x, int32_t axis, int64_t stride) {
  char field[64], digits[24];
  if (ferrite_stride(x, axis) == stride) return 0;
  return ferrite_refuse_tensor_("ValueError", x, "Invalid ", ferrite_axis_(field, ".strides", axis), ferrite_decimal_(stride, digits),
                                NULL);
}

/* Checks that the elements follow each other in the order of the axes, the last one fastest: ValueError. */
FERRITE_INLINE_ int ferrite_check_compact(const FerriteTensorArg* x) {
  int64_t stride = 1;
  int32_t axis;
  if (x->dl->strides == NULL) return 0;
  for (axis = x->dl->ndim - 1; axis >= 0; --axis) {
    if (x->dl->shape[axis] != 1 && x->dl->strides[axis] != stride) {
      return ferrite_refuse_tensor_("ValueError", x, "Mismatched ", ".strides", "to be compact array", NULL);
    }
    stride *= x->dl->shape[axis];
  }
  return 0;
}

/* Returns the number of elements. */
FERRITE_INLINE_ int64_t ferrite_numel(const FerriteTensorArg* x) {
  int64_t count = 1;
  int32_t axis;
  for (axis = 0; axis < x->dl->ndim; ++axis) count *= x->dl->shape[axis];
  return count;
}

/* Checks that a tensor with elements has memory: ValueError. */
FERRITE_INLINE_ int ferrite_check_data(const FerriteTensorArg* x) {
  if (x->dl->data != NULL || ferrite_numel(x) == 0) return 0;
  return ferrite_refuse_("ValueError", x->args, x->index, x->name, " data pointer is NULL", NULL, "non-NULL data pointer",
                         NULL);
}

/* Returns the address of the first element, which is on the tensor's device. */
FERRITE_INLINE_ void* ferrite_data(const FerriteTensorArg* x) { return (char*)x->dl->data + (size_t)x->dl->byte_offset; }

/* ---- allocation -------------------------------------------------------------------------- */

/* Memory of a tensor that ferrite_alloc makes itself: this, the shape, the strides, and the aligned elements. */
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
FERRITE_INLINE_ int ferrite_alloc_host_(const DLTensor* prototype, TVMFFIObjectHandle* out) {
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
 * Allocates a compact tensor by the environment's allocator (TVMFFIEnvTensorAlloc), such as that of PyTorch when its tensors are
 * arguments of the call. Without one, uses malloc for tensors in main memory, and the library's back ends for others. The elements have
 * no values yet; the first one is aligned to 64 bytes if malloc made it. `*out` is a new reference to a Tensor object, which you return
 * by ferrite_return_object or release by TVMFFIObjectDecRef.
 *
 * Errors: MemoryError, ValueError for a negative or too large shape, RuntimeError if the device has no allocator, or those of the
 * allocator.
 */
FERRITE_INLINE_ int ferrite_alloc(DLDevice device, DLDataType dtype, int32_t ndim, const int64_t* shape, TVMFFIObjectHandle* out) {
  DLTensor prototype;
  memset(&prototype, 0, sizeof(prototype));
  prototype.device = device;
  prototype.dtype = dtype;
  prototype.ndim = ndim;
  prototype.shape = (int64_t*)shape;
  if (device.device_type == kDLCPU && !TVMFFIEnvGetDLPackManagedTensorAllocator()) return ferrite_alloc_host_(&prototype, out);
  return TVMFFIEnvTensorAlloc(&prototype, out);
}

/* Allocates a tensor with the device, data type and shape of another. Otherwise as ferrite_alloc. */
FERRITE_INLINE_ int ferrite_alloc_like(const FerriteTensorArg* x, TVMFFIObjectHandle* out) {
  return ferrite_alloc(x->dl->device, x->dl->dtype, x->dl->ndim, x->dl->shape, out);
}

/* ---- results ----------------------------------------------------------------------------- */

/* Each stores the result of the kernel, and returns 0 so that `return ferrite_return_int(result, 1);` ends it. */

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

/* Gives the caller your reference to an object of a type, such as kTVMFFITensor. */
FERRITE_INLINE_ int ferrite_return_object(TVMFFIAny* result, int32_t type_index, TVMFFIObjectHandle object) {
  result->type_index = type_index;
  result->zero_padding = 0;
  result->v_obj = (TVMFFIObject*)object;
  return 0;
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

/*
 * Exports a kernel by its name, an identifier: put the body behind it. It has the parameters `args` and `result`, and is called
 * when the number of arguments is right.
 *
 * `params` is FERRITE_PARAMS_N with the types of the parameters, `returns` the type of the result, `names` the text between the
 * parentheses of the signature in messages, and `doc` the documentation. Makes the symbols `__tvm_ffi_NAME`,
 * `__tvm_ffi__doc_NAME` and `__tvm_ffi__metadata_NAME`; a call allocates nothing besides what the body does.
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
  FERRITE_TEXT_SYMBOL_(__tvm_ffi__doc_##name, doc)                                                                               \
  FERRITE_TEXT_SYMBOL_(__tvm_ffi__metadata_##name,                                                                               \
                       "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[" returns      \
                       "],\\\"params\\\":[" types "]}}\"}")                                                                      \
  static int ferrite_kernel_##name##_(const FerriteArgs* args, TVMFFIAny* result)

#define FERRITE_SYMBOL_(symbol)                                                                                                  \
  FERRITE_EXTERN_C_ TVM_FFI_DLL_EXPORT int symbol(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);       \
  FERRITE_EXTERN_C_ TVM_FFI_DLL_EXPORT int symbol(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)

#define FERRITE_TEXT_SYMBOL_(symbol, text)                                                                                       \
  FERRITE_SYMBOL_(symbol) {                                                                                                      \
    (void)self;                                                                                                                  \
    (void)args;                                                                                                                  \
    (void)num_args;                                                                                                              \
    return ferrite_return_str(result, text);                                                                                     \
  }

#endif /* FERRITE_KERNEL_H_ */
