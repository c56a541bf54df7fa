/* Stands for Zephyr's header: what platform.c uses of it. */
#ifndef ZEPHYR_KERNEL_H_
#define ZEPHYR_KERNEL_H_
#include <stdbool.h>
#include <stdint.h>
#define Z_THREAD_LOCAL __thread
unsigned int irq_lock(void);
void irq_unlock(unsigned int key);
bool k_is_in_isr(void);
void k_yield(void);
void k_panic(void);
uint32_t k_cycle_get_32(void);
uint64_t k_cyc_to_ns_floor64(uint64_t cycles);
#endif
