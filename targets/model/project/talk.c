/* main.c: firmware that continues the prompt of `build.sh run PROMPT` with the language model
 * @NAME@, at temperature 0. */
#include "board.h"
#include "ffi.h"
#include "print.h"
#include "@NAME@.h"

#include <tvm_ffi_platform.h>

/* All memory of the model, with its key-value cache, whose pages are aligned to 64 bytes. */
static uint64_t arena[(@MODEL@_ARENA_BYTES + 7) / 8] __attribute__((aligned(64)));

/* The prompt, and one byte more, by which a longer one is noticed. */
static char prompt[@MODEL@_CONTEXT + 1];

static TVMFFIObjectHandle model;
static TVMFFIAny cache;

/* Calls a function of the model; -1 with an error raised. */
static int call(const char* function, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  *result = any_none();
  return FerriteModelCall(model, function, args, count, result);
}

static void release(TVMFFIAny value) {
  if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value.v_obj);
}

/* Calls a function that returns the cache. */
static int change(const char* function) {
  TVMFFIAny result;
  if (call(function, &cache, 1, &result) != 0) return -1;
  release(result);
  return 0;
}

static int32_t largest(const float* logits) {
  int32_t at, best = 0;
  for (at = 1; at < @MODEL@_TOKENS; ++at) {
    if (logits[at] > logits[best]) best = at;
  }
  return best;
}

/* Appends a token to the conversation, and stores the most probable next one. */
static int append(int32_t token, int32_t* next) {
  int64_t shape[1] = {1};
  DLTensor tensor = {&token, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, NULL, 0};
  TVMFFIAny args[2], logits;
  args[0] = any_tensor(&tensor);
  args[1] = cache;
  if (change("begin") != 0 || call("step", args, 2, &logits) != 0) return -1;
  *next = largest((const float*)((const DLTensor*)(logits.v_obj + 1))->data);
  release(logits);
  return 0;
}

/* Prints the reply, until the model ends it or the context is full. */
static int reply(int32_t next, uint32_t length) {
  uint32_t count = 0;
  while (@NAME@_byte_of_token[next] >= 0 && count < @MODEL@_REPLY) {
    char byte = (char)@NAME@_byte_of_token[next];
    print_bytes(&byte, 1);
    ++count;
    if (length++ == @MODEL@_CONTEXT) break;
    if (append(next, &next) != 0) {
      print_text("\n");
      return -1;
    }
  }
  print_text("\n");
  print_measure("tokens", count);
  return 0;
}

static int refuse(const char* before, uint32_t number, const char* behind) {
  print_text(before);
  print_number(number);
  print_text(behind);
  return 1;
}

static int talk(size_t size) {
  int32_t next = 0;
  size_t at;
  if (size == 0) return refuse("error: the prompt has ", 0, " bytes: build.sh run PROMPT\n");
  if (size > @MODEL@_CONTEXT) return refuse("error: the prompt is longer than the context of ", @MODEL@_CONTEXT, " tokens\n");
  for (at = 0; at < size; ++at) {
    int32_t token = @NAME@_token_of_byte[(unsigned char)prompt[at]];
    if (token < 0) return refuse("error: the tokenizer has no token for the byte ", (unsigned char)prompt[at], "\n");
    if (append(token, &next) != 0) return -1;
  }
  return reply(next, (uint32_t)size);
}

int main(void) {
  uint64_t start;
  int status;
  size_t size = board_argument(prompt, sizeof(prompt));
  if (FerriteMemoryAdd(arena, @MODEL@_ARENA_BYTES) != 0 || @NAME@_create(&model) != 0 || call("create", NULL, 0, &cache) != 0 ||
      change("reset") != 0) {
    print_raised();
    return 1;
  }
  start = board_instructions();
  status = talk(size);
  if (status != 0) {
    if (status < 0) print_raised();
    return 1;
  }
  print_measure("instructions", (size_t)(board_instructions() - start));
  print_measure("arena", @MODEL@_ARENA_BYTES);
  print_measure("memory", FerriteMemoryHighWater());
  print_stack();
  return 0;
}
