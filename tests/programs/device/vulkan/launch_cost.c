/*
 * launch_cost.c: compares the time of a launch through the library with that of its driver calls.
 *
 *   launch_cost PAYLOAD [ROUNDS]
 *
 * PAYLOAD is the Vulkan module of the fixtures. Both sides launch one block of the kernel of
 * add_one, of the same shader, on buffers of the same size: descriptors are pushed by a template,
 * and command buffers have 8, 16, 32 and then 64 launches with a barrier after each. A round queues
 * launches and waits for them. Rounds of both sides alternate, so that other load on the machine
 * affects both. Needs the headers of Vulkan (libvulkan-dev).
 */
#define _POSIX_C_SOURCE 200112L
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tvm/ffi/extra/c_env_api.h>
#include <vulkan/vulkan.h>

#include "ferrite_util.h"

enum { LAUNCHES = 2000, MAX_ROUNDS = 1000, PLACES = 8, SMALLEST = 8, LARGEST = 64, BYTES = 4096 };

/* Functions of the device, called without the loader. */
#define FUNCTIONS(apply) \
  apply(vkGetDeviceQueue) apply(vkCreateBuffer) apply(vkGetBufferMemoryRequirements) apply(vkAllocateMemory) \
  apply(vkBindBufferMemory) apply(vkCreateDescriptorSetLayout) apply(vkCreatePipelineLayout) \
  apply(vkCreateDescriptorUpdateTemplate) apply(vkCreateShaderModule) apply(vkCreateComputePipelines) \
  apply(vkCreateCommandPool) apply(vkAllocateCommandBuffers) apply(vkCreateFence) apply(vkBeginCommandBuffer) \
  apply(vkEndCommandBuffer) apply(vkResetCommandPool) apply(vkResetFences) apply(vkGetFenceStatus) apply(vkWaitForFences) \
  apply(vkQueueSubmit) apply(vkCmdBindPipeline) apply(vkCmdPushDescriptorSetWithTemplateKHR) apply(vkCmdDispatch) \
  apply(vkCmdPipelineBarrier)
#define DECLARE(name) static PFN_##name name;
FUNCTIONS(DECLARE)

typedef struct {
  VkCommandPool pool;
  VkCommandBuffer commands;
  VkFence fence;
} Place;

/* State of launches by plain driver calls. */
static VkDevice device;
static VkQueue queue;
static VkPipelineLayout layout;
static VkPipeline pipeline;
static VkDescriptorUpdateTemplate update;
static VkDescriptorBufferInfo buffers[2];
static Place places[PLACES];
static size_t place_at;

/* State of launches through the library. */
static struct {
  TVMFFIObjectHandle kernel, wait;
  TVMFFIAny args[4];
} library;

static char payload[1 << 16];
static size_t payload_bytes;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    fprintf(stderr, "%s: %d\n", what, (int)result);
    exit(2);
  }
}

