/* Stands for FreeRTOS's header: what platform.c uses of it. */
unsigned portSET_INTERRUPT_MASK_FROM_ISR(void);
void portCLEAR_INTERRUPT_MASK_FROM_ISR(unsigned state);
int xPortInIsrContext(void);
