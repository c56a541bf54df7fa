/* mistakes_heap.c: mistakes with memory that firmware passes to the profiles `core` and `full`. */
#include "mistakes.h"
#include "profile.h"

static int empty_function(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return 0;
}

/* Creates function objects until memory runs out, then releases them. */
static int make_functions(TVMFFICustomAllocator* allocator, int most) {
  TVMFFIObjectHandle functions[8];
  int made, status = 0;
  TVMFFISetCustomAllocator(allocator);
  for (made = 0; made < most; ++made) {
    status = TVMFFIFunctionCreate(NULL, empty_function, NULL, &functions[made]);
    if (status != 0) break;
  }
  TVMFFISetCustomAllocator(NULL);
  while (made > 0) TVMFFIObjectDecRef(functions[--made]);
  return status;
}

static void* refuse(size_t size, size_t alignment, int32_t type_index, void* context) {
  (void)size;
  (void)alignment;
  (void)type_index;
  (void)context;
  return NULL;
}

static int allocator_refuses(Call* call) {
  static TVMFFICustomAllocator none = {refuse, NULL};
  (void)call;
  return make_functions(&none, 1);
}

/* An arena of the firmware, which allocates in sequence and frees nothing. */
static uint64_t arena[32];
static size_t arena_used;

static void keep(void* ptr) { (void)ptr; }

static void* from_arena(size_t size, size_t alignment, int32_t type_index, void* context) {
  TVMFFIObjectAllocHeader* header = (TVMFFIObjectAllocHeader*)((char*)arena + arena_used);
  size_t bytes = 8 + (size + 7) / 8 * 8; /* the header lies directly before the object */
  (void)type_index;
  (void)context;
  if (alignment > 8 || bytes > sizeof(arena) - arena_used) return NULL;
  arena_used += bytes;
  header = (TVMFFIObjectAllocHeader*)((char*)header + 8 - sizeof(*header));
  header->delete_space = keep;
  return header + 1;
}

static int arena_too_small(Call* call) {
  static TVMFFICustomAllocator allocator = {from_arena, NULL};
  (void)call;
  arena_used = 0;
  return make_functions(&allocator, 8);
}

#ifndef WITHOUT_MODULES
/* A compiled function looks up its callee in its module, which was not opened. */
static int library_not_open(Call* call) {
  TVMFFIObjectHandle function;
  TVMFFIAny result = any_none();
  float y[4];
  int status;
  if (set_global_compiled("call_host", fixture_call_host.function) != 0 || get_global("call_host", &function) != 0) return 0;
  fixture_call(&fixture_call_host, 0, y, call);
  status = TVMFFIFunctionCall(function, call->args, call->count, &result);
  TVMFFIObjectDecRef(function);
  return status;
}

static int unknown_in_library(Call* call) {
  TVMFFIObjectHandle function;
  (void)call;
  return profile_system_library_function("no_such_function", &function);
}
#endif

const Mistake profile_mistakes[] = {
    {"allocator gives null", allocator_refuses, "MemoryError", ""},
    {"arena too small", arena_too_small, "MemoryError", ""},
#ifndef WITHOUT_MODULES
    {"library not open yet", library_not_open, "ValueError", ""},
    {"unknown in library", unknown_in_library, "AttributeError", "does not exist"},
#endif
};
const int profile_mistakes_len = sizeof(profile_mistakes) / sizeof(profile_mistakes[0]);
