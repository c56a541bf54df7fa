/* model_support.h: what the programs that check tvm_ffi_model.h share: checks, and the model mlp_i8
 * with its files. */
#ifndef FERRITE_TESTS_RELAX_MODEL_SUPPORT_H_
#define FERRITE_TESTS_RELAX_MODEL_SUPPORT_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm_ffi_model.h>

enum { INPUT = 64, OUTPUT = 10 };

/* ---- checks ---- */

static int check(int holds, const char* what, const char* file, int line) {
  if (!holds) {
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    exit(1);
  }
  return holds;
}
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

/* Whether the raised error, which is taken, is of this kind and has these words. */
static int raised(const char* kind, const char* words) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  int same;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return 0;
  cell = (const TVMFFIErrorCell*)((TVMFFIObject*)error + 1);
  same = strlen(kind) == cell->kind.size && memcmp(cell->kind.data, kind, cell->kind.size) == 0 &&
         strstr(cell->message.data, words) != NULL;
  if (!same) fprintf(stderr, "%s: %s\n", cell->kind.data, cell->message.data);
  TVMFFIObjectDecRef(error);
  return same;
}
#define FAILS(call, kind, words) CHECK((call) == -1 && raised(kind, words))

static int is_named(TVMFFIByteArray name, const char* expected) {
  return name.size == strlen(expected) && memcmp(name.data, expected, name.size) == 0;
}

/* ---- files and values ---- */

static char folder[512];

static int set_folder(const char* path) {
  if (strlen(path) >= sizeof(folder)) return 0;
  strcpy(folder, path);
  return 1;
}

static const char* path_of(const char* name) {
  static char path[1024];
  strcpy(path, folder);
  strcat(path, "/mlp_i8/");
  return strcat(path, name);
}

static char* read_file(const char* name, size_t* size) {
  static char content[1 << 16];
  FILE* file = fopen(path_of(name), "rb");
  char* copy;
  CHECK(file != NULL);
  *size = fread(content, 1, sizeof(content), file);
  fclose(file);
  copy = malloc(*size);
  CHECK(copy != NULL);
  return memcpy(copy, content, *size);
}

/* Reads the elements of a file of numpy, which are its last bytes. */
static void read_elements(const char* name, void* elements, size_t bytes) {
  size_t size;
  char* content = read_file(name, &size);
  CHECK(size > bytes);
  memcpy(elements, content + size - bytes, bytes);
  free(content);
}

typedef struct {
  int8_t data[INPUT];
  int64_t shape[2];
  DLTensor tensor;
  TVMFFIAny any;
} Input;

static void make_input(Input* input) {
  memset(input, 0, sizeof(*input));
  read_elements("c0_arg0.npy", input->data, sizeof(input->data));
  input->shape[0] = 1;
  input->shape[1] = INPUT;
  input->tensor.data = input->data;
  input->tensor.device.device_type = kDLCPU;
  input->tensor.ndim = 2;
  input->tensor.dtype.code = kDLInt;
  input->tensor.dtype.bits = 8;
  input->tensor.dtype.lanes = 1;
  input->tensor.shape = input->shape;
  input->any.type_index = kTVMFFIDLTensorPtr;
  input->any.v_ptr = &input->tensor;
}

static int is_expected(TVMFFIAny result) {
  static int32_t expected[OUTPUT];
  static int is_read = 0;
  const DLTensor* tensor;
  if (!is_read) read_elements("c0_out0.npy", expected, sizeof(expected));
  is_read = 1;
  if (result.type_index != kTVMFFITensor) return 0;
  tensor = (const DLTensor*)((TVMFFIObject*)result.v_obj + 1);
  return tensor->ndim == 2 && tensor->shape[1] == OUTPUT && memcmp(tensor->data, expected, sizeof(expected)) == 0;
}

static TVMFFIAny none(void) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  return any;
}

static void release(TVMFFIObjectHandle* object) {
  if (*object != NULL) TVMFFIObjectDecRef(*object);
  *object = NULL;
}

static const char* const X[] = {"x"};

static int call_named(TVMFFIObjectHandle model, const Input* input, TVMFFIObjectHandle parameters, TVMFFIAny* result) {
  *result = none();
  return FerriteModelCallNamed(model, "main", X, &input->any, 1, parameters, result);
}

static void call_and_compare(TVMFFIObjectHandle model, const Input* input, TVMFFIObjectHandle parameters) {
  TVMFFIAny result;
  CHECK(call_named(model, input, parameters, &result) == 0);
  CHECK(is_expected(result));
  TVMFFIObjectDecRef(result.v_obj);
}

/* Returns the arguments of `main` in order: the input, and the tensors of the parameters. */
static void in_order(const Input* input, TVMFFIObjectHandle parameters, TVMFFIAny* args) {
  static const char* const names[] = {"w1", "b1", "w2", "b2"};
  TVMFFIByteArray key = {"ffi.MapGetItem", 14};
  TVMFFIObjectHandle get = NULL;
  int i;
  CHECK(TVMFFIFunctionGetGlobal(&key, &get) == 0 && get != NULL);
  args[0] = input->any;
  for (i = 0; i < 4; ++i) {
    TVMFFIAny map_and_key[2];
    map_and_key[0] = none();
    map_and_key[0].type_index = kTVMFFIMap;
    map_and_key[0].v_obj = parameters;
    map_and_key[1] = none();
    map_and_key[1].type_index = kTVMFFIRawStr;
    map_and_key[1].v_c_str = names[i];
    args[i + 1] = none();
    CHECK(TVMFFIFunctionCall(get, map_and_key, 2, &args[i + 1]) == 0 && args[i + 1].type_index == kTVMFFITensor);
  }
  release(&get);
}

/* Returns the module of a library. */
static TVMFFIObjectHandle module_of(const char* path) {
  TVMFFIByteArray key = {"ffi.ModuleLoadFromFile", 22};
  TVMFFIObjectHandle load = NULL;
  TVMFFIAny arg = none(), module = none();
  arg.type_index = kTVMFFIRawStr;
  arg.v_c_str = path;
  CHECK(TVMFFIFunctionGetGlobal(&key, &load) == 0 && load != NULL);
  CHECK(TVMFFIFunctionCall(load, &arg, 1, &module) == 0 && module.type_index == kTVMFFIModule);
  release(&load);
  return module.v_obj;
}

#endif /* FERRITE_TESTS_RELAX_MODEL_SUPPORT_H_ */
