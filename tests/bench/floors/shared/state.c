/* Floor of per-thread state and one-time initialisation: a library with thread-local variables in
   the model needed by libraries that may be opened at any time. */
#include <stdint.h>

static __thread uint64_t device;
static __thread void* stream;

static uint64_t number(int32_t type, int32_t id) {
  return (uint64_t)(uint32_t)type << 32 | (uint32_t)id;
}

void* floor_get(int32_t type, int32_t id) {
  return device == number(type, id) ? stream : 0;
}

int floor_set(int32_t type, int32_t id, void* to, void** before) {
  if (type < 0 || id < 0) return -1;
  device = number(type, id);
  *before = stream;
  stream = to;
  return 0;
}

int floor_make_once(void** handle, int (*make)(void**)) {
  return __atomic_load_n(handle, __ATOMIC_ACQUIRE) ? 0 : make(handle);
}
