/* serial.h: a serial line, which boards with SERIAL in their board.conf have. */
#ifndef SERIAL_H_
#define SERIAL_H_

#include <stdint.h>

void serial_start(void);

/* Waits for a byte and returns it. */
uint8_t serial_receive(void);

void serial_send(uint8_t byte);

#endif /* SERIAL_H_ */
