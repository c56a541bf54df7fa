/* Calls functions of two libraries by their headers. Prints the results. usage: client */
#include <stdio.h>

#include "kernels.h"
#include "names.h"

static int failed(const char *what) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell *cell;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return printf("%s: no error\n", what);
  cell = (const TVMFFIErrorCell *)((const char *)error + sizeof(TVMFFIObject));
  printf("%s: %.*s: %.*s\n", what, (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
  return 1;
}

static DLTensor vector(float *data, int64_t *length) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 1;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = length;
  return tensor;
}

int main(void) {
  float numbers[2] = {3, 4};
  int64_t two = 2, one = 1, whole = 0;
  DLTensor x = vector(numbers, &two), shorter = vector(numbers, &one);
  TVMFFIAny cell;
  double product = 0;
  int flag = 0;
  if (kernels_dot(&x, &x, &product) != 0) return failed("dot");
  printf("dot: %g\n", product);
  if (kernels_add_one(&x, &x) != 0) return failed("add_one");
  printf("add_one: %g %g\n", numbers[0], numbers[1]);
  if (kernels_add_one(&x, &shorter) != 0) failed("add_one");
  if (names_class(&whole) != 0) return failed("class");
  printf("class: %d\n", (int)whole);
  if (names_int(-2.5, &whole) != 0) return failed("int");
  printf("int: %d\n", (int)whole);
  if (names_super(1, &flag) != 0) return failed("super");
  printf("super: %d\n", flag);
  if (names_load("x", &cell) != 0) return failed("load");
  printf("load: %s\n", cell.type_index == kTVMFFIStr ? "a String" : "another type");
  ferrite_stub_release(&cell);
  cell = ferrite_stub_int(3);
  if (names_plain(&cell, 1, &cell) != 0) return failed("plain");
  printf("plain: %d\n", (int)cell.v_int64);
  if (names_edge_int(5, &whole) != 0) return failed("edge.int");
  printf("edge.int: %d\n", (int)whole);
  if (names_edge_Pair_2_get_first(NULL, &whole) != 0) failed("first");
  return 0;
}
