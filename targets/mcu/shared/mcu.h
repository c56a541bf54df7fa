/* mcu.h: what start-up code for every core without an operating system shares. */
#ifndef MCU_H_
#define MCU_H_

#include <stdint.h>

#include "board.h"

/* Asks the debugger or emulator for an operation; each core has its own instruction for it. */
uint32_t semihost(uint32_t operation, const void* argument);

/* Copies .data, clears .bss and paints the stack, so that what was used of it can be seen. */
void prepare_memory(void);

/* Runs the constructors and main, and ends with its status. Does not return. */
void run_firmware(void);

/* Ends the program after an exception that nobody expects. Does not return. */
void fault(void);

#endif /* MCU_H_ */
