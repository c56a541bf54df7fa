/* mcu.h: interface of the start-up code shared by all cores without an operating system. */
#ifndef MCU_H_
#define MCU_H_

#include <stdint.h>

#include "board.h"

/* Requests an operation from the debugger or emulator, by an instruction specific to the core. */
uint32_t semihost(uint32_t operation, const void* argument);

/* Copies .data, clears .bss, and paints the stack so that its maximum use can be measured. */
void prepare_memory(void);

/* Runs the constructors and main, and exits with its status. Does not return. */
void run_firmware(void);

/* Exits after an unexpected exception. Does not return. */
void fault(void);

#endif /* MCU_H_ */
