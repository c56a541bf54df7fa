/*
 * profile.h: parts of the firmware that differ between the profiles of the library; defined in
 * profile_NAME.c.
 *
 * Functions that return int return 0 on success; otherwise an error is raised.
 */
#ifndef PROFILE_H_
#define PROFILE_H_

#include <tvm/ffi/c_api.h>

/* Lets compiled functions find their callees. `library_ctx` is the variable of that name in
 * generated C code, or null. */
int profile_open_library(void** library_ctx);

/* Looks up a function of the system library, whose objects registered themselves before main. */
int profile_system_library_function(const char* name, TVMFFIObjectHandle* out);

/* Prints the maximum use of the library's pool for the table, if there is a pool. */
void profile_print_pool(void);

#endif /* PROFILE_H_ */
