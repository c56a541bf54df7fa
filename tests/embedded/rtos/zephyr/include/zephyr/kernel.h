/* Stands for Zephyr's header: what platform.c uses of it. */
#ifndef ZEPHYR_KERNEL_H_
#define ZEPHYR_KERNEL_H_
#include <stdbool.h>
#define Z_THREAD_LOCAL __thread
unsigned int irq_lock(void);
void irq_unlock(unsigned int key);
bool k_is_in_isr(void);
void k_yield(void);
void k_panic(void);
#endif
