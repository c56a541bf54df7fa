/* A firmware without code; linker options keep the symbols under test. */

extern char _stack_top[];

void reset(void) {
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const void* const vectors[2] = {_stack_top, (const void*)reset};
