/* @NAME@.h: the model @NAME@. */
#ifndef @MODEL@_H_
#define @MODEL@_H_

#include <tvm_ffi_model.h>

/* @SIGNATURE@ */
#define @MODEL@_FUNCTION @FUNCTION@
enum { @MODEL@_INPUTS = @INPUTS@ };

/* Examples of the inputs: to call the model with others, set `data`. */
extern DLTensor @NAME@_inputs[];

#endif /* @MODEL@_H_ */
