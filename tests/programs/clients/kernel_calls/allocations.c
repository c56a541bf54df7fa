/*
 * allocations.c: counts the blocks that a process allocates during a call, on all threads. It is
 * preloaded.
 */
#include "../../../robustness/alloc_fail/failing_malloc.h"

typedef int (*Call)(void* function, const void* arguments, int32_t count, void* result);

/* Calls a function with the signature of TVMFFIFunctionCall. Returns the number of blocks, or -1 if
 * the call fails. */
long allocations_of(Call call, void* function, const void* arguments, int32_t count, void* result) {
  int code;
  heap.count = 0;
  heap.of_all = 1;
  code = call(function, arguments, count, result);
  heap.of_all = 0;
  return code == 0 ? heap.count : -1;
}
