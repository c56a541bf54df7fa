/* Loads a shared object of which only the first 64 KiB are there.
 * upstream: signal 7
 * ours: status -1, InternalError
 */
#define _GNU_SOURCE
#include "finding.h"

#include <dlfcn.h>
#include <unistd.h>

int main(void) {
  static char start[1 << 16], path[4096];
  Dl_info library;
  dladdr((void *)TVMFFIGetVersion, &library);
  strcpy(path + readlink("/proc/self/exe", path, 4000), ".so");
  FILE *whole = fopen(library.dli_fname, "rb"), *file = fopen(path, "wb");
  fwrite(start, 1, fread(start, 1, sizeof(start), whole), file);
  fclose(file);
  call("ffi.ModuleLoadFromFile", 1, value(kTVMFFIRawStr, (int64_t)path), NONE);
  return report(status);
}
