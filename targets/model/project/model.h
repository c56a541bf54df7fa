/* @NAME@.h: the model @NAME@. */
#ifndef @MODEL@_H_
#define @MODEL@_H_

#include <tvm_ffi_model.h>

/* Bytes of memory with which the model can be loaded and called, its result included. Weights are
 * in flash. */
#define @MODEL@_ARENA_BYTES @ARENA@

/* @SIGNATURE@ */
#define @MODEL@_FUNCTION @FUNCTION@
enum { @MODEL@_INPUTS = @INPUTS@ };

/* Examples of the inputs: to call the model with others, set `data`. */
extern DLTensor @NAME@_inputs[];

/* Creates the model; TVMFFIObjectDecRef releases it. Returns 0, or -1 with an error raised. */
int @NAME@_create(TVMFFIObjectHandle* model);

#endif /* @MODEL@_H_ */
