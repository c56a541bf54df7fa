/* A firmware that does nothing: what is kept beside it is asked for by the linker's options. */

extern char _stack_top[];

void reset(void) {
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const void* const vectors[2] = {_stack_top, (const void*)reset};
