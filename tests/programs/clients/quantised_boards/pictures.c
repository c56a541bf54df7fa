/* pictures.c: the main.c of firmware that prints what a network makes of 20 pictures: a line for
 * each, with the bits of its floats. */
#include <cnn_f32/data.h>

#include "board.h"
#include "digits.h"
#include "ffi.h"
#include "print.h"

#include <tvm_ffi_platform.h>

enum { PICTURES = 20, PIXELS = 64, DIGITS = 10 };

/* All memory of the model. */
static uint64_t arena[DIGITS_ARENA_BYTES / 8] __attribute__((aligned(16)));

static void print_scores(const DLTensor* tensor) {
  int at;
  print_text("scores");
  for (at = 0; at < DIGITS; ++at) {
    print_text("|");
    print_number(((const uint32_t*)tensor->data)[at]);
  }
  print_text("\n");
}

/* Prints the scores of a picture. Returns -1 with an error raised, if the call fails. */
static int classify(TVMFFIObjectHandle model, const float* picture) {
  TVMFFIAny argument, scores = any_none();
  uint64_t start;
  digits_inputs[0].data = (void*)picture;
  argument = any_tensor(&digits_inputs[0]);
  start = board_instructions();
  if (FerriteModelCall(model, DIGITS_FUNCTION, &argument, DIGITS_INPUTS, &scores) != 0) return -1;
  print_measure("instructions", (size_t)(board_instructions() - start));
  /* The DLTensor of a tensor object follows its header. */
  print_scores((const DLTensor*)(scores.v_obj + 1));
  TVMFFIObjectDecRef(scores.v_obj);
  return 0;
}

int main(void) {
  TVMFFIObjectHandle model = NULL;
  int at, code = FerriteMemoryAdd(arena, sizeof(arena)) != 0 || digits_create(&model) != 0;
  for (at = 0; at < PICTURES && code == 0; ++at) {
    code = classify(model, cnn_f32_x + at * PIXELS) != 0;
  }
  if (code != 0) print_raised();
  return code;
}
