/* cost.c: counts the instructions of common operations of the profile `minimal`, from the symbol's
 * entry to its return. */
#include "firmware.h"

enum { ROUNDS = 256, COUNT = 16 };

/* Typical names of generated code and firmware, of 8 to 20 bytes. */
static const char* const names[COUNT] = {
    "aot.host_add",       "__tvm_ffi_main",    "__tvm_ffi_add_one", "__tvm_ffi_softmax",
    "__tvm_ffi_conv2d",   "__tvm_ffi_dense_1", "__tvm_ffi_dense_2", "__tvm_ffi_mlp_f32",
    "__tvm_ffi_cnn_f32",  "sensor.read",       "sensor.calibrate",  "led.toggle",
    "runtime.workspace",  "fft.real.256",      "uart.write_line",   "log.warn",
};

static TVMFFIAny argument, result;

static int nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* out) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)out;
  return 0;
}

/* A baseline function that only returns: two instructions, which a measured function has, too. */
static int return_1(void* a) {
  (void)a;
  return 0;
}

static int return_2(const void* a, void* b) {
  (void)a;
  (void)b;
  return 0;
}

enum { RETURN = 2 };

/* Called through pointers, so that calls of measured and baseline functions compile to the same
 * code. */
typedef int (*volatile Call)(TVMFFIObjectHandle, TVMFFIAny*, int32_t, TVMFFIAny*);
typedef int (*volatile Count)(TVMFFIObjectHandle);
typedef int (*volatile LookUp)(const TVMFFIByteArray*, TVMFFIObjectHandle*);

static TVMFFIObjectHandle function, found;
static TVMFFIByteArray key;
static int failures;

static uint32_t run_call(Call call) {
  uint64_t start = board_instructions();
  int i;
  for (i = 0; i < ROUNDS; ++i) failures += call(function, &argument, 1, &result);
  return (uint32_t)(board_instructions() - start);
}

static uint32_t run_count(Count up, Count down) {
  uint64_t start = board_instructions();
  int i;
  for (i = 0; i < ROUNDS; ++i) failures += up(function) + down(function);
  return (uint32_t)(board_instructions() - start);
}

static uint32_t run_look_up(LookUp look_up) {
  uint64_t start = board_instructions();
  int i;
  for (i = 0; i < ROUNDS; ++i) failures += look_up(&key, &found);
  return (uint32_t)(board_instructions() - start);
}

/* Returns the instructions of a call from entry to return, rounded, with `calls` calls in each
 * round. */
static uint32_t instructions(uint32_t measured, uint32_t overhead, uint32_t calls) {
  return (measured - overhead + ROUNDS / 2) / ROUNDS + calls * RETURN;
}

static void look_all_up(void) {
  uint32_t overhead = run_look_up((LookUp)(void (*)(void))return_2), sum = 0, worst = 0, one;
  int i;
  for (i = 0; i < COUNT; ++i) failures += set_global(names[i], nothing);
  for (i = 0; i < COUNT; ++i) {
    key = bytes_of(names[i]);
    found = NULL;
    one = instructions(run_look_up(TVMFFIFunctionGetGlobal), overhead, 1);
    failures += found == NULL;
    sum += one;
    if (one > worst) worst = one;
  }
  print_result("lookup", (sum + COUNT / 2) / COUNT);
  print_result("worst_lookup", worst);
}

int main(void) {
  uint32_t overhead;
  if (TVMFFIFunctionCreate(NULL, nothing, NULL, &function) != 0) return 1;
  overhead = run_call((Call)(void (*)(void))nothing);
  print_result("call", instructions(run_call(TVMFFIFunctionCall), overhead, 1));
  overhead = run_count(return_1, return_1);
  print_result("count", instructions(run_count(TVMFFIObjectIncRef, TVMFFIObjectDecRef), overhead, 2));
  look_all_up();
  return failures == 0 ? 0 : 1;
}
