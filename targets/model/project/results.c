/* results.c: see results.h. */
#include "results.h"

#include <inttypes.h>
#include <stdio.h>

#include "element.h"

static void print_tensor(const DLTensor* tensor) {
  int64_t count = 1, at, largest = 0;
  int dim;
  for (dim = 0; dim < tensor->ndim; ++dim) count *= tensor->shape[dim];
  for (at = 0; at < count; ++at) {
    double value = element_of(tensor, at);
    if (value > element_of(tensor, largest)) largest = at;
    if (at < 16) printf("%.3f ", value);
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
