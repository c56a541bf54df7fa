/* signature.h: types of functions, from the metadata of a library. */
#ifndef SIGNATURE_H_
#define SIGNATURE_H_

#include <tvm/ffi/c_api.h>

/* Prints parameters and result, such as `(0: int, 1: Array<float>) -> float`, of metadata in JSON.
 * Prints nothing if it has no type. */
void signature_print(const TVMFFIByteArray* metadata);

#endif /* SIGNATURE_H_ */
