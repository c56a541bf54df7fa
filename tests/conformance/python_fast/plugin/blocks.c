/*
 * Preloaded into a process: counts the blocks of malloc that are in use. With PYTHONMALLOC=malloc
 * each object of Python is one, and each object of libtvm_ffi, but for those that share a chunk.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_long blocks;

static void *counted(void *block) {
  if (block != NULL) atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
  return block;
}

long ferrite_blocks_in_use(void) { return atomic_load(&blocks); }

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **out, size_t alignment, size_t size) {
  void *block = counted(__libc_memalign(alignment, size));
  if (block == NULL) return ENOMEM;
  *out = block;
  return 0;
}

void free(void *block) {
  if (block != NULL) atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  void *moved;
  if (block == NULL) return malloc(size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  moved = __libc_realloc(block, size);
  return moved;
}
