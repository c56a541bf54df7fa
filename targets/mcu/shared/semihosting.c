/* semihosting.c: output and exit status through the debugger or emulator. */
#include <tvm_ffi_platform.h>

#include "mcu.h"

enum { SYS_WRITE0 = 0x04, SYS_GET_CMDLINE = 0x15, SYS_EXIT_EXTENDED = 0x20, STOPPED_APPLICATION_EXIT = 0x20026 };

void board_write(const char* text, size_t size) {
  char piece[64];
  size_t used = 0;
  while (size-- != 0) {
    piece[used++] = *text++;
    if (used == sizeof(piece) - 1 || size == 0) {
      piece[used] = '\0';
      semihost(SYS_WRITE0, piece);
      used = 0;
    }
  }
}

/* The debugger ends the argument with a null byte, for which there must be space. */
size_t board_argument(char* argument, size_t capacity) {
  uintptr_t block[2];
  size_t size = 0;
  block[0] = (uintptr_t)argument;
  block[1] = capacity;
  if (semihost(SYS_GET_CMDLINE, block) != 0) return capacity;
  while (size < capacity && argument[size] != '\0') ++size;
  return size;
}

void board_exit(int status) {
  uint32_t block[2];
  block[0] = STOPPED_APPLICATION_EXIT;
  block[1] = (uint32_t)status;
  for (;;) semihost(SYS_EXIT_EXTENDED, block);
}

static void end(const char* why, int status) {
  semihost(SYS_WRITE0, why);
  board_exit(status);
}

void fault(void) { end("fault\n", 139); }

/* The library's hook that ends a panic. */
void FerritePlatformAbort(void) {
  end("abort\n", 134);
  for (;;) continue;
}
