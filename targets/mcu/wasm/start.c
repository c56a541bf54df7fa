/* start.c: board functions of a WebAssembly module, partly implemented in JavaScript. */
#include "board.h"

__attribute__((import_module("board"), import_name("write"))) void js_write(const char* text, size_t size);
__attribute__((import_module("board"), import_name("exit"))) void js_exit(int status);
__attribute__((import_module("board"), import_name("argument"))) size_t js_argument(char* argument, size_t capacity);

int firmware(void); /* main of the program */

/* The stack is at the start of memory, and grows down to this address. */
enum { STACK_LIMIT = 16, PAINT = 0x5A };

static unsigned char* stack_top;

static void paint_stack(void) {
  unsigned char here;
  volatile unsigned char* at;
  stack_top = &here;
  for (at = (unsigned char*)STACK_LIMIT; (uintptr_t)at < (uintptr_t)&here - 256; ++at) *at = PAINT;
}

size_t board_stack_used(void) {
  const unsigned char* at = (const unsigned char*)STACK_LIMIT;
  while (at < stack_top && *at == PAINT) ++at;
  return (size_t)(stack_top - at);
}

void board_write(const char* text, size_t size) { js_write(text, size); }

size_t board_argument(char* argument, size_t capacity) { return js_argument(argument, capacity); }

void board_exit(int status) { js_exit(status); }

uint64_t board_instructions(void) { return 0; }

int board_every(uint32_t instructions, void (*handler)(void)) {
  (void)instructions;
  (void)handler;
  return -1;
}

void abort(void) {
  static const char text[] = "abort\n";
  board_write(text, sizeof(text) - 1);
  __builtin_trap();
}

__attribute__((export_name("start"))) void start(void) {
  paint_stack();
  board_exit(firmware());
}
