/* main.c: firmware that calls the model @NAME@ with the example inputs, and prints its results. */
#include "board.h"
#include "element.h"
#include "ffi.h"
#include "print.h"
#include "@NAME@.h"

#include <tvm_ffi_platform.h>

/* All memory of the model. */
static uint64_t arena[@MODEL@_ARENA_BYTES / 8] __attribute__((aligned(16)));

/* Prints a number with three decimals, or a large one with an exponent. */
static void print_decimal(double value) {
  uint32_t thousandths;
  int place;
  if (value < 0) {
    print_text("-");
    value = -value;
  }
  if (!(value < 4e6)) {
    print_small(value);
    return;
  }
  thousandths = (uint32_t)(value * 1000 + 0.5);
  print_number(thousandths / 1000);
  print_text(".");
  for (place = 100; place > 0; place /= 10) print_number(thousandths / (uint32_t)place % 10);
}

static void print_tensor(const DLTensor* tensor) {
  int64_t count = 1, at, largest = 0;
  int dim;
  for (dim = 0; dim < tensor->ndim; ++dim) count *= tensor->shape[dim];
  for (at = 0; at < count; ++at) {
    double value = element_of(tensor, at);
    if (value > element_of(tensor, largest)) largest = at;
    if (at < 16) {
      print_decimal(value);
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
