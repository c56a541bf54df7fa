/* cnn.c: the smallest firmware with a compiled network: classifies 20 pictures. */
#include <cnn_f32/data.h>

#include "board.h"
#include "ffi.h"
#include "print.h"
#include "workspace.h"

enum { PICTURES = 20, PIXELS = 64, DIGITS = 10, ARGS = 6 };

int32_t __tvm_ffi_cnn_f32(void*, void*, int32_t, void*);

/* Arguments of the network: a picture, weights, and the scores of the digits. */
typedef struct {
  const float* data;
  const int64_t* shape;
  int32_t ndim;
} Array;

static const int64_t picture_shape[] = {1, 1, 8, 8}, scores_shape[] = {1, DIGITS};
static const Array arrays[ARGS] = {{NULL, picture_shape, 4},
                                   {cnn_f32_wc, cnn_f32_wc_shape, cnn_f32_wc_ndim},
                                   {cnn_f32_bc, cnn_f32_bc_shape, cnn_f32_bc_ndim},
                                   {cnn_f32_wd, cnn_f32_wd_shape, cnn_f32_wd_ndim},
                                   {cnn_f32_bd, cnn_f32_bd_shape, cnn_f32_bd_ndim},
                                   {NULL, scores_shape, 2}};

/* Describes a compact array of floats. DLPack has no const, but the network only reads from
 * flash. */
static void describe(DLTensor* tensor, const Array* array) {
  tensor->data = (void*)array->data;
  tensor->device.device_type = kDLCPU;
  tensor->device.device_id = 0;
  tensor->ndim = array->ndim;
  tensor->dtype.code = kDLFloat;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->shape = (int64_t*)array->shape;
  tensor->strides = NULL;
  tensor->byte_offset = 0;
}

static int largest(const float* scores) {
  int i, best = 0;
  for (i = 1; i < DIGITS; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

/* Returns the digit in a picture, or -1 with an error raised. */
static int classify(TVMFFIObjectHandle network, const float* picture) {
  float scores[DIGITS];
  DLTensor tensors[ARGS];
  TVMFFIAny args[ARGS], result = any_none();
  int i;
  for (i = 0; i < ARGS; ++i) {
    describe(&tensors[i], &arrays[i]);
    args[i] = any_tensor(&tensors[i]);
  }
  tensors[0].data = (void*)picture;
  tensors[ARGS - 1].data = scores;
  if (TVMFFIFunctionCall(network, args, ARGS, &result) != 0) return -1;
  return largest(scores);
}

int main(void) {
  TVMFFIObjectHandle network;
  int i, right = 0;
  if (workspace_start() != 0 || set_global_compiled("cnn", __tvm_ffi_cnn_f32) != 0 || get_global("cnn", &network) != 0) {
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
