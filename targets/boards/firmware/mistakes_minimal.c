/* mistakes_minimal.c: mistakes with the library's static tables and with the firmware's workspace buffer. */
#include <tvm_ffi_minimal.h>

#include "mistakes.h"
#include "profile.h"

/* Calls the network with this workspace buffer in place of its own. */
static int call_with_buffer(Call* call, void* buffer, size_t size) {
  int status;
  if (FerriteWorkspaceSet(buffer, size) != 0) return -1;
  status = call_network(call);
  if (profile_start() != 0) return -1;
  return status;
}

/* As before the firmware has handed over any memory. */
static int before_start(Call* call) { return call_with_buffer(call, NULL, 0); }

static int buffer_too_small(Call* call) {
  static uint64_t small[64];
  return call_with_buffer(call, small, sizeof(small));
}

static int buffer_null(Call* call) {
  (void)call;
  return FerriteWorkspaceSet(NULL, 64);
}

static int unknown_in_library(Call* call) {
  TVMFFIObjectHandle function;
  (void)call;
  return profile_system_library_function("no_such_function", &function);
}

const Mistake profile_mistakes[] = {
    {"no workspace yet", before_start, "MemoryError", "2048 bytes asked, free: 0"},
    {"workspace too small", buffer_too_small, "MemoryError", "2048 bytes asked, "},
    {"null workspace", buffer_null, "ValueError", "bad argument"},
    {"unknown in library", unknown_in_library, "AttributeError", "does not exist"},
};
const int profile_mistakes_len = sizeof(profile_mistakes) / sizeof(profile_mistakes[0]);
