/* workspace.c: see workspace.h. */
#include "workspace.h"

#include <tvm_ffi_platform.h>

#include "print.h"

/* Capacity for the models' largest workspace, including its alignment. */
static uint64_t buffer[2112 / 8];

int workspace_start(void) { return FerriteWorkspaceSet(buffer, sizeof(buffer)); }

void workspace_print(void) { print_measure("workspace", FerriteWorkspaceHighWater()); }
