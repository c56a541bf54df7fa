/* element.h: elements of tensors as numbers. */
#ifndef ELEMENT_H_
#define ELEMENT_H_

#include <tvm/ffi/c_api.h>

/* Returns an element of a compact tensor in memory: an integer, a boolean, or a number of 4 to 64
 * bits with a point. Elements of less than a byte are packed, the first in the lowest bits, except
 * booleans. The result is NaN for any other type. */
double element_of(const DLTensor* tensor, int64_t at);

#endif /* ELEMENT_H_ */
