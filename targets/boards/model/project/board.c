/* main.c: firmware that calls the model @NAME@ with the example inputs, and prints its results. */
#include "board.h"
#include "ffi.h"
#include "print.h"
#include "@NAME@.h"

#include <tvm_ffi_platform.h>

/* All memory of the model. */
static uint64_t arena[@MODEL@_ARENA_BYTES / 8] __attribute__((aligned(16)));

static double element(const DLTensor* tensor, int64_t at) {
  const char* data = (const char*)tensor->data + tensor->byte_offset;
  switch (tensor->dtype.code * 100 + tensor->dtype.bits) {
    case kDLFloat * 100 + 32: return ((const float*)data)[at];
    case kDLFloat * 100 + 64: return ((const double*)data)[at];
    case kDLInt * 100 + 8: return ((const int8_t*)data)[at];
    case kDLInt * 100 + 16: return ((const int16_t*)data)[at];
    case kDLInt * 100 + 32: return ((const int32_t*)data)[at];
    case kDLInt * 100 + 64: return (double)((const int64_t*)data)[at];
    case kDLBool * 100 + 8:
    case kDLUInt * 100 + 8: return ((const uint8_t*)data)[at];
    case kDLUInt * 100 + 16: return ((const uint16_t*)data)[at];
    case kDLUInt * 100 + 32: return ((const uint32_t*)data)[at];
    case kDLUInt * 100 + 64: return (double)((const uint64_t*)data)[at];
    default: return 0;
  }
}

/* Prints a number with three decimals. */
static void print_decimal(double value) {
  uint32_t thousandths;
  int place;
  if (value < 0) print_text("-");
  thousandths = (uint32_t)((value < 0 ? -value : value) * 1000 + 0.5);
  print_number(thousandths / 1000);
  print_text(".");
  for (place = 100; place > 0; place /= 10) print_number(thousandths / (uint32_t)place % 10);
}

static void print_tensor(const DLTensor* tensor) {
  int64_t count = 1, at, largest = 0;
  int dim;
  for (dim = 0; dim < tensor->ndim; ++dim) count *= tensor->shape[dim];
  for (at = 0; at < count; ++at) {
    if (element(tensor, at) > element(tensor, largest)) largest = at;
    if (at < 16) {
      print_decimal(element(tensor, at));
      print_text(" ");
    }
  }
  print_text("\nlargest of ");
  print_number((uint32_t)count);
  print_text(" values: number ");
  print_number((uint32_t)largest);
  print_text("\n");
}

/* Prints the tensors in a result, which may be an array. */
static void print_result(const TVMFFIAny* result) {
  if (result->type_index == kTVMFFITensor) {
    print_tensor((const DLTensor*)(result->v_obj + 1));
  } else if (result->type_index == kTVMFFIArray) {
    const TVMFFISeqCell* array = (const TVMFFISeqCell*)(result->v_obj + 1);
    int64_t at;
    for (at = 0; at < array->size; ++at) print_result((const TVMFFIAny*)array->data + at);
  }
}

static int call(TVMFFIObjectHandle model) {
  TVMFFIAny args[@MODEL@_INPUTS + 1], result = any_none();
  uint64_t start;
  int at;
  for (at = 0; at < @MODEL@_INPUTS; ++at) args[at] = any_tensor(&@NAME@_inputs[at]);
  start = board_instructions();
  if (FerriteModelCall(model, @MODEL@_FUNCTION, args, @MODEL@_INPUTS, &result) != 0) return -1;
  print_measure("instructions", (size_t)(board_instructions() - start));
  print_result(&result);
  if (result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  return 0;
}

int main(void) {
  TVMFFIObjectHandle model = NULL;
  if (FerriteMemoryAdd(arena, sizeof(arena)) != 0 || @NAME@_create(&model) != 0 || call(model) != 0) {
    print_raised();
    return 1;
  }
  print_measure("arena", sizeof(arena));
  print_measure("memory", FerriteMemoryHighWater());
  print_stack();
  return 0;
}
