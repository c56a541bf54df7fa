/*
 * model_no_mappings.c: loads a model with its parameters, calls it by name and releases it, while
 * the system refuses mappings of memory: each call gives an error or its result.
 *
 *   model_no_mappings MODELS        # the folder models
 */
#include "../../robustness/resources/refused_mappings.h"

#include <malloc.h>
#include <tvm_ffi_model.h>

enum { INPUT = 64, OUTPUT = 10 };

static int8_t input[INPUT];
static int32_t expected[OUTPUT];
static char bytecode[512], compiled[512], parameters_file[512];

static int make_path(char* path, const char* models, const char* name) {
  return snprintf(path, 512, "%s/mlp_i8/%s", models, name) < 512;
}

/* Reads the elements of a file of numpy, which are its last bytes. */
static int read_elements(const char* models, const char* name, void* elements, size_t bytes) {
  char path[512];
  FILE* file = make_path(path, models, name) ? fopen(path, "rb") : NULL;
  int good = file != NULL && fseek(file, -(long)bytes, SEEK_END) == 0 && fread(elements, 1, bytes, file) == bytes;
  if (file != NULL) {
    fclose(file);
  }
  return good;
}

static int call(TVMFFIObjectHandle model, TVMFFIObjectHandle parameters) {
  static const char* const names[] = {"x"};
  int64_t shape[2] = {1, INPUT};
  DLTensor tensor;
  TVMFFIAny arg = any_none();
  TVMFFIAny result = any_none();
  const DLTensor* output;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = input;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 2;
  tensor.dtype.code = kDLInt;
  tensor.dtype.bits = 8;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  arg.type_index = kTVMFFIDLTensorPtr;
  arg.v_ptr = &tensor;
  if (!works(FerriteModelCallNamed(model, "main", names, &arg, 1, parameters, &result))) {
    CHECK(result.type_index == kTVMFFINone);
    return 0;
  }
  if (CHECK(result.type_index == kTVMFFITensor)) {
    output = CELL(DLTensor, result.v_obj);
    CHECK(output->ndim == 2 && output->shape[1] == OUTPUT && memcmp(output->data, expected, sizeof(expected)) == 0);
  }
  release_any(&result);
  return 1;
}

static int run_model(const char* path) {
  TVMFFIObjectHandle model = NULL;
  TVMFFIObjectHandle parameters = NULL;
  int good;
  malloc_trim(0); /* the heap has no room left, so that it grows with each block */
  if (!works(FerriteModelLoad(path, &model))) {
    CHECK(model == NULL);
    return 0;
  }
  good = works(FerriteModelLoadParameters(parameters_file, &parameters));
  CHECK(good == (parameters != NULL));
  /* Twice, since the first call makes what later ones use. */
  good = good && call(model, parameters);
  good = parameters != NULL && call(model, parameters) && good;
  if (parameters != NULL) {
    TVMFFIObjectDecRef(parameters);
  }
  TVMFFIObjectDecRef(model);
  return good;
}

static int run_bytecode(void) { return run_model(bytecode); }

static int run_compiled(void) { return run_model(compiled); }

static const scenario SCENARIOS[] = {
    {"a model in bytecode is run", run_bytecode, 1},
    {"a compiled model is run", run_compiled, 1},
};

int main(int argc, char** argv) {
  if (argc != 2 || !make_path(bytecode, argv[1], "bytecode.so") || !make_path(compiled, argv[1], "compiled.so") ||
      !make_path(parameters_file, argv[1], "params.bin") || !read_elements(argv[1], "c0_arg0.npy", input, sizeof(input)) ||
      !read_elements(argv[1], "c0_out0.npy", expected, sizeof(expected))) {
    return 2;
  }
  /* Blocks get mappings of their own, or the heap grows for them: more calls of the system can
   * fail. */
  mallopt(M_MMAP_THRESHOLD, 64);
  mallopt(M_TOP_PAD, 0);
  mallopt(M_TRIM_THRESHOLD, 0);
  return check_scenarios("model_no_mappings", "/mlp_i8/", SCENARIOS, sizeof(SCENARIOS) / sizeof(SCENARIOS[0]));
}
