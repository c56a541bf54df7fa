/* results.h: prints results of models. */
#ifndef RESULTS_H_
#define RESULTS_H_

#include <tvm/ffi/c_api.h>

/* Prints the tensors in a result, which may be an array: up to 16 values of each, and the place of
 * its largest. */
void print_result(const TVMFFIAny* result);

/* Takes the raised error and prints "KIND: message". */
void print_raised(void);

#endif /* RESULTS_H_ */
