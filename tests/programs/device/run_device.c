/*
 * run_device.c: runs functions compiled by TVM for a device, and compares the results with numpy's.
 *
 *   run_device TYPE LIBRARY DATA FUNCTION...
 *
 * TYPE is the number of the device type, DATA the folder with the inputs and outputs of each
 * function.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "ferrite_util.h"

enum { MAX_ARGUMENTS = 6, MAX_BYTES = 1 << 16, CALLS = 20 };

typedef struct {
  const char* name;
  const char* tensors[MAX_ARGUMENTS]; /* the last one is the output */
  int has_scalars;                    /* 1: a float and an int; 2: a wide int */
  double tolerance;
} Function;

static const Function functions[] = {
    {"add_one", {"x", "y"}, 0, 0.0},
    {"axpy_dyn", {"x", "y"}, 1, 1e-5},
    {"scale_i64", {"x", "y"}, 2, 0.0},
    {"matmul", {"A", "B", "C"}, 0, 1e-4},
    {"softmax", {"x", "y"}, 0, 1e-5},
    {"mlp", {"x", "w1", "b1", "w2", "b2", "out"}, 0, 1e-3},
    {"reverse_dynshared", {"x", "y"}, 0, 0.0},
};

static int device_type;
static int checks, failures;

static void check(int holds, const char* what) {
  ++checks;
  if (!holds) {
    ++failures;
    printf("  FAILED: %s\n", what);
  }
}

/* Array of a .npy file, which has a string header followed by the elements. */
typedef struct {
  int is_int;
  int ndim;
  int64_t shape[FERRITE_MAX_NDIM];
  size_t bytes;
  union {
    float floats[MAX_BYTES / 4];
    int64_t ints[MAX_BYTES / 8];
  } data;
} Array;

static void read_array(const char* folder, const char* function, const char* name, Array* array) {
  char path[1024];
  unsigned char start[10];
  char header[1024];
  size_t header_bytes;
  const char* at;
  FILE* file;
  sprintf(path, "%.500s/%.100s/%.100s.npy", folder, function, name);
  file = fopen(path, "rb");
  if (file == NULL || fread(start, 1, 10, file) != 10) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  header_bytes = start[8] + 256u * start[9];
  if (header_bytes >= sizeof header || fread(header, 1, header_bytes, file) != header_bytes) exit(2);
  header[header_bytes] = '\0';
  array->is_int = strstr(header, "<i8") != NULL;
  array->ndim = 0;
  array->bytes = array->is_int ? 8 : 4;
  at = strchr(header, '(') + 1;
  while (*at != ')' && array->ndim < FERRITE_MAX_NDIM) {
    array->shape[array->ndim] = strtol(at, (char**)&at, 10);
    array->bytes *= (size_t)array->shape[array->ndim++];
    while (*at == ',' || *at == ' ') ++at;
  }
  if (array->bytes > MAX_BYTES || fread(&array->data, 1, array->bytes, file) != array->bytes) exit(2);
  fclose(file);
}

/* Creates a tensor on the device; `*record` is its DLTensor. */
static TVMFFIObjectHandle device_tensor(const Array* like, DLTensor** record) {
  FerriteTensor prototype;
  TVMFFIObjectHandle tensor;
  ferrite_tensor_init(&prototype, NULL, like->is_int ? kDLInt : kDLFloat, like->is_int ? 64 : 32, like->ndim, like->shape);
  prototype.dl.device.device_type = (DLDeviceType)device_type;
  ferrite_check(TVMFFIEnvTensorAlloc(&prototype.dl, &tensor), "TVMFFIEnvTensorAlloc");
  *record = (DLTensor*)((TVMFFIObject*)tensor + 1);
  return tensor;
}

static TVMFFIAny pointer(void* address) {
  TVMFFIAny value = ferrite_none();
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = address;
  return value;
}

static void copy(const char* name, TVMFFIObjectHandle tensor, void* data, size_t bytes) {
  TVMFFIAny args[3], result;
  args[0] = ferrite_object(tensor);
  args[1] = pointer(data);
  args[2] = ferrite_int((int64_t)bytes);
  ferrite_check(ferrite_call_global(name, args, 3, &result), name);
}

