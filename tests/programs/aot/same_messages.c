/*
 * same_messages.c: compares the errors of add_one_dyn, as TVM compiled it, with those of a kernel
 * that makes the same checks by ferrite/kernel.h, for arguments that break one rule each: the
 * header's begin with the same text, and add what was given. Linked with add_one_dyn.c.
 */
#include <stdio.h>

#include <ferrite/kernel.h>

int __tvm_ffi_add_one_dyn(void* self, void* args, int32_t num_args, void* result);

static int check_first(const FerriteTensorArg* x) {
  return ferrite_check_ndim(x, 1) || ferrite_check_dtype(x, kDLFloat, 32, 1) || ferrite_check_device(x, kDLCPU) ? -1 : 0;
}

static int by_header(const TVMFFIAny* values, int32_t count) {
  FerriteArgs args;
  FerriteTensorArg x, y;
  args.signature = "add_one_dyn(x: Tensor([n], float32), y: Tensor([n], float32))";
  args.values = values;
  args.count = count;
  if (ferrite_check_count(&args, 2)) return -1;
  if (ferrite_arg_tensor(&args, 0, "x", &x) || ferrite_arg_tensor(&args, 1, "y", &y)) return -1;
  if (check_first(&x) || check_first(&y) || ferrite_check_compact(&x) || ferrite_check_data(&x)) return -1;
  if (ferrite_check_same_extent(&y, 0, &x, 0) || ferrite_check_compact(&y) || ferrite_check_same_device(&y, &x)) return -1;
  return ferrite_check_data(&y);
}

typedef struct {
  DLTensor dl;
  int64_t shape[2];
  int64_t strides[2];
  float data[4];
} vector;

static vector x, y;
static TVMFFIAny values[2];
static int compared, differ;

static void reset(void) {
  vector* each[2];
  int i;
  each[0] = &x;
  each[1] = &y;
  for (i = 0; i < 2; i++) {
    memset(each[i], 0, sizeof(vector));
    each[i]->dl.data = each[i]->data;
    each[i]->dl.device.device_type = kDLCPU;
    each[i]->dl.ndim = 1;
    each[i]->dl.dtype.code = kDLFloat;
    each[i]->dl.dtype.bits = 32;
    each[i]->dl.dtype.lanes = 1;
    each[i]->shape[0] = 4;
    each[i]->strides[0] = 1;
    each[i]->dl.shape = each[i]->shape;
    each[i]->dl.strides = each[i]->strides;
    memset(&values[i], 0, sizeof(values[i]));
    values[i].type_index = kTVMFFIDLTensorPtr;
    values[i].v_ptr = &each[i]->dl;
  }
}

/* Takes the raised error and copies `KIND: MESSAGE` of it. */
static void take(char text[512]) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  text[0] = '\0';
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return;
  cell = (const TVMFFIErrorCell*)(const void*)((TVMFFIObject*)error + 1);
  if (cell->kind.size + cell->message.size < 500) {
    sprintf(text, "%.*s: %.*s", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  }
  TVMFFIObjectDecRef(error);
}

static void cut_from(char* text, const char* part) {
  char* at = strstr(text, part);
  if (at != NULL) *at = '\0';
}

/* Removes what the header adds to a message: the value that was given, and the one of another
 * tensor. */
static const char* strip_given(char text[512]) {
  cut_from(text, ", got ");
  cut_from(text, " = ");
  return text;
}

static void compare(const char* broken, int32_t count) {
  char expected[512], actual[512];
  TVMFFIAny result;
  memset(&result, 0, sizeof(result));
  if (__tvm_ffi_add_one_dyn(NULL, values, count, &result) != -1) printf("%s: the compiled kernel accepts it\n", broken), differ++;
  take(expected);
  if (by_header(values, count) != -1) printf("%s: the header accepts it\n", broken), differ++;
  take(actual);
  compared++;
  if (expected[0] == '\0' || strcmp(strip_given(actual), expected) != 0) {
    differ++;
    printf("%s:\n--- compiled by TVM\n%s\n--- by the header\n%s\n", broken, expected, actual);
  }
  reset();
}

int main(void) {
  reset();
  compare("count", 1);
  values[1].type_index = kTVMFFIInt;
  compare("type", 2);
  x.dl.ndim = 2;
  compare("ndim", 2);
  y.dl.dtype.bits = 64;
  compare("dtype", 2);
  x.dl.device.device_type = kDLCUDA;
  compare("device type", 2);
  x.strides[0] = 2;
  compare("strides", 2);
  x.dl.data = NULL;
  compare("data", 2);
  y.shape[0] = 3;
  compare("shape", 2);
  y.dl.device.device_id = 1;
  compare("device id", 2);
  printf("same_messages: %d compared, %d differ\n", compared, differ);
  return differ == 0 && compared == 9 ? 0 : 1;
}
