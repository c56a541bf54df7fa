/* Stands for Zephyr's kernel: one thread, and no interrupts. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "board.h"
#include "print.h"

int lock_depth, locks;

unsigned int irq_lock(void) {
  ++locks;
  return (unsigned int)lock_depth++;
}

void irq_unlock(unsigned int key) { lock_depth = (int)key; }

bool k_is_in_isr(void) { return false; }

void k_yield(void) {}

void k_panic(void) {
  for (;;) {
  }
}

uint32_t k_cycle_get_32(void) { return (uint32_t)board_instructions(); }

uint64_t k_cyc_to_ns_floor64(uint64_t cycles) { return cycles; }

void printk(const char* format, ...) { print_text(format); }
