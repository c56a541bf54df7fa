/* profile_core.c: objects and names come from the library's own block pool. There are no modules. */
#include <tvm_ffi_platform.h>

#include "print.h"
#include "profile.h"

void profile_print_pool(void) { print_measure("pool", FerriteMemoryHighWater()); }
