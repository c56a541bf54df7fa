/* Platform hooks over ESP-IDF. The profile `minimal` needs nothing: it masks interrupts itself, and
 * has no log. */
#include "sdkconfig.h"
#ifndef CONFIG_FERRITE_PROFILE_MINIMAL
#include <stdlib.h>
#include <tvm_ffi_platform.h>

#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

/* These chips have one core: with interrupts masked, nothing else runs. */
size_t FerritePlatformLock(void) { return portSET_INTERRUPT_MASK_FROM_ISR(); }

void FerritePlatformUnlock(size_t state) { portCLEAR_INTERRUPT_MASK_FROM_ISR(state); }

void FerritePlatformAbort(void) { abort(); }

void FerritePlatformYield(void) {
  if (!xPortInIsrContext()) taskYIELD();
}

/* Each task has its own raised error. */
void** FerritePlatformRaisedSlot(void) {
  static __thread void* raised;
  return &raised;
}

static void write_line(const char* text, size_t size) { ESP_LOGI("ferrite", "%.*s", (int)size, text); }

__attribute__((constructor)) static void start_log(void) { FerriteLogSet(write_line); }
#endif
