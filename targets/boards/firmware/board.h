/* board.h: interface of a board for the firmware. The library itself needs only
 * tvm_ffi_platform.h. */
#ifndef BOARD_H_
#define BOARD_H_

#include <stddef.h>
#include <stdint.h>

/* Writes text to the terminal. */
void board_write(const char* text, size_t size);

/* Copies the argument that the emulator passes to the program, without a null byte. Returns its
 * length; `capacity` if it is as long or longer. */
size_t board_argument(char* argument, size_t capacity);

/* Ends the program; 0 is success. Does not return. */
void board_exit(int status);

/* Returns the instructions executed since a fixed moment; always 0 on boards that do not count
 * them. */
uint64_t board_instructions(void);

/* Calls `handler` in a timer interrupt, about every `instructions` instructions; null stops the
 * timer. Returns -1 without a timer. */
int board_every(uint32_t instructions, void (*handler)(void));

/* Returns the maximum stack use in bytes. */
size_t board_stack_used(void);

#endif /* BOARD_H_ */
