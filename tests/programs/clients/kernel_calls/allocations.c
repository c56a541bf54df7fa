/*
 * allocations.c: counts the blocks that a process allocates, on all threads. It is preloaded.
 */
#include "../../../robustness/alloc_fail/failing_malloc.h"

typedef int (*Call)(void* function, const void* arguments, int32_t count, void* result);

void begin_counting(void) {
  heap.count = 0;
  heap.of_all = 1;
}

long end_counting(void) {
  heap.of_all = 0;
  return heap.count;
}

/* Calls a function with the signature of TVMFFIFunctionCall. Returns the number of blocks, or -1 if
 * the call fails. */
long allocations_of(Call call, void* function, const void* arguments, int32_t count, void* result) {
  int code;
  long blocks;
  begin_counting();
  code = call(function, arguments, count, result);
  blocks = end_counting();
  return code == 0 ? blocks : -1;
}
