/* check.h: checks shared by the programs of this folder. */
#ifndef CHECK_H_
#define CHECK_H_

#include <tvm/ffi/c_api.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm_ffi_platform.h>

#include "ffi.h"
#include "print.h"

extern int failures;

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
void check(int holds, const char* condition, int line);

/* Checks that a call fails with an error of this kind, whose message contains these words. */
#define REFUSED(call, kind, words) (CHECK((call) != 0), CHECK(raised_is(kind, words)))

/* Creates a string object of this size in bytes. */
int make_string(size_t size, TVMFFIAny* string);

#endif /* CHECK_H_ */
