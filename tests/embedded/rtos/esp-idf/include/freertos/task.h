/* Stands for FreeRTOS's header. */
void taskYIELD(void);
