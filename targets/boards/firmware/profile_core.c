/* profile_core.c: objects, names and workspaces come from the library's own block pool. There are no modules. */
#include "profile.h"

#include <tvm_ffi_platform.h>

int profile_start(void) { return 0; }

size_t profile_memory_used(void) { return FerriteMemoryHighWater(); }
