/*
 * profile.h: what firmware does differently with each profile of the library; profile_NAME.c has it.
 *
 * A function that returns int answers 0 on success; otherwise an error is raised.
 */
#ifndef PROFILE_H_
#define PROFILE_H_

#include <tvm/ffi/c_api.h>

/* Makes compiled functions find those that they call; `library_ctx` is the variable of that name in generated C code, or null. */
int profile_open_library(void** library_ctx);

/* The function of this name in the system library: what objects linked into the program registered before main. */
int profile_system_library_function(const char* name, TVMFFIObjectHandle* out);

/* Prints, for the table, the most bytes of the library's pool that were in use at once, where there is a pool. */
void profile_print_pool(void);

#endif /* PROFILE_H_ */
