/* Functions of the system that the programs need, on POSIX and on Windows. */
#ifndef FERRITE_TESTS_C_SYSTEM_H_
#define FERRITE_TESTS_C_SYSTEM_H_

#include <stdlib.h>
#include <unistd.h>

#ifndef _WIN32
#include "../../watchdog/watchdog.h"
#endif

#ifdef _WIN32

#include <io.h>
#include <malloc.h>

__attribute__((unused)) static void* allocate_aligned(size_t alignment, size_t size) {
  return _aligned_malloc(size, alignment);
}

__attribute__((unused)) static void release_aligned(void* block) { _aligned_free(block); }

__attribute__((unused)) static int open_pipe(int ends[2]) { return _pipe(ends, 4096, 0); }

#else

__attribute__((unused)) static void* allocate_aligned(size_t alignment, size_t size) {
  void* block = NULL;
  return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

__attribute__((unused)) static void release_aligned(void* block) { free(block); }

__attribute__((unused)) static int open_pipe(int ends[2]) { return pipe(ends); }

/* A hanging test fails. On Windows, which has no alarms, the runner sets the limit. */
__attribute__((constructor)) static void limit_time(void) { watchdog(60); }

#endif

#endif /* FERRITE_TESTS_C_SYSTEM_H_ */
