/*
 * digits.c: classifies a picture with a network that TVM compiled: names and types of the inputs,
 * weights from a file, memory, and a model for another thread.
 *
 *   digits LIBRARY PARAMETERS        # models/mlp_i8/bytecode.so models/mlp_i8/params.bin
 */
#include <stdio.h>
#include <string.h>

#include <tvm_ffi_model.h>

static const char PICTURE[] =
    "   ##   "
    "  ###   "
    " ####   "
    "   ##   "
    "   ##   "
    "   ##   "
    "   ##   "
    "  ####  ";

/* Prints the raised error, and returns the exit status of the program. */
static int failed(void) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  TVMFFIErrorMoveFromRaised(&error);
  cell = (const TVMFFIErrorCell*)((TVMFFIObject*)error + 1); /* the content of an object follows its header */
  fprintf(stderr, "%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
  return 1;
}

static int print_inputs(TVMFFIObjectHandle model) {
  int32_t count, input, ndim, axis;
  if (FerriteModelNumInputs(model, "main", &count) != 0) return failed();
  for (input = 0; input < count; ++input) {
    TVMFFIByteArray name;
    DLDataType dtype;
    int64_t shape[8];
    if (FerriteModelInputName(model, "main", input, &name) != 0) return failed();
    if (FerriteModelInputType(model, "main", input, &dtype, &ndim, shape, 8) != 0) return failed();
    printf("input %-2.*s  int%-2d ", (int)name.size, name.data, dtype.bits);
    for (axis = 0; axis < ndim && axis < 8; ++axis) printf(" %ld", (long)shape[axis]);
    printf("\n");
  }
  return 0;
}

/* Classifies the picture: the input has a name, and the weights come from a map. */
static int classify(TVMFFIObjectHandle model, TVMFFIObjectHandle parameters, int* digit) {
  static const char* const names[] = {"x"};
  int8_t pixels[64];
  int64_t shape[] = {1, 64};
  DLTensor x;
  TVMFFIAny value, result;
  const int32_t* scores;
  int i;
  for (i = 0; i < 64; ++i) pixels[i] = PICTURE[i] == '#' ? 127 : 0;
  memset(&x, 0, sizeof(x));
  memset(&value, 0, sizeof(value));
  memset(&result, 0, sizeof(result));
  x.data = pixels;
  x.device.device_type = kDLCPU;
  x.ndim = 2;
  x.dtype.code = kDLInt;
  x.dtype.bits = 8;
  x.dtype.lanes = 1;
  x.shape = shape;
  value.type_index = kTVMFFIDLTensorPtr; /* a borrowed tensor; the model uses its data in place */
  value.v_ptr = &x;
  if (FerriteModelCallNamed(model, "main", names, &value, 1, parameters, &result) != 0) return failed();
  scores = ((const DLTensor*)((TVMFFIObject*)result.v_obj + 1))->data;
  *digit = 0;
  for (i = 1; i < 10; ++i) {
    if (scores[i] > scores[*digit]) *digit = i;
  }
  TVMFFIObjectDecRef(result.v_obj); /* the result is yours */
  return 0;
}

int main(int argc, char** argv) {
  TVMFFIObjectHandle model, parameters, other;
  size_t used, peak;
  int digit, status;
  if (argc != 3) return 2;
  if (FerriteModelLoad(argv[1], &model) != 0) return failed();
  if (FerriteModelLoadParameters(argv[2], &parameters) != 0) return failed();
  if ((status = print_inputs(model)) != 0) return status;
  if ((status = classify(model, parameters, &digit)) != 0) return status;
  printf("digit %d\n", digit);
  if (FerriteModelMemory(model, &used, &peak) != 0) return failed();
  printf("%lu bytes at most for tensors\n", (unsigned long)peak);

  /* A model serves one thread at a time. Another thread would use this one, over the same
   * kernels. */
  if (FerriteModelDuplicate(model, &other) != 0) return failed();
  TVMFFIObjectDecRef(model);
  if ((status = classify(other, parameters, &digit)) != 0) return status;
  printf("its duplicate says %d\n", digit);
  TVMFFIObjectDecRef(other);
  TVMFFIObjectDecRef(parameters);
  return 0;
}
