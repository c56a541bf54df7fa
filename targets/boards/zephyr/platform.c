/* Platform hooks over Zephyr. The profile `minimal` needs nothing: it masks interrupts itself, and
 * has no log. */
#ifndef CONFIG_FERRITE_PROFILE_MINIMAL
#include <tvm_ffi_platform.h>
#include <zephyr/init.h>
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

size_t FerritePlatformLock(void) { return irq_lock(); }

void FerritePlatformUnlock(size_t state) { irq_unlock((unsigned int)state); }

void FerritePlatformAbort(void) { k_panic(); }

void FerritePlatformYield(void) {
  if (!k_is_in_isr()) k_yield();
}

#ifdef CONFIG_THREAD_LOCAL_STORAGE
/* Each thread has its own raised error. Without thread-local storage there is one for the program:
 * the library's default. */
void** FerritePlatformRaisedSlot(void) {
  static Z_THREAD_LOCAL void* raised;
  return &raised;
}
#endif

static void write_line(const char* text, size_t size) { printk("%.*s\n", (int)size, text); }

static int start_log(void) {
  FerriteLogSet(write_line);
  return 0;
}

SYS_INIT(start_log, APPLICATION, CONFIG_APPLICATION_INIT_PRIORITY);
#endif
