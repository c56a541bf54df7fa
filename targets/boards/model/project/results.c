/* results.c: see results.h. */
#include "results.h"

#include <inttypes.h>
#include <stdio.h>

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

static void print_tensor(const DLTensor* tensor) {
  int64_t count = 1, at, largest = 0;
  int dim;
  for (dim = 0; dim < tensor->ndim; ++dim) count *= tensor->shape[dim];
  for (at = 0; at < count; ++at) {
    if (element(tensor, at) > element(tensor, largest)) largest = at;
    if (at < 16) printf("%.3f ", element(tensor, at));
  }
  printf("\nlargest of %" PRId64 " values: number %" PRId64 "\n", count, largest);
}

void print_result(const TVMFFIAny* result) {
  if (result->type_index == kTVMFFITensor) {
    print_tensor((const DLTensor*)(result->v_obj + 1));
  } else if (result->type_index == kTVMFFIArray) {
    const TVMFFISeqCell* array = (const TVMFFISeqCell*)(result->v_obj + 1);
    int64_t at;
    for (at = 0; at < array->size; ++at) print_result((const TVMFFIAny*)array->data + at);
  }
}

void print_raised(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return;
  const TVMFFIErrorCell* cell = (const TVMFFIErrorCell*)((const TVMFFIObject*)error + 1);
  fprintf(stderr, "%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
}
