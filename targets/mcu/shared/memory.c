/* memory.c: initialisation of memory, and maximum stack use. */
#include "mcu.h"

/* Symbols of the linker script. */
extern uint32_t _data_load[], _data_start[], _data_end[], _bss_start[], _bss_end[], _stack_limit[], _stack_top[];
extern void (*_init_start[])(void);
extern void (*_init_end[])(void);

int main(void);

enum { PAINT = 0x5A5AA5A5 };

static void paint_stack(void) {
  volatile uint32_t* at = _stack_limit;
  uint32_t here;
  /* Excludes the frames in use. */
  while ((uintptr_t)at < (uintptr_t)&here - 64) *at++ = PAINT;
}

size_t board_stack_used(void) {
  const uint32_t* at = _stack_limit;
  while (at < _stack_top && *at == PAINT) ++at;
  return (size_t)((const char*)_stack_top - (const char*)at);
}

void prepare_memory(void) {
  const uint32_t* from = _data_load;
  volatile uint32_t* to;
  for (to = _data_start; to < _data_end;) *to++ = *from++;
  for (to = _bss_start; to < _bss_end;) *to++ = 0;
  paint_stack();
}

void run_firmware(void) {
  void (**init)(void);
  for (init = _init_start; init < _init_end; ++init) (*init)();
  board_exit(main());
}
