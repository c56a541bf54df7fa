/* main.c: calls the model @NAME@ on a device with the example inputs, and prints its results. */
#include <stdio.h>
#include <string.h>

#include "@NAME@.h"
#include "results.h"

enum { DEVICE = @DEVICE@, CPU = kDLCPU, POOLED = 2, MOST = @INPUTS@ + 8 };

static TVMFFIAny none(void) {
  TVMFFIAny value;
  memset(&value, 0, sizeof(value));
  return value;
}

static TVMFFIAny integer(int64_t number) {
  TVMFFIAny value = none();
  value.type_index = kTVMFFIInt;
  value.v_int64 = number;
  return value;
}

static TVMFFIAny text(const char* characters) {
  TVMFFIAny value = none();
  value.type_index = kTVMFFIRawStr;
  value.v_c_str = characters;
  return value;
}

static TVMFFIAny tensor(DLTensor* record) {
  TVMFFIAny value = none();
  value.type_index = kTVMFFIDLTensorPtr;
  value.v_ptr = record;
  return value;
}

static void release(TVMFFIAny* value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
  *value = none();
}

/* Calls a global function. */
static int call_global(const char* name, const TVMFFIAny* args, int count, TVMFFIAny* result) {
  TVMFFIByteArray key = {name, strlen(name)};
  TVMFFIObjectHandle function = NULL;
  int status;
  if (TVMFFIFunctionGetGlobal(&key, &function) != 0) return -1;
  if (function == NULL) {
    fprintf(stderr, "this library has no function %s\n", name);
    return -1;
  }
  *result = none();
  status = TVMFFIFunctionCall(function, (TVMFFIAny*)args, count, result);
  TVMFFIObjectDecRef(function);
  return status;
}

/* Calls a function of a module. */
static int call_method(TVMFFIAny module, const char* name, const TVMFFIAny* args, int count, TVMFFIAny* result) {
  TVMFFIAny get[3] = {module, text(name), integer(0)}, function;
  int status;
  get[2].type_index = kTVMFFIBool;
  if (call_global("ffi.ModuleGetFunction", get, 3, &function) != 0) return -1;
  *result = none();
  status = TVMFFIFunctionCall(function.v_obj, (TVMFFIAny*)args, count, result);
  release(&function);
  return status;
}

/* Prints a result, which is in the device's memory. */
static int print_copy(const TVMFFIAny* result) {
  if (result->type_index == kTVMFFITensor) {
    TVMFFIAny args[3] = {*result, integer(CPU), integer(0)}, copy;
    if (call_global("vm.builtin.to_device", args, 3, &copy) != 0) return -1;
    print_result(&copy);
    release(&copy);
  } else if (result->type_index == kTVMFFIArray) {
    const TVMFFISeqCell* array = (const TVMFFISeqCell*)(result->v_obj + 1);
    for (int64_t at = 0; at < array->size; ++at) {
      if (print_copy((const TVMFFIAny*)array->data + at) != 0) return -1;
    }
  }
  return 0;
}

static int run(const char* path) {
  TVMFFIAny args[MOST], library, machine, nothing, result;
  args[0] = text(path);
  if (call_global("ffi.ModuleLoadFromFile", args, 1, &library) != 0) return -1;
  if (call_method(library, "vm_load_executable", NULL, 0, &machine) != 0) return -1;
  /* The model runs on the first device; the last one holds shapes. */
  const TVMFFIAny devices[6] = {integer(DEVICE), integer(0), integer(POOLED), integer(CPU), integer(0), integer(POOLED)};
  if (call_method(machine, "vm_initialization", devices, 6, &nothing) != 0) return -1;
  /* Copies the inputs to the device. */
  args[0] = text(@MODEL@_FUNCTION);
  for (int at = 0; at < @MODEL@_INPUTS; ++at) args[at + 1] = tensor(&@NAME@_inputs[at]);
  if (call_method(machine, "set_input", args, @MODEL@_INPUTS + 1, &nothing) != 0) return -1;
  if (call_method(machine, "invoke_stateful", args, 1, &nothing) != 0) return -1;
  if (call_method(machine, "get_output", args, 1, &result) != 0) return -1;
  if (print_copy(&result) != 0) return -1;
  release(&result);
  release(&machine);
  release(&library);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL.so\n", argv[0]);
    return 2;
  }
  if (run(argv[1]) == 0) return 0;
  print_raised();
  return 1;
}
