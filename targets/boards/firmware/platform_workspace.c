/* platform_workspace.c: workspaces from functions that the firmware defines, as in microTVM's
 * projects; see workspace.h. */
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "print.h"
#include "workspace.h"

static uint8_t memory[2112];
static tvm_workspace_t stack;
static size_t most;

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  tvm_crt_error_t status;
  if (dev.device_type != kDLCPU || num_bytes > sizeof(memory)) return kTvmErrorPlatformNoMemory;
  status = StackMemoryManager_Allocate(&stack, (int32_t)num_bytes, out_ptr);
  if ((size_t)(stack.next_alloc - stack.workspace) > most) most = (size_t)(stack.next_alloc - stack.workspace);
  return status;
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)dev;
  return StackMemoryManager_Free(&stack, ptr);
}

int workspace_start(void) { return StackMemoryManager_Init(&stack, memory, sizeof(memory)) == kTvmErrorNoError ? 0 : -1; }

void workspace_print(void) { print_measure("workspace", most); }
