/* load_model.c LIBRARY: loads the digits network by the functions of tvm_ffi_model.h, calls it, and
 * makes mistakes. Prints "ok". */
#include <stdio.h>
#include <string.h>
#include <tvm_ffi_model.h>

/* Whether the raised error, which is taken, is of this kind and has these words. */
static int raised(const char* kind, const char* words) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorCell* cell;
  int same;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return 0;
  cell = (TVMFFIErrorCell*)((TVMFFIObject*)error + 1);
  same = strncmp(cell->kind.data, kind, cell->kind.size) == 0 && strstr(cell->message.data, words) != NULL;
  if (!same) fprintf(stderr, "%s: %s\n", cell->kind.data, cell->message.data);
  TVMFFIObjectDecRef(error);
  return same;
}

static int check(int holds, const char* what) {
  if (!holds) fprintf(stderr, "failed: %s\n", what);
  return holds;
}
#define CHECK(condition) \
  if (!check(condition, #condition)) return 1

int main(int argc, char** argv) {
  static float picture[64];
  static int64_t shape[] = {1, 1, 8, 8};
  DLTensor tensor = {picture, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape, NULL, 0};
  TVMFFIObjectHandle model = NULL, other = NULL;
  TVMFFIAny arg, result;
  TVMFFIByteArray name = {NULL, 0};
  int32_t count = 0;
  const float* scores;
  float sum = 0;
  int i;
  if (argc != 2) return 2;
  memset(&arg, 0, sizeof(arg));
  memset(&result, 0, sizeof(result));
  arg.type_index = kTVMFFIDLTensorPtr;
  arg.v_ptr = &tensor;

  CHECK(FerriteModelLoad(argv[1], &model) == 0);
  CHECK(FerriteModelLoad(argv[1], &other) == 0);
  CHECK(FerriteModelNumInputs(model, "main", &count) == 0 && count == 1);
  CHECK(FerriteModelInputName(model, "main", 0, &name) == 0 && name.size == 1 && name.data[0] == 'x');
  CHECK(FerriteModelCall(model, "main", &arg, 1, &result) == 0 && result.type_index == kTVMFFITensor);
  scores = ((DLTensor*)((TVMFFIObject*)result.v_obj + 1))->data;
  for (i = 0; i < 10; ++i) sum += scores[i];
  CHECK(sum > 0.999f && sum < 1.001f);
  /* The result outlives its model. */
  TVMFFIObjectDecRef(model);
  CHECK(scores[0] >= 0);
  TVMFFIObjectDecRef(result.v_obj);

  CHECK(FerriteModelCall(other, "main", &arg, 0, &result) == -1 && raised("InternalError", "expects 1 arguments (x)"));
  tensor.ndim = 3;
  CHECK(FerriteModelCall(other, "main", &arg, 1, &result) == -1 && raised("ValueError", "ndim 4 but get 3"));
  tensor.ndim = 4;
  CHECK(FerriteModelCall(other, "nope", &arg, 1, &result) == -1 && raised("ValueError", "Unknown function: nope"));
  CHECK(FerriteModelInputName(other, "main", 1, &name) == -1 && raised("IndexError", "no input 1"));
  CHECK(FerriteModelNumInputs(other, "nope", &count) == -1 && raised("ValueError", "Unknown function: nope"));
  CHECK(FerriteModelLoad("./nope.so", &model) == -1 && raised("InternalError", "nope.so"));
  CHECK(FerriteModelLoad(NULL, &model) == -1 && raised("ValueError", ""));
  CHECK(FerriteModelCall(NULL, "main", &arg, 1, &result) == -1 && raised("ValueError", ""));
  CHECK(FerriteModelCreate("no model", 8, NULL, 0, &model) == -1 && raised("InternalError", "header section"));
  CHECK(FerriteModelCall(other, "main", &arg, 1, &result) == 0);
  TVMFFIObjectDecRef(result.v_obj);
  TVMFFIObjectDecRef(other);
  puts("ok");
  return 0;
}
