/*
 * Functions and classes of kernels.so. Made by `ferrite stubs --c`; C89 and later, C++11 and later.
 *
 * Functions return 0, or -1 with an error raised, which TVMFFIErrorMoveFromRaised takes. Arguments are borrowed. Results that are
 * cells (TVMFFIAny) are the caller's: ferrite_stub_release gives them back. Link exported functions' library.
 */
#ifndef KERNELS_STUBS_H_
#define KERNELS_STUBS_H_

/* The helpers: targets/cli/src/stubs/c/helpers.h. */


FERRITE_STUB_C int __tvm_ffi_add_one(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Write x + 1 into y, element by element.
 *
 * `add_one(0: DLTensor*, 1: DLTensor*) -> None`
 */
FERRITE_STUB_INLINE int kernels_add_one(DLTensor *arg0, DLTensor *arg1) {
  TVMFFIAny cells[2];
  TVMFFIAny cell = ferrite_stub_none();
  cells[0] = ferrite_stub_dltensor(arg0);
  cells[1] = ferrite_stub_dltensor(arg1);
  if (__tvm_ffi_add_one(NULL, cells, 2, &cell) != 0) return -1;
  ferrite_stub_release(&cell);
  return 0;
}

FERRITE_STUB_C int __tvm_ffi_dot(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * The sum of the products of x and y, summed in double precision.
 *
 * `dot(0: DLTensor*, 1: DLTensor*) -> float`
 */
FERRITE_STUB_INLINE int kernels_dot(DLTensor *arg0, DLTensor *arg1, double *result) {
  TVMFFIAny cells[2];
  TVMFFIAny cell = ferrite_stub_none();
  cells[0] = ferrite_stub_dltensor(arg0);
  cells[1] = ferrite_stub_dltensor(arg1);
  if (__tvm_ffi_dot(NULL, cells, 2, &cell) != 0) return -1;
  return ferrite_stub_take_float(&cell, result);
}

#endif /* KERNELS_STUBS_H_ */
