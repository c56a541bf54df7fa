/* profile_minimal.c: names and objects in static tables, without modules. */
#include "ffi.h"
#include "profile.h"

/* Does nothing: compiled functions find global functions without a module. */
int profile_open_library(void** library_ctx) {
  (void)library_ctx;
  return 0;
}

/* Looks up a global function, since functions of the system library are registered under their
 * symbols' names. */
int profile_system_library_function(const char* name, TVMFFIObjectHandle* out) {
  static const char prefix[] = "__tvm_ffi_";
  char symbol[48];
  size_t length = 0;
  while (prefix[length] != '\0') {
    symbol[length] = prefix[length];
    ++length;
  }
  while (*name != '\0' && length < sizeof(symbol) - 1) symbol[length++] = *name++;
  symbol[length] = '\0';
  return get_global(symbol, out);
}

void profile_print_pool(void) {}
