/* model.c: minimal firmware with a whole model: an executable, its kernels, and one arena.
 * Classifies 20 pictures. */
#include <cnn_f32/data.h>
#include <tvm_ffi_model.h>
#include <tvm_ffi_platform.h>

#include "board.h"
#include "ffi.h"
#include "print.h"
#include "workspace.h"

enum { PICTURES = 20, PIXELS = 64, DIGITS = 10, SMALL_ARENA_BYTES = 3072 };

/* tests/programs/relax/cnn/executable.c */
int cnn_create(TVMFFIObjectHandle* model);

/* All memory of the model: the size of the pool in the table. */
static uint64_t arena[MODEL_ARENA_BYTES / 8];

static int largest(const float* scores) {
  int i, best = 0;
  for (i = 1; i < DIGITS; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

/* Returns the digit in a picture; -1 with the error raised. */
static int classify(TVMFFIObjectHandle model, const float* picture) {
  static const int64_t shape[] = {1, 1, 8, 8};
  DLTensor tensor = {(void*)picture, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, (int64_t*)shape, NULL, 0};
  TVMFFIAny arg = any_tensor(&tensor), scores = any_none();
  int digit;
  if (FerriteModelCall(model, "main", &arg, 1, &scores) != 0) return -1;
  /* The DLTensor of a tensor object follows its header. */
  digit = largest(((DLTensor*)(scores.v_obj + 1))->data);
  TVMFFIObjectDecRef(scores.v_obj);
  return digit;
}

static int run(TVMFFIObjectHandle model) {
  uint64_t start = 0, instructions = 0;
  int i, right = 0;
  for (i = 0; i < PICTURES; ++i) {
    int digit;
    start = board_instructions();
    digit = classify(model, cnn_f32_x + i * PIXELS);
    instructions = board_instructions() - start;
    if (digit < 0) print_raised();
    right += digit == (int)cnn_f32_label[i];
  }
  print_row_start("20 pictures");
  print_text(right == PICTURES ? "ok, " : "FAILED, ");
  print_number((uint32_t)right);
  print_text(" of 20 digits");
  print_row_end_measured((uint32_t)instructions * 10);
  return right == PICTURES;
}

/* Memory that is not enough is an error with its numbers, and what was made until then is given
 * back. */
static int fails_without_memory(void) {
  TVMFFIObjectHandle model;
  size_t used;
  if (FerriteMemoryAdd(arena, SMALL_ARENA_BYTES) != 0) return 0;
  used = FerriteMemoryUsed();
  return cnn_create(&model) != 0 && raised_is("MemoryError", "bytes") && FerriteMemoryUsed() == used;
}

/* A picture at an odd address is an error that names the argument, and the model goes on. */
static int refuses_unaligned(TVMFFIObjectHandle model) {
  static float pictures[PIXELS + 1];
  char* picture = (char*)pictures + 1;
  size_t i;
  for (i = 0; i < PIXELS * sizeof(float); ++i) picture[i] = ((const char*)cnn_f32_x)[i];
  return classify(model, (const float*)(const void*)picture) < 0 &&
         raised_is("ValueError", "argument 0 is not aligned to 4") &&
         classify(model, cnn_f32_x) == (int)cnn_f32_label[0];
}

static int print_result(const char* what, int ok) {
  print_row_start(what);
  print_text(ok ? "ok" : "FAILED");
  print_row_end();
  return ok;
}

int main(void) {
  TVMFFIObjectHandle model;
  int ok = print_result("too little memory", fails_without_memory());
  if (FerriteMemoryAdd((char*)arena + SMALL_ARENA_BYTES, sizeof(arena) - SMALL_ARENA_BYTES) != 0 ||
      workspace_start() != 0 || cnn_create(&model) != 0) {
    print_raised();
    return 1;
  }
  ok &= run(model);
  print_measure("pool", FerriteMemoryHighWater());
  workspace_print();
  print_stack();
  ok &= print_result("input not aligned", refuses_unaligned(model));
  return ok ? 0 : 1;
}