static void open_device(void) {
  static const char* extensions[] = {"VK_KHR_push_descriptor"};
  const float priority = 1.0f;
  uint32_t one = 1;
  void* vulkan = dlopen("libvulkan.so.1", RTLD_NOW);
  PFN_vkGetInstanceProcAddr find;
  PFN_vkGetDeviceProcAddr find_of_device;
  VkInstance instance;
  VkPhysicalDevice adapter;
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  VkInstanceCreateInfo of_instance = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  VkDeviceQueueCreateInfo of_queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  VkDeviceCreateInfo of_device = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  if (vulkan == NULL) exit(2);
  *(void**)&find = dlsym(vulkan, "vkGetInstanceProcAddr");
  application.apiVersion = VK_API_VERSION_1_1;
  of_instance.pApplicationInfo = &application;
  check(((PFN_vkCreateInstance)find(NULL, "vkCreateInstance"))(&of_instance, NULL, &instance), "vkCreateInstance");
  ((PFN_vkEnumeratePhysicalDevices)find(instance, "vkEnumeratePhysicalDevices"))(instance, &one, &adapter);
  of_queue.queueCount = 1;
  of_queue.pQueuePriorities = &priority;
  of_device.queueCreateInfoCount = 1;
  of_device.pQueueCreateInfos = &of_queue;
  of_device.enabledExtensionCount = 1;
  of_device.ppEnabledExtensionNames = extensions;
  check(((PFN_vkCreateDevice)find(instance, "vkCreateDevice"))(adapter, &of_device, NULL, &device), "vkCreateDevice");
  find_of_device = (PFN_vkGetDeviceProcAddr)find(instance, "vkGetDeviceProcAddr");
#define FIND(name) \
  name = (PFN_##name)find_of_device(device, #name); \
  if (name == NULL) exit(2);
  FUNCTIONS(FIND)
  vkGetDeviceQueue(device, 0, 0, &queue);
}

static VkBuffer new_buffer(void) {
  VkBuffer buffer;
  VkDeviceMemory memory;
  VkMemoryRequirements needs;
  VkBufferCreateInfo of_buffer = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  VkMemoryAllocateInfo of_memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  of_buffer.size = BYTES;
  of_buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  check(vkCreateBuffer(device, &of_buffer, NULL, &buffer), "vkCreateBuffer");
  vkGetBufferMemoryRequirements(device, buffer, &needs);
  of_memory.allocationSize = needs.size;
  while ((needs.memoryTypeBits >> of_memory.memoryTypeIndex & 1) == 0) ++of_memory.memoryTypeIndex;
  check(vkAllocateMemory(device, &of_memory, NULL, &memory), "vkAllocateMemory");
  check(vkBindBufferMemory(device, buffer, memory, 0), "vkBindBufferMemory");
  return buffer;
}

/* Reads the shader of add_one, the first one of the payload: the number of words, then the
 * words. */
static size_t read_shader(uint32_t* words, size_t capacity) {
  static const unsigned char magic[4] = {3, 2, 0x23, 7};
  size_t at = 8;
  uint64_t count;
  while (at + 4 < payload_bytes && memcmp(payload + at, magic, 4) != 0) ++at;
  memcpy(&count, payload + at - 8, 8);
  if (count * 4 > capacity || at + count * 4 > payload_bytes) exit(2);
  memcpy(words, payload + at, count * 4);
  return count * 4;
}

static void make_pipeline(void) {
  static uint32_t words[4096];
  VkShaderModuleCreateInfo of_shader = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  VkDescriptorSetLayoutCreateInfo of_set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  VkPipelineLayoutCreateInfo of_layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkComputePipelineCreateInfo of_pipeline = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  VkDescriptorUpdateTemplateCreateInfo of_update = {VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  VkDescriptorUpdateTemplateEntry entry = {0, 0, 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0, sizeof(VkDescriptorBufferInfo)};
  VkDescriptorSetLayoutBinding bindings[2];
  VkDescriptorSetLayout set;
  int i;
  of_shader.codeSize = read_shader(words, sizeof words);
  memset(bindings, 0, sizeof bindings);
  for (i = 0; i < 2; ++i) {
    bindings[i].binding = (uint32_t)i;
    bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  of_set.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
  of_set.bindingCount = 2;
  of_set.pBindings = bindings;
  check(vkCreateDescriptorSetLayout(device, &of_set, NULL, &set), "vkCreateDescriptorSetLayout");
  of_layout.setLayoutCount = 1;
  of_layout.pSetLayouts = &set;
  check(vkCreatePipelineLayout(device, &of_layout, NULL, &layout), "vkCreatePipelineLayout");
  of_update.descriptorUpdateEntryCount = 1;
  of_update.pDescriptorUpdateEntries = &entry;
  of_update.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR;
  of_update.pipelineBindPoint = VK_PIPELINE_BIND_POINT_COMPUTE;
  of_update.pipelineLayout = layout;
  check(vkCreateDescriptorUpdateTemplate(device, &of_update, NULL, &update), "vkCreateDescriptorUpdateTemplate");
  of_shader.pCode = words;
  of_pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  of_pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  of_pipeline.stage.pName = "add_one_kernel";
  of_pipeline.layout = layout;
  check(vkCreateShaderModule(device, &of_shader, NULL, &of_pipeline.stage.module), "vkCreateShaderModule");
  check(vkCreateComputePipelines(device, NULL, 1, &of_pipeline, NULL, &pipeline), "vkCreateComputePipelines");
}

static void make_places(void) {
  VkCommandPoolCreateInfo of_pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkCommandBufferAllocateInfo of_commands = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  VkFenceCreateInfo of_fence = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  int i;
  of_pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  of_fence.flags = VK_FENCE_CREATE_SIGNALED_BIT;
  for (i = 0; i < PLACES; ++i) {
    check(vkCreateCommandPool(device, &of_pool, NULL, &places[i].pool), "vkCreateCommandPool");
    of_commands.commandPool = places[i].pool;
    of_commands.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(device, &of_commands, &places[i].commands), "vkAllocateCommandBuffers");
    check(vkCreateFence(device, &of_fence, NULL, &places[i].fence), "vkCreateFence");
  }
}

static void begin(Place* place) {
  VkCommandBufferBeginInfo how = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  how.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkWaitForFences(device, 1, &place->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  check(vkResetCommandPool(device, place->pool, 0), "vkResetCommandPool");
  check(vkBeginCommandBuffer(place->commands, &how), "vkBeginCommandBuffer");
  vkCmdBindPipeline(place->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
}

static void submit(Place* place) {
  VkSubmitInfo what = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  what.commandBufferCount = 1;
  what.pCommandBuffers = &place->commands;
  check(vkEndCommandBuffer(place->commands), "vkEndCommandBuffer");
  check(vkResetFences(device, 1, &place->fence), "vkResetFences");
  check(vkQueueSubmit(queue, 1, &what, place->fence), "vkQueueSubmit");
  vkGetFenceStatus(device, place->fence);
}

static void launch(Place* place) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = barrier.srcAccessMask | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  vkCmdPushDescriptorSetWithTemplateKHR(place->commands, update, layout, 0, buffers);
  vkCmdDispatch(place->commands, 1, 1, 1);
  vkCmdPipelineBarrier(place->commands, stages, stages, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static void open_driver(void) {
  int i;
  open_device();
  make_pipeline();
  make_places();
  for (i = 0; i < 2; ++i) {
    buffers[i].buffer = new_buffer();
    buffers[i].range = VK_WHOLE_SIZE;
  }
}

/* Measures a round by plain driver calls, in microseconds per launch. */
static double round_of_driver(void) {
  double start = now();
  int i, count = 0, limit = SMALLEST;
  for (i = 0; i < LAUNCHES; ++i) {
    Place* place = &places[place_at];
    if (count == 0) begin(place);
    launch(place);
    if (++count < limit && i + 1 < LAUNCHES) continue;
    submit(place);
    if (i + 1 == LAUNCHES) check(vkWaitForFences(device, 1, &place->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    place_at = (place_at + 1) % PLACES;
    count = 0;
    if (limit < LARGEST) limit *= 2;
  }
  return (now() - start) / LAUNCHES;
}

static TVMFFIObjectHandle buffer_of_4096(void) {
  static const int64_t shape[1] = {1024};
  FerriteTensor prototype;
  TVMFFIObjectHandle tensor;
  ferrite_tensor_init(&prototype, NULL, kDLFloat, 32, 1, shape);
  prototype.dl.device.device_type = kDLVulkan;
  ferrite_check(TVMFFIEnvTensorAlloc(&prototype.dl, &tensor), "TVMFFIEnvTensorAlloc");
  return tensor;
}

static TVMFFIAny data_of(TVMFFIObjectHandle tensor) {
  TVMFFIAny value = ferrite_none();
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = ((DLTensor*)((TVMFFIObject*)tensor + 1))->data;
  return value;
}

static void open_library(const char* path) {
  FILE* file = fopen(path, "rb");
  TVMFFIByteArray bytes = {payload, 0}, wait = {"runtime.Device_StreamSync", 25};
  TVMFFIAny args[3], module, found;
  if (file == NULL || (bytes.size = fread(payload, 1, sizeof payload, file)) == sizeof payload) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  fclose(file);
  payload_bytes = bytes.size;
  ferrite_check(TVMFFIBytesFromByteArray(&bytes, &args[0]), "TVMFFIBytesFromByteArray");
  ferrite_check(ferrite_call_global("ffi.Module.load_from_bytes.vulkan", args, 1, &module), path);
  args[0] = module;
  args[1] = ferrite_str("add_one_kernel");
  args[2] = ferrite_bool(0);
  ferrite_check(ferrite_call_global("ffi.ModuleGetFunction", args, 3, &found), "ffi.ModuleGetFunction");
  library.kernel = found.v_obj;
  library.args[0] = data_of(buffer_of_4096());
  library.args[1] = data_of(buffer_of_4096());
  library.args[2] = ferrite_int(1);
  library.args[3] = ferrite_int(64);
  ferrite_check(TVMFFIFunctionGetGlobal(&wait, &library.wait), "TVMFFIFunctionGetGlobal");
}

/* Measures a round through the library, in microseconds per launch. */
static double round_of_library(void) {
  TVMFFIAny wait[2], result;
  double start = now();
  int i;
  for (i = 0; i < LAUNCHES; ++i) ferrite_check(ferrite_call(library.kernel, library.args, 4, &result), "add_one_kernel");
  memset(wait, 0, sizeof wait);
  wait[0].type_index = kTVMFFIDevice;
  wait[0].v_device.device_type = kDLVulkan;
  wait[1] = ferrite_int(0);
  ferrite_check(ferrite_call(library.wait, wait, 2, &result), "runtime.Device_StreamSync");
  return (now() - start) / LAUNCHES;
}

static int compare(const void* one, const void* other) {
  double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static void print(const char* name, const double* driver, const double* of_library) {
  printf("%s %.3f %.3f %.3f\n", name, *driver, *of_library, *of_library / *driver);
}

int main(int argc, char** argv) {
  static double of_driver[MAX_ROUNDS], of_library[MAX_ROUNDS];
  int rounds = argc > 2 ? atoi(argv[2]) : 200, i;
  if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS) {
    fprintf(stderr, "usage: launch_cost PAYLOAD [ROUNDS]\n");
    return 2;
  }
  open_library(argv[1]);
  open_driver();
  round_of_driver();
  round_of_library();
  for (i = 0; i < rounds; ++i) {
    of_driver[i] = round_of_driver();
    of_library[i] = round_of_library();
  }
  qsort(of_driver, (size_t)rounds, sizeof(double), compare);
  qsort(of_library, (size_t)rounds, sizeof(double), compare);
  printf("microseconds per launch, %d rounds of %d, driver library ratio\n", rounds, LAUNCHES);
  print("shortest", of_driver, of_library);
  print("quarter", of_driver + rounds / 4, of_library + rounds / 4);
  print("median", of_driver + rounds / 2, of_library + rounds / 2);
  return 0;
}
