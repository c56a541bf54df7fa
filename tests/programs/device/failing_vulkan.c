/*
 * failing_vulkan.c: a libvulkan.so.1 that forwards calls to the real one, except for one that
 * fails.
 *
 * FAILING_VULKAN_LIBRARY  the real library
 * FAILING_VULKAN_CALL     the function that fails, such as vkQueueSubmit; none if it is not set
 * FAILING_VULKAN_AT       which of its calls, from 1
 * FAILING_VULKAN_CODE     the VkResult that it gives
 * FAILING_VULKAN_COUNTS   a file for the number of calls of each function, at the end of the process
 *
 * Only functions that return a VkResult are intercepted. They have at most six parameters, each of
 * which fits into a register.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Function)(void);
typedef int (*Call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef Function (*Find)(void*, const char*);

#define FUNCTIONS(X)                                                                                          \
  X(vkAllocateCommandBuffers) X(vkAllocateDescriptorSets) X(vkAllocateMemory) X(vkBeginCommandBuffer)         \
  X(vkBindBufferMemory) X(vkCreateBuffer) X(vkCreateCommandPool) X(vkCreateComputePipelines)                  \
  X(vkCreateDescriptorPool) X(vkCreateDescriptorSetLayout) X(vkCreateDevice) X(vkCreateFence)                 \
  X(vkCreateInstance) X(vkCreatePipelineCache) X(vkCreatePipelineLayout) X(vkCreateSemaphore)                 \
  X(vkCreateShaderModule) X(vkDeviceWaitIdle) X(vkEndCommandBuffer) X(vkEnumerateDeviceExtensionProperties)   \
  X(vkEnumerateInstanceExtensionProperties) X(vkEnumerateInstanceLayerProperties)                             \
  X(vkEnumerateInstanceVersion) X(vkEnumeratePhysicalDevices) X(vkFlushMappedMemoryRanges)                    \
  X(vkGetFenceStatus) X(vkGetSemaphoreCounterValue) X(vkGetSemaphoreCounterValueKHR)                          \
  X(vkInvalidateMappedMemoryRanges) X(vkMapMemory) X(vkQueueSubmit) X(vkQueueWaitIdle) X(vkResetCommandPool)  \
  X(vkResetDescriptorPool) X(vkResetFences) X(vkWaitForFences) X(vkWaitSemaphores) X(vkWaitSemaphoresKHR)

static int should_fail(const char* name, int* count) {
  const char* wanted = getenv("FAILING_VULKAN_CALL");
  const char* at = getenv("FAILING_VULKAN_AT");
  int call = __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
  return wanted != NULL && at != NULL && strcmp(wanted, name) == 0 && atoi(at) == call;
}

static int code(void) {
  const char* value = getenv("FAILING_VULKAN_CODE");
  return value == NULL ? -3 : atoi(value);
}

#define DEFINE(name)                                                                                        \
  static Call real_##name;                                                                                  \
  static int count_##name;                                                                                  \
  static int name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {                 \
    return should_fail(#name, &count_##name) ? code() : real_##name(a, b, c, d, e, f);                      \
  }
FUNCTIONS(DEFINE)

static Find real_instance, real_device;

/* Returns the function for a name, for which the real library returned `found`. */
static Function intercept(const char* name, Function found) {
  if (found == NULL) return NULL;
#define CHOOSE(function)             \
  if (strcmp(name, #function) == 0) { \
    real_##function = (Call)found;    \
    return (Function)function;        \
  }
  FUNCTIONS(CHOOSE)
  return found;
}

static Function of_device(void* device, const char* name) { return intercept(name, real_device(device, name)); }

__attribute__((destructor)) static void write_counts(void) {
  const char* path = getenv("FAILING_VULKAN_COUNTS");
  FILE* file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
#define WRITE(name) \
  if (count_##name != 0) fprintf(file, "%s %d\n", #name, count_##name);
  FUNCTIONS(WRITE)
  fclose(file);
}

Function vkGetInstanceProcAddr(void* instance, const char* name) {
  Function found;
  if (real_instance == NULL) {
    const char* path = getenv("FAILING_VULKAN_LIBRARY");
    void* library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return NULL;
    *(void**)&real_instance = dlsym(library, "vkGetInstanceProcAddr");
  }
  if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (Function)vkGetInstanceProcAddr;
  found = real_instance(instance, name);
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
    real_device = (Find)found;
    return (Function)of_device;
  }
  return intercept(name, found);
}
