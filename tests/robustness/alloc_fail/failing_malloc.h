/*
 * A malloc that fails on request, for the library under test only.
 *
 * Defined in the program, so that it overrides the C library's, to which it forwards. A call counts
 * if its return address is in the library's mapping: allocations of the C library and the dynamic
 * loader neither count nor fail. glibc only.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_FAILING_MALLOC_H_
#define FERRITE_TESTS_ALLOC_FAIL_FAILING_MALLOC_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

static struct {
  uintptr_t begin; /* the library's mapping; both zero until known */
  uintptr_t end;
  long fail_in;   /* 1 fails the next allocation of the library, 0 fails none */
  int from_there; /* whether all later ones fail, too */
  int of_all;     /* whether allocations of others count and fail, too */
  int failed;     /* number of failed allocations */
  long live;      /* number of live blocks of the library */
  long count;
} heap;

/* The library's blocks, by address: open addressing, never full in these tests. */
enum { BLOCKS = 1 << 18 };
static struct {
  void* block;
  size_t size;
  long number; /* number of the allocation */
} blocks[BLOCKS];

/* Threads of the library allocate, too. */
static int blocks_lock;

static void lock_blocks(void) {
  while (__sync_lock_test_and_set(&blocks_lock, 1)) {
  }
}

static void unlock_blocks(void) { __sync_lock_release(&blocks_lock); }

static size_t block_slot(const void* block) {
  return (size_t)(((uintptr_t)block >> 4) * 2654435761u) % BLOCKS;
}

static void remember(void* block, size_t size) {
  size_t i = block_slot(block);
  lock_blocks();
  while (blocks[i].block != NULL && blocks[i].block != (void*)1) {
    i = (i + 1) % BLOCKS;
  }
  blocks[i].block = block;
  blocks[i].size = size;
  blocks[i].number = heap.count;
  heap.live++;
  unlock_blocks();
}

static int forget(void* block) {
  size_t i = block_slot(block);
  int found = 0;
  lock_blocks();
  while (!found && blocks[i].block != NULL) {
    if (blocks[i].block == block) {
      blocks[i].block = (void*)1; /* deleted: the search continues after it */
      heap.live--;
      found = 1;
    }
    i = (i + 1) % BLOCKS;
  }
  unlock_blocks();
  return found;
}

static int of_library(const void* caller) {
  return (uintptr_t)caller >= heap.begin && (uintptr_t)caller < heap.end;
}

static int counts(const void* caller) { return heap.of_all || of_library(caller); }

static int refused(void) {
  heap.count++;
  if (heap.fail_in > 0 && --heap.fail_in == 0) {
    if (heap.from_there) {
      heap.fail_in = 1;
    }
    heap.failed++;
    errno = ENOMEM;
    return 1;
  }
  return 0;
}

static void* made(void* block, size_t size, const void* caller) {
  if (block != NULL && of_library(caller)) {
    remember(block, size);
  }
  return block;
}

void* malloc(size_t size) {
  void* caller = __builtin_return_address(0);
  if (counts(caller) && refused()) {
    return NULL;
  }
  return made(__libc_malloc(size), size, caller);
}

void* calloc(size_t count, size_t size) {
  void* caller = __builtin_return_address(0);
  if (counts(caller) && refused()) {
    return NULL;
  }
  return made(__libc_calloc(count, size), count * size, caller);
}

void* realloc(void* block, size_t size) {
  void* caller = __builtin_return_address(0);
  void* moved;
  int ours;
  if (counts(caller) && refused()) {
    return NULL;
  }
  ours = block != NULL && forget(block);
  moved = __libc_realloc(block, size);
  if (moved == NULL && ours && size != 0) {
    remember(block, 0);
  }
  return made(moved, size, caller);
}

void* memalign(size_t alignment, size_t size) {
  void* caller = __builtin_return_address(0);
  if (counts(caller) && refused()) {
    return NULL;
  }
  return made(__libc_memalign(alignment, size), size, caller);
}

void* aligned_alloc(size_t alignment, size_t size) {
  void* caller = __builtin_return_address(0);
  if (counts(caller) && refused()) {
    return NULL;
  }
  return made(__libc_memalign(alignment, size), size, caller);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  void* caller = __builtin_return_address(0);
  void* block;
  if (counts(caller) && refused()) {
    return ENOMEM;
  }
  block = made(__libc_memalign(alignment, size), size, caller);
  if (block == NULL) {
    return ENOMEM;
  }
  *result = block;
  return 0;
}

void free(void* block) {
  if (block != NULL) {
    forget(block);
  }
  __libc_free(block);
}

static int find_library(struct dl_phdr_info* info, size_t size, void* data) {
  int i;
  (void)size;
  (void)data;
  if (strstr(info->dlpi_name, "libtvm_ffi") == NULL) {
    return 0;
  }
  heap.begin = UINTPTR_MAX;
  for (i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD) {
      if (begin < heap.begin) {
        heap.begin = begin;
      }
      if (begin + info->dlpi_phdr[i].p_memsz > heap.end) {
        heap.end = begin + info->dlpi_phdr[i].p_memsz;
      }
    }
  }
  return 1;
}

/* Counts the library's allocations from here on. */
static int watch_library(void) { return dl_iterate_phdr(find_library, NULL); }

/* Prints the live blocks allocated after this many allocations. */
__attribute__((unused)) static void print_blocks_after(long number) {
  size_t i;
  int shown = 0;
  for (i = 0; i < BLOCKS && shown < 20; i++) {
    if (blocks[i].block != NULL && blocks[i].block != (void*)1 && blocks[i].number > number) {
      printf("    allocation %ld: %lu bytes at %p\n", blocks[i].number - number,
             (unsigned long)blocks[i].size, blocks[i].block);
      shown++;
    }
  }
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_FAILING_MALLOC_H_ */
