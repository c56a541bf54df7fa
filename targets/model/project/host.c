/* main.c: calls the model @NAME@ with the example inputs, and prints its results. */
#include <stdio.h>

#include "@NAME@.h"
#include "results.h"

static int call(TVMFFIObjectHandle model) {
  TVMFFIAny args[@MODEL@_INPUTS + 1] = {{0}}, result = {0};
  for (int at = 0; at < @MODEL@_INPUTS; ++at) {
    args[at].type_index = kTVMFFIDLTensorPtr;
    args[at].v_ptr = &@NAME@_inputs[at];
  }
  if (FerriteModelCall(model, @MODEL@_FUNCTION, args, @MODEL@_INPUTS, &result) != 0) return -1;
  print_result(&result);
  if (result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  return 0;
}

int main(int argc, char** argv) {
  TVMFFIObjectHandle model = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL.so\n", argv[0]);
    return 2;
  }
  if (FerriteModelLoad(argv[1], &model) != 0 || call(model) != 0) {
    print_raised();
    return 1;
  }
  TVMFFIObjectDecRef(model);
  return 0;
}
