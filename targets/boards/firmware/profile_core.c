/* profile_core.c: objects, names and workspaces come from the library's own block pool. There are no modules. */
#include "profile.h"

int profile_start(void) { return 0; }
