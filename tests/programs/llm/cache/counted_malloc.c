/*
 * counted_malloc.c: a malloc for LD_PRELOAD that counts the allocations of the library under test,
 * and fails one of them on request.
 */
#include "../../../robustness/alloc_fail/failing_malloc.h"

/* Finds the library, which must be loaded, and counts its allocations from here on. */
int llm_watch(void) { return watch_library(); }

/* Fails the n-th allocation from here; 0 fails none. Returns the number that failed before. */
int llm_fail(long n) {
  int failed = heap.failed;
  heap.failed = 0;
  heap.fail_in = n;
  return failed;
}

/* Number of allocations, of live blocks, and their bytes. */
long llm_allocations(void) { return heap.count; }
long llm_live(void) { return heap.live; }
long llm_bytes(void) {
  long bytes = 0;
  size_t i;
  for (i = 0; i < BLOCKS; i++) {
    if (blocks[i].block != NULL && blocks[i].block != (void*)1) bytes += (long)blocks[i].size;
  }
  return bytes;
}
