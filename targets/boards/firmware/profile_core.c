/* profile_core.c: objects and names in the library's block pool, without modules. */
#include <tvm_ffi_platform.h>

#include "print.h"
#include "profile.h"

void profile_print_pool(void) { print_measure("pool", FerriteMemoryHighWater()); }
