/* check.c: see check.h. */
#include "check.h"

int failures;

void check(int holds, const char* condition, int line) {
  if (holds) return;
  ++failures;
  print_text("FAILED line ");
  print_number((uint32_t)line);
  print_text(": ");
  print_text(condition);
  print_text("\n");
}

int make_string(size_t size, TVMFFIAny* string) {
  static const char text[4096];
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = size;
  return TVMFFIStringFromByteArray(&bytes, string);
}