/* Returns the largest difference from the expected output. */
static double largest_error(const Array* expected, const Array* found) {
  double largest = 0;
  size_t i, count = expected->bytes / (expected->is_int ? 8 : 4);
  for (i = 0; i < count; ++i) {
    double error;
    if (expected->is_int) {
      error = expected->data.ints[i] != found->data.ints[i];
    } else {
      error = fabs((double)expected->data.floats[i] - (double)found->data.floats[i]);
    }
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

static int add_scalars(int which, TVMFFIAny* args, int count) {
  if (which == 1) {
    args[count] = ferrite_none();
    args[count].type_index = kTVMFFIFloat;
    args[count++].v_float64 = 2.5;
    args[count++] = ferrite_int(-3);
  } else if (which == 2) {
    args[count++] = ferrite_int(((int64_t)1 << 33) + 1);
  }
  return count;
}

/* Prints the device that the functions run on. */
static void print_device(void) {
  TVMFFIAny args[3], name;
  TVMFFIByteArray text;
  args[0] = ferrite_int(device_type);
  args[1] = ferrite_int(0);
  args[2] = ferrite_int(5);
  ferrite_check(ferrite_call_global("runtime.GetDeviceAttr", args, 3, &name), "runtime.GetDeviceAttr");
  text = ferrite_text(&name);
  printf("device: %.*s\n", (int)text.size, text.data);
  ferrite_release(&name);
}

/* Calls a function with empty tensors, whose kernels have nothing to do. */
static void run_empty(TVMFFIObjectHandle callee) {
  static Array empty;
  TVMFFIObjectHandle x, y;
  TVMFFIAny args[4], result;
  DLTensor* record;
  empty.ndim = 1;
  x = device_tensor(&empty, &record);
  y = device_tensor(&empty, &record);
  args[0] = ferrite_object(x);
  args[1] = ferrite_object(y);
  check(ferrite_call(callee, args, add_scalars(1, args, 2), &result) == 0, "a call with empty tensors");
  ferrite_release_object(x);
  ferrite_release_object(y);
}

static void run(TVMFFIObjectHandle module, const char* folder, const Function* function) {
  static Array arrays[MAX_ARGUMENTS];
  static Array found;
  TVMFFIObjectHandle callee, tensors[MAX_ARGUMENTS];
  DLTensor* records[MAX_ARGUMENTS];
  TVMFFIAny args[MAX_ARGUMENTS + 2], result;
  int count = 0, total, call, i;
  double error = 0;
  ferrite_check(ferrite_module_function(module, function->name, &callee), function->name);
  while (count < MAX_ARGUMENTS && function->tensors[count] != NULL) {
    read_array(folder, function->name, function->tensors[count], &arrays[count]);
    tensors[count] = device_tensor(&arrays[count], &records[count]);
    args[count] = ferrite_object(tensors[count]);
    copy("runtime.TVMTensorCopyFromBytes", tensors[count], &arrays[count].data, arrays[count].bytes);
    ++count;
  }
  total = add_scalars(function->has_scalars, args, count);
  for (call = 0; call < CALLS; ++call) {
    found = arrays[count - 1];
    memset(&found.data, 0, found.bytes);
    copy("runtime.TVMTensorCopyFromBytes", tensors[count - 1], &found.data, found.bytes);
    ferrite_check(ferrite_call(callee, args, total, &result), function->name);
    copy("runtime.TVMTensorCopyToBytes", tensors[count - 1], &found.data, found.bytes);
    error = largest_error(&arrays[count - 1], &found);
    check(error <= function->tolerance, function->name);
  }
  printf("%s: %d calls, largest error %g, allowed %g\n", function->name, CALLS, error, function->tolerance);
  /* Host code rejects a device other than the kernels', and data with an offset. */
  records[0]->device.device_type = kDLCPU;
  check(ferrite_call(callee, args, total, &result) != 0, "a tensor of the CPU is refused");
  ferrite_print_raised(stdout, "    ");
  records[0]->device.device_type = (DLDeviceType)device_type;
  records[0]->byte_offset = 4;
  check(ferrite_call(callee, args, total, &result) != 0, "an offset is refused");
  ferrite_print_raised(stdout, "    ");
  records[0]->byte_offset = 0;
  if (function->has_scalars == 1) run_empty(callee);
  for (i = 0; i < count; ++i) ferrite_release_object(tensors[i]);
  ferrite_release_object(callee);
}

int main(int argc, char** argv) {
  TVMFFIObjectHandle module;
  size_t known;
  int i;
  if (argc < 5) {
    fprintf(stderr, "usage: run_device TYPE LIBRARY DATA FUNCTION...\n");
    return 2;
  }
  device_type = atoi(argv[1]);
  print_device();
  ferrite_check(ferrite_module_load(argv[2], &module), argv[2]);
  for (i = 4; i < argc; ++i) {
    for (known = 0; known < sizeof functions / sizeof functions[0]; ++known) {
      if (strcmp(functions[known].name, argv[i]) == 0) run(module, argv[3], &functions[known]);
    }
  }
  ferrite_release_object(module);
  printf("total: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
