/* mistakes_minimal.c: mistakes with a library whose only memory is its static tables. */
#include "mistakes.h"
#include "profile.h"

/* The state before the firmware has passed any memory. */
static int before_start(Call* call) { return call_with_buffer(call, NULL, 0); }

static int unknown_in_library(Call* call) {
  TVMFFIObjectHandle function;
  (void)call;
  return profile_system_library_function("no_such_function", &function);
}

const Mistake profile_mistakes[] = {
    {"no workspace yet", before_start, "MemoryError", "2048 bytes asked, free: 0"},
    {"unknown in library", unknown_in_library, "AttributeError", "does not exist"},
};
const int profile_mistakes_len = sizeof(profile_mistakes) / sizeof(profile_mistakes[0]);
