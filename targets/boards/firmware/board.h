/*
 * board.h: what the firmware asks of a board, all of it.
 *
 * Beside these, the library asks the platform for three symbols on boards with interrupts:
 *
 *   void abort(void);                            the end of a panic; does not return
 *   void _critical_section_1_0_acquire(void);    masks interrupts; sections may lie within one another
 *   void _critical_section_1_0_release(void);    at the end of the outermost, masked is what was masked before
 *
 * targets/mcu has all of them for Cortex-M and RISC-V.
 */
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
