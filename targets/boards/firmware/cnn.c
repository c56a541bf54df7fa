/* cnn.c: the smallest firmware around a compiled network: classifies 20 pictures. */
#include <cnn_f32/data.h>

#include "board.h"
#include "ffi.h"
#include "print.h"
#include "profile.h"

enum { PICTURES = 20, PIXELS = 64, DIGITS = 10 };

int32_t __tvm_ffi_cnn_f32(void*, void*, int32_t, void*);

/* Compact and of floats. DLPack has no const: the network only reads what is in flash. */
static DLTensor tensor(const float* data, const int64_t* shape, int32_t ndim) {
  DLTensor tensor = {NULL, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  tensor.data = (void*)data;
  tensor.shape = (int64_t*)shape;
  tensor.ndim = ndim;
  return tensor;
}

static int largest(const float* scores) {
  int i, best = 0;
  for (i = 1; i < DIGITS; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

/* The digit in a picture; -1 with the error raised. */
static int classify(TVMFFIObjectHandle network, const float* picture) {
  static const int64_t picture_shape[] = {1, 1, 8, 8}, scores_shape[] = {1, DIGITS};
  float scores[DIGITS];
  TVMFFIAny args[6], result = any_none();
  DLTensor tensors[6];
  int i;
  tensors[0] = tensor(picture, picture_shape, 4);
  tensors[1] = tensor(cnn_f32_wc, cnn_f32_wc_shape, cnn_f32_wc_ndim);
  tensors[2] = tensor(cnn_f32_bc, cnn_f32_bc_shape, cnn_f32_bc_ndim);
  tensors[3] = tensor(cnn_f32_wd, cnn_f32_wd_shape, cnn_f32_wd_ndim);
  tensors[4] = tensor(cnn_f32_bd, cnn_f32_bd_shape, cnn_f32_bd_ndim);
  tensors[5] = tensor(scores, scores_shape, 2);
  for (i = 0; i < 6; ++i) args[i] = any_tensor(&tensors[i]);
  if (TVMFFIFunctionCall(network, args, 6, &result) != 0) return -1;
  return largest(scores);
}

int main(void) {
  TVMFFIObjectHandle network;
  int i, right = 0;
  if (profile_start() != 0 || set_global_compiled("cnn", __tvm_ffi_cnn_f32) != 0 || get_global("cnn", &network) != 0) {
    print_raised();
    return 1;
  }
  for (i = 0; i < PICTURES; ++i) {
    int digit = classify(network, cnn_f32_x + i * PIXELS);
    if (digit < 0) print_raised();
    right += digit == (int)cnn_f32_label[i];
  }
  print_row_start("20 pictures");
  print_text(right == PICTURES ? "ok, " : "FAILED, ");
  print_number((uint32_t)right);
  print_text(" of 20 digits");
  print_row_end();
  print_stack();
  return right == PICTURES ? 0 : 1;
}
