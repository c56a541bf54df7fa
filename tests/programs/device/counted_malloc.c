#define _GNU_SOURCE
#include "counted_malloc.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

long counted_calls, counted_others, counted_live;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAS_SANITIZER
#endif

#ifdef HAS_SANITIZER

/* With the sanitizer, which has its own malloc, nothing is counted. */
void counted_find_library(void) {}

#else

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

/* Address range of the library's code. */
static size_t begin, end;

#define BY_LIBRARY() ((size_t)__builtin_return_address(0) - begin < end - begin)

static void* counted(void* block, int is_ours) {
  if (block != NULL) *(is_ours ? &counted_calls : &counted_others) += 1;
  if (block != NULL && is_ours) counted_live += 1;
  return block;
}

void* malloc(size_t size) { return counted(__libc_malloc(size), BY_LIBRARY()); }
void* calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size), BY_LIBRARY()); }
void* memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), BY_LIBRARY()); }
void* aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), BY_LIBRARY()); }

void* realloc(void* block, size_t size) {
  if (BY_LIBRARY()) counted_calls += 1, counted_live += block == NULL;
  return __libc_realloc(block, size);
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  void* found = counted(__libc_memalign(alignment, size), BY_LIBRARY());
  if (found == NULL) return 12;
  *block = found;
  return 0;
}

void free(void* block) {
  if (block != NULL && BY_LIBRARY()) counted_live -= 1;
  __libc_free(block);
}

static int find_library(struct dl_phdr_info* info, size_t size, void* data) {
  int i;
  (void)size;
  (void)data;
  if (strstr(info->dlpi_name, "libtvm_ffi.") == NULL) return 0;
  for (i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) continue;
    begin = info->dlpi_addr + segment->p_vaddr;
    end = begin + segment->p_memsz;
  }
  return 1;
}

void counted_find_library(void) { dl_iterate_phdr(find_library, NULL); }

#endif
