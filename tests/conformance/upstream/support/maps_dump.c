/*
 * Preloaded into every measured process: when the process starts and again when
 * it ends, if it has a tvm_ffi library mapped, copies the lines of its memory map
 * that are mapped code to a file of its own in $FERRITE_MAPS_DIR.
 * check_maps.py reads them to prove which library the tests ran against.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void dump_maps(const char *when) {
  const char *dir = getenv("FERRITE_MAPS_DIR");
  char path[4096], line[8192];
  FILE *in, *out;
  int found = 0;
  if (dir == NULL || dir[0] == '\0') return;
  in = fopen("/proc/self/maps", "re");
  if (in == NULL) return;
  while (!found && fgets(line, sizeof line, in) != NULL) found = strstr(line, "tvm_ffi") != NULL;
  if (found) {
    snprintf(path, sizeof path, "%s/%ld.%s", dir, (long)getpid(), when);
    out = fopen(path, "ae");
    if (out != NULL) {
      rewind(in);
      while (fgets(line, sizeof line, in) != NULL) {
        if (strstr(line, " r-xp ") != NULL && strchr(line, '/') != NULL) fputs(line, out);
      }
      fclose(out);
    }
  }
  fclose(in);
}

__attribute__((constructor)) static void at_start(void) { dump_maps("start"); }
__attribute__((destructor)) static void at_end(void) { dump_maps("end"); }
