/* board.h: all that the firmware needs from a board. The library itself needs nothing: see tvm_ffi_platform.h. */
#ifndef BOARD_H_
#define BOARD_H_

#include <stddef.h>
#include <stdint.h>

/* Writes text to the developer's terminal. */
void board_write(const char* text, size_t size);

/* Ends the program; 0 is success. Does not return. */
void board_exit(int status);

/* Instructions that ran since some moment; 0 always where nobody counts them. */
uint64_t board_instructions(void);

/* Calls `handler` in a timer interrupt about every so many instructions; null ends that. -1 without a timer. */
int board_every(uint32_t instructions, void (*handler)(void));

/* The most bytes of stack that were in use at once. */
size_t board_stack_used(void);

#endif /* BOARD_H_ */
