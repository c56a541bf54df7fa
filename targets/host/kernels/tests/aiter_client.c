/* A program on AITER's records, in the place of one of its operators: it calls a kernel that
 * test_coupling.py gives it. */
#include "../c/aiter.h"

#include <stddef.h>

/* The layout of AITER's header, as its compilers for 64-bit hosts have it. */
typedef char offsets_are_those_of_aiter[offsetof(FerriteAiterTensor, numel) == 8 && offsetof(FerriteAiterTensor, ndim) == 16 &&
                                                offsetof(FerriteAiterTensor, shape) == 24 &&
                                                offsetof(FerriteAiterTensor, strides) == 88 &&
                                                offsetof(FerriteAiterTensor, dtype) == 152 &&
                                                offsetof(FerriteAiterTensor, device_id) == 156 &&
                                                sizeof(FerriteAiterTensor) == 160
                                            ? 1
                                            : -1];

static const FerriteAiterTensor* record(int64_t address) { return (const FerriteAiterTensor*)(intptr_t)address; }

FERRITE_EXPORT(rmsnorm_of_records,
               FERRITE_PARAMS_5(FERRITE_OBJECT_OF("ffi.Function"), FERRITE_INT, FERRITE_INT, FERRITE_FLOAT, FERRITE_INT), FERRITE_NONE,
               "kernel: ffi.Function, x: int, weight: int, eps: float, out: int", "Calls rmsnorm with the addresses of records.") {
  TVMFFIObjectHandle kernel;
  TVMFFIAny values[4];
  DLTensor x, weight, out;
  int64_t addresses[3];
  if (ferrite_arg_object(args, 0, kTVMFFIFunction, "ffi.Function", &kernel) || ferrite_arg_int(args, 1, &addresses[0])) return -1;
  if (ferrite_arg_int(args, 2, &addresses[1]) || ferrite_arg_int(args, 4, &addresses[2])) return -1;
  if (ferrite_from_aiter(record(addresses[0]), FERRITE_FP8_FN, &x)) return -1;
  if (ferrite_from_aiter(record(addresses[1]), FERRITE_FP8_FN, &weight)) return -1;
  if (ferrite_from_aiter(record(addresses[2]), FERRITE_FP8_FN, &out)) return -1;
  values[0] = ferrite_any_of_tensor(&x);
  values[1] = ferrite_any_of_tensor(&weight);
  values[2] = args->values[3];
  values[3] = ferrite_any_of_tensor(&out);
  return TVMFFIFunctionCall(kernel, values, 4, result);
}

FERRITE_EXPORT(describe, FERRITE_PARAMS_2(FERRITE_INT, FERRITE_INT), FERRITE_INT, "record: int, fp8: int",
               "Returns the type and the kind of device of a record: code, bits, lanes and device in a byte each.") {
  int64_t address, fp8;
  DLTensor tensor;
  if (ferrite_arg_int(args, 0, &address) || ferrite_arg_int(args, 1, &fp8)) return -1;
  if (ferrite_from_aiter(record(address), (int)fp8, &tensor)) return -1;
  return ferrite_return_int(result, ((int64_t)tensor.dtype.code << 24) + (tensor.dtype.bits << 16) + (tensor.dtype.lanes << 8) +
                                        (int64_t)tensor.device.device_type);
}
